import { unpack } from '../../domain/core/packed.ts';
import type { ReleaseHistory } from '../../domain/release/history.ts';
import type { ReleaseSpec } from '../../domain/release/spec.ts';
import type { ReleaseStatus } from '../../domain/release/status.ts';
import {
  actionUpdate,
  historyQuery,
  packedStatusQuery,
  RELEASE_QUEUE,
  RELEASE_WORKFLOW,
  releaseId,
  type ACTIONS,
} from '../../workflows/release/messages.ts';
import type { Temporal } from '../temporal/connect.ts';
import type { Decider } from '../who.ts';
import { askWorker, tellWorker } from '../temporal/answer.ts';
import { applyEntity, type Applied, type Entity } from '../temporal/apply-entity.ts';
import type { ActionAnswer } from '../../workflows/hear-action.ts';

/** The calls that commands make to the workflows of releases. Errors of Temporal are explained by `withTemporal`. */

const ANSWER_TIMEOUT_MS = 10_000;
/** A decision is waited for longer: once it was given up, nobody knows whether it takes effect. */
const DECISION_TIMEOUT_MS = 30_000;

export type ActionName = (typeof ACTIONS)[number];

/** How a release is now. */
export async function askStatus(
  temporal: Temporal,
  name: string,
  timeoutMs = ANSWER_TIMEOUT_MS,
): Promise<ReleaseStatus> {
  const status = await askWorker(
    temporal,
    releaseId(name),
    () => temporal.client.workflow.getHandle(releaseId(name)).query(packedStatusQuery),
    { taskQueue: RELEASE_QUEUE, timeoutMs },
  );
  return asOfNow(unpack(status));
}

/** An idle workflow's clock stands still since its last task: what was asked now is how it is now. */
function asOfNow(status: ReleaseStatus): ReleaseStatus {
  return { ...status, asOf: new Date(Math.max(Date.now(), Date.parse(status.asOf))).toISOString() };
}

/** What a release has done and what people decided about it. */
export async function askHistory(temporal: Temporal, name: string): Promise<ReleaseHistory> {
  return askWorker(
    temporal,
    releaseId(name),
    () => temporal.client.workflow.getHandle(releaseId(name)).query(historyQuery),
    { taskQueue: RELEASE_QUEUE, timeoutMs: ANSWER_TIMEOUT_MS },
  );
}

/**
 * Asks a release to do something, and waits until it was accepted.
 *
 * @param payload the action's own fields, beside who and why
 */
export async function sendAction(
  temporal: Temporal,
  name: string,
  action: ActionName,
  payload: Decider & Readonly<Record<string, unknown>>,
): Promise<ActionAnswer> {
  return tellWorker(
    temporal,
    releaseId(name),
    () => temporal.client.workflow.getHandle(releaseId(name)).executeUpdate(actionUpdate(action), { args: [payload] }),
    DECISION_TIMEOUT_MS,
  );
}

/** Starts a release, or gives the one that runs its new spec. Doing it twice is doing it once. */
export async function applyRelease(
  temporal: Temporal,
  name: string,
  spec: ReleaseSpec,
  decider: Decider,
): Promise<Applied> {
  const entity: Entity = {
    type: RELEASE_WORKFLOW,
    id: releaseId(name),
    taskQueue: RELEASE_QUEUE,
    input: { name, spec },
    summary: `Release ${name}: ${spec.image} on ${spec.targets.length} target(s)`,
  };
  return applyEntity(temporal, entity, async () => {
    const before = await askStatus(temporal, name);
    const { message, generation } = await sendAction(temporal, name, 'applySpec', { ...decider, spec });
    return { changed: generation !== before.generation, message };
  });
}
