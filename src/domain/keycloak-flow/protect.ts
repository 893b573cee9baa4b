import { read, unmeasured, type Reading, type Unmeasured } from '../core/verdict.ts';
import type {
  ClientRepresentation,
  ExecutionRow,
  FlowRepresentation,
  IdentityProvider,
  RealmRepresentation,
} from './representation.ts';
import { isSubFlow, subFlowAlias } from './tree.ts';

/** What people may be logging in through at this moment. Nothing in it is ever written to. */
export interface ProtectedSets {
  /** Aliases of the flows in use and of every sub-flow in them. */
  readonly flows: ReadonlySet<string>;
  /** Ids of the executions in them. */
  readonly executions: ReadonlySet<string>;
  /** Ids of the flows in them. */
  readonly flowIds: ReadonlySet<string>;
}

/** What tells which flows are in use, read together. */
export interface UseReadings {
  readonly realm: Reading<RealmRepresentation>;
  readonly flows: Reading<readonly FlowRepresentation[]>;
  /** Every page of them. */
  readonly clients: Reading<readonly ClientRepresentation[]>;
  readonly identityProviders: Reading<readonly IdentityProvider[]>;
}

const bindings = [
  'browserFlow',
  'directGrantFlow',
  'resetCredentialsFlow',
  'registrationFlow',
  'clientAuthenticationFlow',
  'dockerAuthenticationFlow',
  'firstBrokerLoginFlow',
] as const;

/**
 * The flows that something in the realm is bound to: their executions are to be read before anything is written.
 *
 * @param probeClient the clientId of the probe client, whose own override protects nothing; null where there is none
 * @returns aliases, each once; or what could not be read. A list without members that every realm has is not whole
 */
export function flowsInUse(readings: UseReadings, probeClient: string | null): Reading<readonly string[]> {
  const { realm, flows, clients, identityProviders } = readings;
  if (realm.kind === 'unmeasured') return realm;
  if (flows.kind === 'unmeasured') return flows;
  if (clients.kind === 'unmeasured') return clients;
  if (identityProviders.kind === 'unmeasured') return identityProviders;
  const missing = knownClients(realm.value.realm).filter(
    (known) => !clients.value.some((client) => client.clientId === known),
  );
  if (missing.length > 0) {
    const message = `the list of clients lacks ${missing.join(' and ')}, which every realm has, so that it is not the whole list; grant view-clients`;
    return unmeasured('the clients of the realm', 'Keycloak', 'truncated', message);
  }
  const overrides = flowsOfOverrides(clients.value, flows.value, probeClient);
  if (overrides.kind === 'unmeasured') return overrides;
  const aliases = [
    ...bindings.map((binding) => realm.value[binding]),
    ...overrides.value,
    ...identityProviders.value.flatMap((p) => [p.firstBrokerLoginFlowAlias, p.postBrokerLoginFlowAlias]),
  ];
  return read([...new Set(aliases.map((alias) => alias ?? '').filter((alias) => alias !== ''))]);
}

/** The clients that Keycloak makes with every realm; what manages a realm is named otherwise in `master`. */
function knownClients(realm: string): readonly string[] {
  return ['account', realm === 'master' ? 'master-realm' : 'realm-management'];
}

/** Overrides name flows by id. */
function flowsOfOverrides(
  clients: readonly ClientRepresentation[],
  flows: readonly FlowRepresentation[],
  probeClient: string | null,
): Reading<readonly string[]> {
  const aliases: string[] = [];
  for (const client of clients) {
    if (client.clientId === probeClient) continue;
    for (const [binding, id] of Object.entries(client.authenticationFlowBindingOverrides ?? {})) {
      if (id === null || id === '') continue;
      const flow = flows.find((other) => other.id === id);
      if (flow === undefined) {
        const message = `client "${client.clientId}" overrides ${binding} with flow ${id}, which is not in the list of flows`;
        return unmeasured('the flows that clients use', 'Keycloak', 'missing', message);
      }
      aliases.push(flow.alias);
    }
  }
  return read(aliases);
}

/**
 * The protected sets, from the executions of each flow in use.
 *
 * @param inUse what `flowsInUse` came to
 * @param rows the executions of each of them, by alias
 */
export function protectedSets(
  inUse: Reading<readonly string[]>,
  flows: Reading<readonly FlowRepresentation[]>,
  rows: Readonly<Record<string, Reading<readonly ExecutionRow[]>>>,
): Reading<ProtectedSets> {
  if (inUse.kind === 'unmeasured') return inUse;
  if (flows.kind === 'unmeasured') return flows;
  const sets = { flows: new Set<string>(), executions: new Set<string>(), flowIds: new Set<string>() };
  for (const alias of inUse.value) {
    const reading = Object.hasOwn(rows, alias) ? rows[alias] : undefined;
    if (reading === undefined) return unread(`the executions of flow "${alias}" were not read`);
    if (reading.kind === 'unmeasured') return reading;
    sets.flows.add(alias);
    const id = flows.value.find((flow) => flow.alias === alias)?.id;
    if (id !== undefined) sets.flowIds.add(id);
    for (const row of reading.value) {
      sets.executions.add(row.id);
      if (!isSubFlow(row)) continue;
      const nested = subFlowAlias(row);
      if (nested === undefined) return unread(`a sub-flow of "${alias}" (${row.id}) has no displayName`);
      sets.flows.add(nested);
      if (row.flowId !== null && row.flowId !== undefined) sets.flowIds.add(row.flowId);
    }
  }
  return read(sets);
}

function unread(message: string): Unmeasured {
  return unmeasured('what is in use', 'Keycloak', 'unparsed', message);
}
