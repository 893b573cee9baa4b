import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
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
  type ActionAnswer,
  type ACTIONS,
} from '../../workflows/release/messages.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Temporal } from '../temporal/connect.ts';
import { askWorker, isSilence, tellWorker } from '../temporal/answer.ts';

/** The calls that commands make to the workflows of releases. Errors of Temporal are explained by `withTemporal`. */

const ANSWER_TIMEOUT_MS = 10_000;
/** A decision is waited for longer: once it was given up, nobody knows whether it takes effect. */
const DECISION_TIMEOUT_MS = 30_000;

export type ActionName = (typeof ACTIONS)[number];

/** Who decides, and why. */
export type Decider = { readonly by: string; readonly reason: string };

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

/** How a release ended. */
export interface Ended {
  /** Such as `ended (completed 2026-11-30T07:08:12.000Z)`. */
  readonly how: string;
  /** It handed its targets back. One that did not was ended from outside, and left them as they were at that moment. */
  readonly completed: boolean;
}

/** How and when a release ended; null while it runs. */
export async function whenEnded(temporal: Temporal, name: string): Promise<Ended | null> {
  const { status, closeTime } = await temporal.client.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, () =>
    temporal.client.workflow.getHandle(releaseId(name)).describe(),
  );
  if (status.name === 'RUNNING' || status.name === 'PAUSED') return null;
  return {
    how: `ended (${status.name.toLowerCase()} ${closeTime?.toISOString() ?? ''})`,
    completed: status.name === 'COMPLETED',
  };
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

/** What became of an `apply`. */
export interface Applied {
  readonly result: 'created' | 'configured' | 'unchanged';
  /** What the release said to its new spec; null where it was created. */
  readonly message: string | null;
}

/** Starts a release, or gives the one that runs its new spec. Doing it twice is doing it once. */
export async function applyRelease(
  temporal: Temporal,
  name: string,
  spec: ReleaseSpec,
  decider: Decider,
): Promise<Applied> {
  try {
    await temporal.client.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, () =>
      temporal.client.workflow.start(RELEASE_WORKFLOW, {
        workflowId: releaseId(name),
        taskQueue: RELEASE_QUEUE,
        args: [{ name, spec }],
        staticSummary: `Release ${name}: ${spec.image} on ${spec.targets.length} target(s)`,
      }),
    );
    return { result: 'created', message: null };
  } catch (error) {
    if (isSilence(error)) {
      throw new CliError(
        exitCodes.undetermined,
        `Temporal at ${temporal.address} did not answer in time, so whether release/${name} was created is not known; apply it again, which does nothing twice`,
      );
    }
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  const before = await askStatus(temporal, name);
  const { message, generation } = await sendAction(temporal, name, 'applySpec', { ...decider, spec });
  return { result: generation === before.generation ? 'unchanged' : 'configured', message };
}
