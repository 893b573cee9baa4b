import type { TestRealm } from './keycloak-realm.ts';

/** The tree of a flow as the administrator reads it, a line a row; nothing of the product's own reading. */
export async function servedTree(realm: Pick<TestRealm, 'ask'>, flow: string): Promise<string[]> {
  const rows = await realm.ask<
    readonly {
      level: number;
      providerId?: string;
      displayName?: string;
      authenticationFlow?: boolean;
      requirement: string;
      authenticationConfig?: string;
    }[]
  >('GET', `/authentication/flows/${encodeURIComponent(flow)}/executions`);
  const lines: string[] = [];
  for (const { level, providerId, displayName, authenticationFlow, requirement, authenticationConfig } of rows) {
    const name = authenticationFlow === true ? (displayName ?? '').replace(/-[0-9a-f]{12}.*$/, '') : (providerId ?? '');
    const config =
      authenticationConfig === undefined
        ? ''
        : ` ${JSON.stringify((await realm.ask<{ config: unknown }>('GET', `/authentication/config/${authenticationConfig}`)).config)}`;
    lines.push(`${level} ${name} ${requirement}${config}`);
  }
  return lines;
}

/** What the example declares, as the specification writes it. */
export const declaredTree: readonly string[] = [
  '0 auth-cookie ALTERNATIVE',
  '0 identity-provider-redirector ALTERNATIVE',
  '0 browser-mfa-forms ALTERNATIVE',
  '1 auth-username-form REQUIRED',
  '1 browser-mfa-passkey-or-password REQUIRED',
  '2 webauthn-authenticator-passwordless ALTERNATIVE',
  '2 browser-mfa-password-and-otp ALTERNATIVE',
  '3 auth-password-form REQUIRED',
  '3 browser-mfa-conditional-otp CONDITIONAL',
  '4 conditional-user-role REQUIRED {"condUserRole":"platform-admin","negate":"false"}',
  '4 auth-otp-form REQUIRED',
];
