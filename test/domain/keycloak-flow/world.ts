import { read, unmeasured, type UnmeasuredCause, type Unmeasured } from '../../../src/domain/core/verdict.ts';
import {
  aliasIn,
  candidateDescription,
  candidates,
  contentHash,
} from '../../../src/domain/keycloak-flow/candidate-name.ts';
import { desiredStateSchema, type DesiredState } from '../../../src/domain/keycloak-flow/desired.ts';
import type {
  AuthenticatorConfig,
  ExecutionRow,
  FlowRepresentation,
  RealmRepresentation,
} from '../../../src/domain/keycloak-flow/representation.ts';
import { declaredRows, type ConfigReadings } from '../../../src/domain/keycloak-flow/tree.ts';

/** Small builders for tests of a login flow: the example tree, and a realm as a server answers it. */

export const NOW = Date.parse('2026-03-02T12:00:00Z');
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const NAME = 'shop-login';

function auth(name: string, requirement: string, configAlias?: string) {
  return { kind: 'authenticator', name, requirement, ...(configAlias === undefined ? {} : { configAlias }) };
}

function sub(name: string, requirement: string) {
  return { kind: 'flow', name, requirement };
}

/** The example tree of eleven rows, as it is written. */
export function exampleInput() {
  return {
    realm: 'shop',
    webAuthnPolicyPasswordless: {
      RpEntityName: 'Shop',
      RpId: 'login.example.com',
      SignatureAlgorithms: ['ES256', 'RS256'],
      AttestationConveyancePreference: 'none',
      AuthenticatorAttachment: 'not specified',
      RequireResidentKey: 'Yes',
      UserVerificationRequirement: 'required',
      CreateTimeout: 60,
      AvoidSameAuthenticatorRegister: true,
      AcceptableAaguids: [] as string[],
    },
    requiredAction: { alias: 'webauthn-register-passwordless', enabled: true, defaultAction: false },
    browserFlow: 'browser-mfa',
    flows: {
      'browser-mfa': {
        topLevel: true,
        executions: [
          auth('auth-cookie', 'ALTERNATIVE'),
          auth('identity-provider-redirector', 'ALTERNATIVE'),
          sub('browser-mfa-forms', 'ALTERNATIVE'),
        ],
      },
      'browser-mfa-forms': {
        topLevel: false,
        executions: [auth('auth-username-form', 'REQUIRED'), sub('browser-mfa-passkey-or-password', 'REQUIRED')],
      },
      'browser-mfa-passkey-or-password': {
        topLevel: false,
        executions: [
          auth('webauthn-authenticator-passwordless', 'ALTERNATIVE'),
          sub('browser-mfa-password-and-otp', 'ALTERNATIVE'),
        ],
      },
      'browser-mfa-password-and-otp': {
        topLevel: false,
        executions: [auth('auth-password-form', 'REQUIRED'), sub('browser-mfa-conditional-otp', 'CONDITIONAL')],
      },
      'browser-mfa-conditional-otp': {
        topLevel: false,
        executions: [
          auth('conditional-user-role', 'REQUIRED', 'conditional-otp-platform-admin'),
          auth('auth-otp-form', 'REQUIRED'),
        ],
      },
    } as Record<string, { topLevel: boolean; executions: Record<string, unknown>[] }>,
    authenticatorConfig: {
      'conditional-otp-platform-admin': { condUserRole: 'platform-admin', negate: 'false' },
    } as Record<string, unknown>,
  };
}

export type ExampleInput = ReturnType<typeof exampleInput>;

/** The example, changed by a function. */
export function desired(change: (input: ExampleInput) => void = () => {}): DesiredState {
  const input = exampleInput();
  change(input);
  return desiredStateSchema.parse(input);
}

export function unread(why: UnmeasuredCause = 'timeout'): Unmeasured {
  return unmeasured('a reading', 'Keycloak', why, `it could not be read (${why})`);
}

/** A flow as a server lists it. */
export interface ServedFlow {
  readonly flow: FlowRepresentation;
  readonly rows: ExecutionRow[];
  readonly configs: ConfigReadings;
}

/** What a server answers of a flow that was built from a desired state, each alias with a suffix. */
export function served(of: DesiredState, suffix = '', overrides: Partial<FlowRepresentation> = {}): ServedFlow {
  const rows: ExecutionRow[] = [];
  const configs: Record<string, ConfigReadings[string]> = {};
  const indexes: number[] = [];
  for (const [at, { row, configAlias }] of declaredRows(of).entries()) {
    indexes.length = row.level + 1;
    const index = indexes[row.level] ?? 0;
    indexes[row.level] = index + 1;
    const common = { id: `e${suffix}-${at}`, level: row.level, index, requirement: row.requirement, priority: index };
    if (row.kind === 'flow') {
      rows.push({
        ...common,
        displayName: row.alias + suffix,
        flowId: `f${suffix}-${at}`,
        authenticationFlow: true,
        requirementChoices: ['REQUIRED', 'ALTERNATIVE', 'DISABLED', 'CONDITIONAL'],
      });
      continue;
    }
    const config =
      configAlias === null ? {} : { alias: configAlias + suffix, authenticationConfig: `c${suffix}-${at}` };
    if (configAlias !== null) {
      const value: AuthenticatorConfig = {
        id: `c${suffix}-${at}`,
        alias: configAlias + suffix,
        config: { ...row.config },
      };
      configs[value.id] = read(value);
    }
    rows.push({
      ...common,
      providerId: row.name,
      displayName: `The ${row.name}`,
      requirementChoices: ['REQUIRED', 'ALTERNATIVE', 'DISABLED'],
      ...config,
    });
  }
  const flow: FlowRepresentation = {
    id: `f${suffix}`,
    alias: of.browserFlow + suffix,
    description: '',
    topLevel: true,
    builtIn: false,
    providerId: 'basic-flow',
    authenticationExecutions: rows.filter((row) => row.level === 0).map(() => ({})),
    ...overrides,
  };
  return { flow, rows, configs };
}

/** A finished candidate of a desired state, as this workflow builds it. */
export function servedCandidate(of: DesiredState, number = 0): ServedFlow {
  const candidate = candidates(of)[number];
  if (candidate === undefined) throw new Error(`there is no candidate ${number}`);
  return served(of, candidate.suffix, {
    alias: aliasIn(candidate, of.browserFlow),
    description: candidateDescription(NAME, contentHash(of)),
  });
}

/** A realm as a server answers it, its policy as declared. */
export function realm(of: DesiredState, overrides: Partial<RealmRepresentation> = {}): RealmRepresentation {
  const policy = Object.entries(of.webAuthnPolicyPasswordless).map(([key, value]) => [
    `webAuthnPolicyPasswordless${key}`,
    value,
  ]);
  return {
    id: 'r1',
    realm: of.realm,
    displayName: 'Shop',
    sslRequired: 'external',
    browserFlow: 'browser',
    directGrantFlow: 'direct grant',
    resetCredentialsFlow: 'reset credentials',
    registrationFlow: 'registration',
    clientAuthenticationFlow: 'clients',
    dockerAuthenticationFlow: 'docker auth',
    firstBrokerLoginFlow: 'first broker login',
    adminEventsEnabled: true,
    adminEventsDetailsEnabled: true,
    attributes: { cibaExpiresIn: '120', parRequestUriLifespan: '60' },
    smtpServer: { host: 'mail', password: '**********' },
    webAuthnPolicyPasswordlessExtraOrigins: ['https://other.example.com'],
    ...Object.fromEntries(policy),
    ...overrides,
  } as RealmRepresentation;
}
