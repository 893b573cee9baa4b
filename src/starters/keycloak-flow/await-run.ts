import { setTimeout as sleep } from 'node:timers/promises';
import type { KeycloakFlowActivities } from '../../activities/keycloak/port.ts';
import type { NotifyActivities } from '../../activities/notify/create.ts';
import type { KeycloakFlowStatus } from '../../domain/keycloak-flow/status.ts';
import { keycloakFlowId } from '../../workflows/keycloak-flow/messages.ts';
import type { Temporal } from '../temporal/connect.ts';
import { patiently } from '../temporal/patiently.ts';
import { askFlowStatus } from './flow-client.ts';

const EVERY_MS = 500;
const LOOK_TIMEOUT_MS = 15_000;

/** What is under way, for a line that passes. */
const doing: Readonly<Record<keyof KeycloakFlowActivities, string>> = {
  observeRealm: 'reading the realm',
  writePolicy: 'putting the policy right',
  writeRequiredAction: 'putting the required action right',
  buildCandidate: 'building a candidate',
  proveLogin: 'logging in through the candidate',
  bindCandidate: 'binding',
  rollBack: 'binding the previous flow',
  liftHold: 'lifting the hold',
};

/** People are told while the KeycloakFlow rests. */
const telling: keyof NotifyActivities = 'notify';

/** One look at a KeycloakFlow. */
export interface FlowLook {
  readonly status: KeycloakFlowStatus;
  /** True where it has done all that it was told before the look. */
  readonly atRest: boolean;
  /** What it does, in words; null where nothing is known to be under way. */
  readonly doing: string | null;
}

/**
 * Looks at a KeycloakFlow again and again, until the signal aborts or the caller stops. Outlives restarts of worker and
 * server; looking costs nothing in the workflow's history.
 *
 * @param say hears why a look was not to be had
 * @throws CliError, undetermined, after five minutes without one
 */
export async function* flowLooks(
  temporal: Temporal,
  name: string,
  options: { readonly signal: AbortSignal; readonly say: (line: string) => void; readonly everyMs?: number },
): AsyncGenerator<FlowLook, void, undefined> {
  const { signal, say, everyMs = EVERY_MS } = options;
  const attempt = patiently(temporal, say);
  while (!signal.aborted) {
    const seen = await attempt(() => look(temporal, name));
    if (seen !== null) yield seen;
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

/** First whether it rests, then how it is: what was at rest before has been told all that the status tells. */
async function look(temporal: Temporal, name: string): Promise<FlowLook> {
  const { raw } = await temporal.client.withDeadline(Date.now() + LOOK_TIMEOUT_MS, () =>
    temporal.client.workflow.getHandle(keycloakFlowId(name)).describe(),
  );
  const types = (raw.pendingActivities ?? []).map((activity) => activity.activityType?.name ?? '');
  const busy = types.filter((type) => type !== telling);
  const status = await askFlowStatus(temporal, name, LOOK_TIMEOUT_MS);
  const atRest = busy.length === 0 && (raw.pendingWorkflowTask ?? null) === null && status.runs > 0;
  const [first] = busy;
  return { status, atRest, doing: first === undefined ? null : inWords(first) };
}

function inWords(type: string): string {
  return Object.hasOwn(doing, type) ? doing[type as keyof typeof doing] : type;
}

/**
 * Waits until a KeycloakFlow has done what it was told before.
 *
 * @param at hears what it does meanwhile
 * @returns null where the person left
 */
export async function awaitRun(
  temporal: Temporal,
  name: string,
  options: {
    readonly signal: AbortSignal;
    readonly say: (line: string) => void;
    readonly at: (line: string) => void;
  },
): Promise<KeycloakFlowStatus | null> {
  for await (const { status, atRest, doing: now } of flowLooks(temporal, name, options)) {
    if (atRest) return status;
    options.at(now ?? status.phase);
  }
  return null;
}
