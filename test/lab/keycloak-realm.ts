import { randomBytes } from 'node:crypto';
import { keycloakAdmin, KeycloakApiError, type KeycloakAdmin } from './keycloak-admin.ts';
import type { KeycloakAccess } from './parts/keycloak.ts';

/** Of the client `realm-management`: all that Holdfast needs to enforce a login flow, and nothing more. */
export const ENFORCE_ROLES = ['manage-realm', 'view-clients', 'view-identity-providers', 'view-events'] as const;
/** The same for Observe and Shadow. */
export const OBSERVE_ROLES = ['view-realm', 'view-clients', 'view-identity-providers', 'view-events'] as const;

/** A realm of one test. */
export interface TestRealm {
  readonly url: string;
  readonly realm: string;
  /** The service account's client, in the realm itself. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** As the administrator, below the realm: `ask('GET', '/clients')`. */
  readonly ask: KeycloakAdmin['ask'];
  /** Another client with a service account of these roles. */
  serviceAccount(clientId: string, roles: readonly string[]): Promise<string>;
  delete(): Promise<void>;
}

/**
 * Makes a realm for one test, with a service account that has exactly the given roles of `realm-management`.
 *
 * @param overrides fields of the realm
 * @param roles what the service account may do [ENFORCE_ROLES]
 */
export async function createTestRealm(
  access: KeycloakAccess,
  overrides: Readonly<Record<string, unknown>> = {},
  roles: readonly string[] = ENFORCE_ROLES,
): Promise<TestRealm> {
  const admin = keycloakAdmin(access);
  const realm = `t-${randomBytes(4).toString('hex')}`;
  await admin.ask('POST', '', {
    realm,
    enabled: true,
    adminEventsEnabled: true,
    adminEventsDetailsEnabled: true,
    ...overrides,
  });
  const ask: KeycloakAdmin['ask'] = (method, path, body) => admin.ask(method, `/${realm}${path}`, body);
  const serviceAccount = (clientId: string, wanted: readonly string[]) => addServiceAccount(ask, clientId, wanted);
  const clientId = 'holdfast';
  const clientSecret = await serviceAccount(clientId, roles);
  return {
    url: admin.url,
    realm,
    clientId,
    clientSecret,
    ask,
    serviceAccount,
    async delete() {
      await admin.ask('DELETE', `/${realm}`).catch((error: unknown) => {
        if (!(error instanceof KeycloakApiError && error.status === 404)) throw error;
      });
    },
  };
}

/** @returns its secret */
async function addServiceAccount(
  ask: KeycloakAdmin['ask'],
  clientId: string,
  roles: readonly string[],
): Promise<string> {
  const secret = randomBytes(16).toString('hex');
  await ask('POST', '/clients', {
    clientId,
    secret,
    publicClient: false,
    serviceAccountsEnabled: true,
    standardFlowEnabled: false,
    directAccessGrantsEnabled: false,
    // The token carries what the account has; an account is given nothing but the roles below.
    fullScopeAllowed: true,
  });
  const [client] = await ask<{ id: string }[]>('GET', `/clients?clientId=${clientId}`);
  const [management] = await ask<{ id: string }[]>('GET', '/clients?clientId=realm-management');
  if (client === undefined || management === undefined) throw new Error(`client ${clientId} was not created`);
  const account = await ask<{ id: string }>('GET', `/clients/${client.id}/service-account-user`);
  const known = await ask<{ name: string }[]>('GET', `/clients/${management.id}/roles`);
  const given = known.filter((role) => roles.includes(role.name));
  if (given.length !== roles.length) throw new Error(`unknown roles among ${roles.join(', ')}`);
  await ask('POST', `/users/${account.id}/role-mappings/clients/${management.id}`, given);
  return secret;
}
