import { z } from 'zod';
import { read, unmeasured, type Reading } from '../../domain/core/verdict.ts';
import { flowsInUse, protectedSets, type ProtectedSets } from '../../domain/keycloak-flow/protect.ts';
import type { FlowReadBack } from '../../domain/keycloak-flow/read-back.ts';
import {
  adminEventsSchema,
  authenticatorConfigSchema,
  authenticatorProvidersSchema,
  clientsSchema,
  executionRowsSchema,
  flowsSchema,
  identityProvidersSchema,
  readAs,
  realmSchema,
  requiredActionsSchema,
  serverInfoSchema,
  unregisteredActionsSchema,
  type AdminEvent,
  type AuthenticatorConfig,
  type ClientRepresentation,
  type ExecutionRow,
  type FlowRepresentation,
  type IdentityProvider,
  type RealmRepresentation,
  type RequiredAction,
  type UnregisteredAction,
} from '../../domain/keycloak-flow/representation.ts';
import { formatPath } from '../../domain/keycloak-flow/request-path.ts';
import type { Scope } from '../../domain/keycloak-flow/screen-scope.ts';
import type { KeycloakClient } from './client.ts';
import { readPages } from './read-pages.ts';

/** What is read of one realm. Each call is one request, where it does not say otherwise. */
export interface RealmReader {
  realm(): Promise<Reading<RealmRepresentation>>;
  flows(): Promise<Reading<readonly FlowRepresentation[]>>;
  executions(flow: string): Promise<Reading<readonly ExecutionRow[]>>;
  /** The rows of a flow, and a request for each configuration that they name. */
  readBack(flow: FlowRepresentation): Promise<Reading<FlowReadBack>>;
  requiredActions(): Promise<Reading<readonly RequiredAction[]>>;
  unregisteredActions(): Promise<Reading<readonly UnregisteredAction[]>>;
  /** Ids of the authenticators that the server has. */
  authenticators(): Promise<Reading<readonly string[]>>;
  /** A request for each page. */
  clients(): Promise<Reading<readonly ClientRepresentation[]>>;
  /** A request for each page. */
  identityProviders(): Promise<Reading<readonly IdentityProvider[]>>;
  /** The newest updates of the realm itself, the newest first. */
  realmUpdates(most: number): Promise<Reading<readonly AdminEvent[]>>;
  /** What is in use, and the list of flows that it was read with: four requests and one for each flow in use. */
  inUse(probeClient: string | null): Promise<InUse>;
}

/** The version of the server, such as `26.7.3`. */
export async function serverVersion(
  client: KeycloakClient,
  scope: Scope,
  signal?: AbortSignal,
): Promise<Reading<string>> {
  const path = formatPath(['admin', 'serverinfo']);
  const what = `GET ${path}`;
  const sent = await client.send({ method: 'GET', path }, scope, signal);
  if (sent.kind === 'failed') return sent.reading;
  if (sent.kind === 'refused') return unmeasured(what, 'Holdfast', 'error', sent.refusal.message);
  const info = readAs(serverInfoSchema, sent.body, what);
  return info.kind === 'read' ? read(info.value.systemInfo.version) : info;
}

export interface InUse {
  readonly sets: Reading<ProtectedSets>;
  readonly flows: Reading<readonly FlowRepresentation[]>;
}

/** @param scope whose realm is read */
export function createRealmReader(client: KeycloakClient, scope: Scope, signal?: AbortSignal): RealmReader {
  const root = ['admin', 'realms', scope.realm];

  async function get<Schema extends z.ZodType>(
    schema: Schema,
    steps: readonly string[],
    query: Readonly<Record<string, string>> = {},
  ): Promise<Reading<z.output<Schema>>> {
    const path = formatPath([...root, ...steps], query);
    const what = `GET ${path}`;
    const sent = await client.send({ method: 'GET', path }, scope, signal);
    switch (sent.kind) {
      case 'answered':
        return readAs(schema, sent.body, what);
      case 'failed':
        return sent.reading;
      case 'refused':
        return unmeasured(what, 'Holdfast', 'error', sent.refusal.message);
    }
  }

  async function executions(flow: string): Promise<Reading<readonly ExecutionRow[]>> {
    return get(executionRowsSchema, ['authentication', 'flows', flow, 'executions']);
  }

  function config(id: string): Promise<Reading<AuthenticatorConfig>> {
    return get(authenticatorConfigSchema, ['authentication', 'config', id]);
  }

  const reader: RealmReader = {
    async realm() {
      const seen = await get(z.looseObject({ realm: z.string() }), []);
      if (seen.kind === 'unmeasured') return seen;
      const what = `GET ${formatPath(root)}`;
      if (seen.value['browserFlow'] === undefined) {
        // Without view-realm the answer is 200 and little more than the name (Keycloak 26, `RealmAdminResource.getRealm`).
        const message = `${what}: the service account sees no more of the realm than its name; grant view-realm`;
        return unmeasured(what, 'Keycloak', 'denied', message);
      }
      return readAs(realmSchema, seen.value, what);
    },
    flows: () => get(flowsSchema, ['authentication', 'flows']),
    executions,
    async readBack(flow) {
      const rows = await executions(flow.alias);
      if (rows.kind === 'unmeasured') return rows;
      const ids = new Set(rows.value.map((row) => row.authenticationConfig ?? '').filter((id) => id !== ''));
      const configs: Record<string, Reading<AuthenticatorConfig>> = {};
      for (const id of ids) configs[id] = await config(id);
      return read({ flow, rows: rows.value, configs });
    },
    requiredActions: () => get(requiredActionsSchema, ['authentication', 'required-actions']),
    unregisteredActions: () => get(unregisteredActionsSchema, ['authentication', 'unregistered-required-actions']),
    async authenticators() {
      const listed = await get(authenticatorProvidersSchema, ['authentication', 'authenticator-providers']);
      return listed.kind === 'read' ? read(listed.value.map((provider) => provider.id)) : listed;
    },
    clients: () =>
      readPages(
        'the clients of the realm',
        ({ id }) => id,
        (page) => get(clientsSchema, ['clients'], page),
      ),
    identityProviders: () =>
      readPages(
        'the identity providers of the realm',
        ({ alias }) => alias,
        (page) => get(identityProvidersSchema, ['identity-provider', 'instances'], page),
      ),
    realmUpdates: (most) =>
      get(adminEventsSchema, ['admin-events'], {
        operationTypes: 'UPDATE',
        resourceTypes: 'REALM',
        direction: 'desc',
        first: '0',
        max: String(most),
      }),
    async inUse(probeClient) {
      const [realm, flows, clients, identityProviders] = [
        await reader.realm(),
        await reader.flows(),
        await reader.clients(),
        await reader.identityProviders(),
      ];
      const aliases = flowsInUse({ realm, flows, clients, identityProviders }, probeClient);
      const rows: Record<string, Reading<readonly ExecutionRow[]>> = {};
      for (const alias of aliases.kind === 'read' ? aliases.value : []) rows[alias] = await executions(alias);
      return { sets: protectedSets(aliases, flows, rows), flows };
    },
  };
  return reader;
}
