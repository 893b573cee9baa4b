import { randomUUID } from 'node:crypto';
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure, TimeoutFailure } from '@temporalio/common';
import { formatDuration } from '../../domain/core/duration.ts';
import { unpack } from '../../domain/core/packed.ts';
import type { Evaluation } from '../../domain/release/plan.ts';
import type { ReleaseSpec } from '../../domain/release/spec.ts';
import {
  PLAN_WORKFLOW,
  RELEASE_QUEUE,
  releaseId,
  type PlanInput,
  type PlanOutput,
} from '../../workflows/release/messages.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Temporal } from '../temporal/connect.ts';
import { hintAtMissingWorker } from '../temporal/pollers.ts';

const START_TIMEOUT_MS = 10_000;
const HINT_AFTER_MS = 5_000;
/** A worker takes a new workflow up within a second; one that is just being started has this long. */
const TAKEN_UP_MS = 20_000;

/** Begun; its first step scheduled, started and completed; and a look asked for. A worker that died comes as far as 4. */
const TAKEN_UP_LENGTH = 5;

export interface PlanPatience {
  /** The whole of it; a large fleet on a slow registry takes its time. */
  readonly timeoutMs: number;
  /** For a worker to take it up. */
  readonly takenUpMs?: number;
  readonly hintAfterMs?: number;
}

type PlanWorkflow = (input: PlanInput) => Promise<PlanOutput>;

/**
 * What Enforce would do now for a spec, through the worker; nothing is written.
 *
 * @param say hears that no worker works, where that is so
 * @throws CliError, undetermined, where no worker took it up, or came to an end with it, in time
 */
export async function askPlan(
  temporal: Temporal,
  name: string,
  spec: ReleaseSpec,
  say: (line: string) => void,
  { timeoutMs, takenUpMs = TAKEN_UP_MS, hintAfterMs = HINT_AFTER_MS }: PlanPatience,
): Promise<Evaluation> {
  const handle = await temporal.client.withDeadline(Date.now() + START_TIMEOUT_MS, () =>
    temporal.client.workflow.start<PlanWorkflow>(PLAN_WORKFLOW, {
      workflowId: `plan/${releaseId(name)}/${randomUUID()}`,
      taskQueue: RELEASE_QUEUE,
      args: [{ name, spec }],
      workflowExecutionTimeout: timeoutMs,
      staticSummary: `Plan of release ${name}`,
    }),
  );
  const hint = setTimeout(() => {
    hintAtMissingWorker(temporal, RELEASE_QUEUE, say).catch(() => undefined);
  }, hintAfterMs);
  const leaving = new AbortController();
  const result = handle.result();
  try {
    const output = await Promise.race([result, unlessTakenUp(temporal, handle, name, takenUpMs, leaving.signal)]);
    return unpack(output.evaluation);
  } catch (error) {
    // Nobody is to plan later what nobody waits for.
    await temporal.client
      .withDeadline(Date.now() + START_TIMEOUT_MS, () => handle.terminate('nobody waits for this plan any more'))
      .catch(() => undefined);
    if (error instanceof WorkflowFailedError) throw planFailed(name, error.cause, timeoutMs);
    throw error;
  } finally {
    clearTimeout(hint);
    leaving.abort();
    result.catch(() => undefined);
  }
}

/** Settles only where no worker has taken the first step of it by then. */
async function unlessTakenUp(
  temporal: Temporal,
  handle: WorkflowHandle<PlanWorkflow>,
  name: string,
  afterMs: number,
  signal: AbortSignal,
): Promise<never> {
  const nobody = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => {
      handle.describe().then(
        ({ historyLength }) => resolve(historyLength < TAKEN_UP_LENGTH),
        () => resolve(false),
      );
    }, afterMs);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
  if (!nobody) return new Promise(() => undefined);
  throw new CliError(
    exitCodes.undetermined,
    `no worker took up the plan of release/${name} within ${formatDuration(afterMs)} in namespace ${temporal.namespace} of ${temporal.address}, so what Enforce would do is not known; start one: holdfast worker (or holdfast dev)`,
  );
}

function planFailed(name: string, cause: Error | undefined, timeoutMs: number): CliError {
  if (cause instanceof TimeoutFailure) {
    return new CliError(
      exitCodes.undetermined,
      `release/${name} was not planned within ${formatDuration(timeoutMs)}; is a worker running (holdfast worker), and do registry and clusters answer it? A larger --timeout waits longer`,
    );
  }
  const why = cause instanceof ApplicationFailure ? cause.message : (cause?.message ?? 'unknown error');
  return new CliError(exitCodes.undetermined, `release/${name} could not be planned: ${why}`);
}
