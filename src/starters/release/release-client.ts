import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, TimeoutFailure } from '@temporalio/common';
import { unpack } from '../../domain/core/packed.ts';
import type { ReleaseHistory } from '../../domain/release/history.ts';
import type { Evaluation } from '../../domain/release/plan.ts';
import type { ReleaseSpec } from '../../domain/release/spec.ts';
import type { ReleaseStatus } from '../../domain/release/status.ts';
import {
  actionUpdate,
  historyQuery,
  PLAN_WORKFLOW,
  RELEASE_QUEUE,
  RELEASE_WORKFLOW,
  releaseId,
  statusQuery,
  type ActionAnswer,
  type ACTIONS,
  type PlanInput,
  type PlanOutput,
} from '../../workflows/release/messages.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Temporal } from '../temporal/connect.ts';
import { hintAtMissingWorker } from '../temporal/pollers.ts';

/** The calls that commands make to the workflows of releases. Errors of Temporal are explained by `withTemporal`. */

const ANSWER_TIMEOUT_MS = 30_000;
const PLAN_TIMEOUT_MS = 5 * 60_000;
const HINT_AFTER_MS = 5_000;

export type ActionName = (typeof ACTIONS)[number];

/** Who decides, and why. */
export type Decider = { readonly by: string; readonly reason: string };

/** How a release is now. */
export async function askStatus(
  temporal: Temporal,
  name: string,
  timeoutMs = ANSWER_TIMEOUT_MS,
): Promise<ReleaseStatus> {
  const status = await temporal.client.withDeadline(Date.now() + timeoutMs, () =>
    temporal.client.workflow.getHandle(releaseId(name)).query(statusQuery),
  );
  return asOfNow(status);
}

/** An idle workflow's clock stands still since its last task: what was asked now is how it is now. */
function asOfNow(status: ReleaseStatus): ReleaseStatus {
  return { ...status, asOf: new Date(Math.max(Date.now(), Date.parse(status.asOf))).toISOString() };
}

/** What a release has done and what people decided about it. */
export async function askHistory(temporal: Temporal, name: string): Promise<ReleaseHistory> {
  return temporal.client.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, () =>
    temporal.client.workflow.getHandle(releaseId(name)).query(historyQuery),
  );
}

/** How and when a release ended, such as `ended (completed 2026-11-30T07:08:12.000Z)`; null while it runs. */
export async function whenEnded(temporal: Temporal, name: string): Promise<string | null> {
  const { status, closeTime } = await temporal.client.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, () =>
    temporal.client.workflow.getHandle(releaseId(name)).describe(),
  );
  if (status.name === 'RUNNING' || status.name === 'PAUSED') return null;
  return `ended (${status.name.toLowerCase()} ${closeTime?.toISOString() ?? ''})`;
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
  return temporal.client.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, () =>
    temporal.client.workflow.getHandle(releaseId(name)).executeUpdate(actionUpdate(action), { args: [payload] }),
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
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  const before = await askStatus(temporal, name);
  const { message, status } = await sendAction(temporal, name, 'applySpec', { ...decider, spec });
  return { result: status.generation === before.generation ? 'unchanged' : 'configured', message };
}

/**
 * What Enforce would do now for a spec, through the worker; nothing is written.
 *
 * @param say hears that no worker works, where that is so
 * @throws CliError, undetermined, where no worker came to an end with it in time
 */
export async function planRelease(
  temporal: Temporal,
  name: string,
  spec: ReleaseSpec,
  say: (line: string) => void,
): Promise<Evaluation> {
  const hint = setTimeout(
    () => void hintAtMissingWorker(temporal, RELEASE_QUEUE, say).catch(() => undefined),
    HINT_AFTER_MS,
  );
  try {
    const output = await temporal.client.workflow.execute<(input: PlanInput) => Promise<PlanOutput>>(PLAN_WORKFLOW, {
      workflowId: `plan/${releaseId(name)}/${randomUUID()}`,
      taskQueue: RELEASE_QUEUE,
      args: [{ name, spec }],
      workflowExecutionTimeout: PLAN_TIMEOUT_MS,
      staticSummary: `Plan of release ${name}`,
    });
    return unpack(output.evaluation);
  } catch (error) {
    if (error instanceof WorkflowFailedError) throw planFailed(name, error.cause);
    throw error;
  } finally {
    clearTimeout(hint);
  }
}

function planFailed(name: string, cause: Error | undefined): CliError {
  if (cause instanceof TimeoutFailure) {
    return new CliError(
      exitCodes.undetermined,
      `no worker planned release/${name} within ${PLAN_TIMEOUT_MS / 60_000} minutes; is one running? (holdfast worker)`,
    );
  }
  const why = cause instanceof ApplicationFailure ? cause.message : (cause?.message ?? 'unknown error');
  return new CliError(exitCodes.undetermined, `release/${name} could not be planned: ${why}`);
}
