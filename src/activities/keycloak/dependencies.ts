import { unmeasured, type Reading, type Unmeasured } from '../../domain/core/verdict.ts';
import { readingScope, type Scope } from '../../domain/keycloak-flow/screen-scope.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import type { KeycloakClient } from './client.ts';
import type { FlowInput } from './port.ts';
import { createRealmReader, type RealmReader } from './reads.ts';

/** What the activities of a KeycloakFlow reach the world through. */
export interface KeycloakFlowDependencies {
  /** The Keycloak server of that name; null where this worker has none. */
  readonly keycloak: (server: string) => KeycloakClient | null;
  /** The cluster of that name, for the bind switch; null where this worker has none. */
  readonly kubernetes: (cluster: string) => KubernetesPort | null;
  /** Rejects where the file cannot be read. */
  readonly readFile: (path: string) => Promise<string>;
  /** The worker's secret of that name, read anew each time; a worker without it has none, so that no proof is made. */
  readonly secret?: (name: string) => Promise<Reading<string>>;
  /** Epoch milliseconds [Date.now]. */
  readonly clock?: () => number;
  /** Milliseconds before a reading that seems older than a write is repeated [500]. */
  readonly rereadAfterMs?: number;
}

/** One realm on one server, for as long as an activity takes. */
export interface Session {
  readonly client: KeycloakClient;
  readonly reader: RealmReader;
  /** A scope that writes nothing yet: each write adds what was read for it. */
  readonly scope: Scope;
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly rereadAfterMs: number;
}

/** Nodes of one Keycloak hear of each other's writes well within this. */
const defaultRereadAfterMs = 500;

/** Opens a realm; unmeasured where this worker has no such server. */
export function openSession(
  dependencies: KeycloakFlowDependencies,
  { server, desired, mode }: Pick<FlowInput, 'server' | 'desired' | 'mode'>,
  signal: AbortSignal,
): Session | Unmeasured {
  const client = dependencies.keycloak(server);
  if (client === null) {
    const message = `this worker has no Keycloak server "${server}"; add it under keycloak: in the worker's configuration`;
    return unmeasured(`Keycloak server ${server}`, 'this worker', 'missing', message);
  }
  const scope = readingScope(desired.realm, client.tokenRealm, mode);
  const reader = createRealmReader(client, scope, signal);
  const { clock = Date.now, rereadAfterMs = defaultRereadAfterMs } = dependencies;
  return { client, reader, scope, signal, clock, rereadAfterMs };
}

/** The session as it is for what follows a write: it is read back also where the activity is no longer wanted. */
export function uninterrupted(session: Session): Session {
  const { signal } = new AbortController();
  return { ...session, signal, reader: createRealmReader(session.client, session.scope, signal) };
}
