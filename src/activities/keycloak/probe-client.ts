import { read, unmeasured, type Reading, type Unmeasured } from '../../domain/core/verdict.ts';
import { aimedBody, ourFlowIds, probeAim } from '../../domain/keycloak-flow/probe-client.ts';
import {
  clientSchema,
  clientsSchema,
  readAs,
  type ClientRepresentation,
  type FlowRepresentation,
} from '../../domain/keycloak-flow/representation.ts';
import { formatPath } from '../../domain/keycloak-flow/request-path.ts';
import { sleep } from '../wait-context.ts';
import type { Session } from './dependencies.ts';

/** The probe client of one realm, and what it may be aimed at. */
export interface ProbeClient {
  readonly id: string;
  readonly clientId: string;
  /** Ids of flows that this workflow built. */
  readonly ours: ReadonlySet<string>;
}

/** Finds the client by its clientId. */
export async function findProbeClient(
  { client, scope, signal }: Session,
  clientId: string,
  flows: readonly FlowRepresentation[],
  name: string,
): Promise<Reading<ProbeClient>> {
  const path = formatPath(['admin', 'realms', scope.realm, 'clients'], { clientId, first: '0', max: '2' });
  const what = `the probe client "${clientId}"`;
  const sent = await client.send({ method: 'GET', path }, scope, signal);
  if (sent.kind === 'failed') return sent.reading;
  if (sent.kind === 'refused') return unmeasured(what, 'Holdfast', 'error', sent.refusal.message);
  const listed = readAs(clientsSchema, sent.body, what);
  if (listed.kind === 'unmeasured') return listed;
  const found = listed.value.filter((other) => other.clientId === clientId);
  const [one] = found;
  if (one === undefined || found.length > 1) {
    const message = `there is no client "${clientId}" in realm "${scope.realm}", or it may not be seen`;
    return unmeasured(what, 'Keycloak', 'missing', message);
  }
  return read({ id: one.id, clientId, ours: ourFlowIds(flows, name) });
}

/** Reads the client as it is now. */
export async function readProbeClient(session: Session, probe: ProbeClient): Promise<Reading<ClientRepresentation>> {
  const { client, scope, signal } = session;
  const path = clientPath(session, probe);
  const within = { ...scope, probe: { id: probe.id, before: null, candidateIds: probe.ours } };
  const sent = await client.send({ method: 'GET', path }, within, signal);
  if (sent.kind === 'failed') return sent.reading;
  const what = `the probe client "${probe.clientId}"`;
  if (sent.kind === 'refused') return unmeasured(what, 'Holdfast', 'error', sent.refusal.message);
  return readAs(clientSchema, sent.body, what);
}

/**
 * Aims the client in one PUT, right after a reading from which it differs in nothing else, and reads back. Aimed as it
 * is to be already, nothing is written. A client that is aimed at a flow of somebody else's is left alone.
 *
 * @param flowId of a candidate; empty for nothing
 * @returns why it is not so; null where it is
 */
export async function aimProbeClient(session: Session, probe: ProbeClient, flowId: string): Promise<Unmeasured | null> {
  const { client, scope, signal } = session;
  const before = await readProbeClient(session, probe);
  if (before.kind === 'unmeasured') return before;
  if (aimedAt(before.value) === flowId) return null;
  const { id, clientId, ours } = probe;
  const what = `the probe client "${clientId}"`;
  if (probeAim(before.value, ours) === 'foreign') {
    const message = `${what} is aimed at a flow that was not built from here, so that it is left alone`;
    return unmeasured(what, 'Keycloak', 'error', message);
  }
  const body = aimedBody(before.value, flowId);
  const within = { ...scope, probe: { id, before: before.value, candidateIds: ours } };
  const sent = await client.send({ method: 'PUT', path: clientPath(session, probe), body }, within, signal);
  if (sent.kind === 'refused') return unmeasured(what, 'Holdfast', 'error', sent.refusal.message);
  const after = await readProbeClient(session, probe);
  if (after.kind === 'unmeasured') return after;
  if (aimedAt(after.value) === flowId) return null;
  if (sent.kind === 'failed') return sent.reading.why === 'denied' ? mayNotManage(sent.reading, what) : sent.reading;
  return unmeasured(what, 'Keycloak', 'error', `${what}: Keycloak accepted its override, and it is another one`);
}

/**
 * Takes the override away, whoever cut off what set it, and tries again where that does not come through.
 *
 * @returns why it may still be there; null where it is not
 */
export async function releaseProbeClient(session: Session, probe: ProbeClient): Promise<Unmeasured | null> {
  let still: Unmeasured | null = null;
  for (let count = 0; count < 3; count++) {
    still = await aimProbeClient(session, probe, '');
    if (still === null) return null;
    await sleep(session.rereadAfterMs, session.signal);
  }
  return still;
}

/** The role manage-clients would do too, and is more than is needed. */
function mayNotManage(denied: Unmeasured, what: string): Unmeasured {
  const advice = `give the service account the scopes view and manage of ${what} alone, by a fine-grained admin permission`;
  return { ...denied, message: `${denied.message}; ${advice}` };
}

function aimedAt({ authenticationFlowBindingOverrides }: ClientRepresentation): string {
  return authenticationFlowBindingOverrides?.['browser'] ?? '';
}

function clientPath({ scope }: Session, { id }: ProbeClient): string {
  return formatPath(['admin', 'realms', scope.realm, 'clients', id]);
}
