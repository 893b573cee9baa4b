import { randomUUID } from 'node:crypto';
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure, TimeoutFailure } from '@temporalio/common';
import { formatDuration } from '../../domain/core/duration.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Temporal } from './connect.ts';
import { hintAtMissingWorker, startWorker } from './pollers.ts';

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

/** A workflow that looks once and ends with what it saw. */
export interface OneLook {
  readonly type: string;
  /** What is looked at, such as `release/hive`. */
  readonly object: string;
  readonly taskQueue: string;
  readonly input: unknown;
  /** As the Temporal UI names it. */
  readonly summary: string;
}

type LookWorkflow<Output> = (input: unknown) => Promise<Output>;

/**
 * What a worker sees in one look; nothing is written.
 *
 * @param say hears that no worker works, where that is so
 * @throws CliError, undetermined, where no worker took it up, or came to an end with it, in time
 */
export async function askOnce<Output>(
  temporal: Temporal,
  { type, object, taskQueue, input, summary }: OneLook,
  say: (line: string) => void,
  { timeoutMs, takenUpMs = TAKEN_UP_MS, hintAfterMs = HINT_AFTER_MS }: PlanPatience,
): Promise<Output> {
  const handle = await temporal.client.withDeadline(Date.now() + START_TIMEOUT_MS, () =>
    temporal.client.workflow.start<LookWorkflow<Output>>(type, {
      workflowId: `plan/${object}/${randomUUID()}`,
      taskQueue,
      args: [input],
      workflowExecutionTimeout: timeoutMs,
      staticSummary: summary,
    }),
  );
  const hint = setTimeout(() => {
    hintAtMissingWorker(temporal, taskQueue, say).catch(() => undefined);
  }, hintAfterMs);
  const leaving = new AbortController();
  const result = handle.result();
  try {
    return await Promise.race([
      result,
      unlessTakenUp(temporal, handle, { object, taskQueue }, takenUpMs, leaving.signal),
    ]);
  } catch (error) {
    // Nobody is to plan later what nobody waits for.
    await temporal.client
      .withDeadline(Date.now() + START_TIMEOUT_MS, () => handle.terminate('nobody waits for this plan any more'))
      .catch(() => undefined);
    if (error instanceof WorkflowFailedError) throw planFailed(object, error.cause, timeoutMs);
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
  handle: Pick<WorkflowHandle, 'describe'>,
  { object, taskQueue }: Pick<OneLook, 'object' | 'taskQueue'>,
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
    `no worker took up the plan of ${object} within ${formatDuration(afterMs)} in namespace ${temporal.namespace} of ${temporal.address}, so what Enforce would do is not known; ${startWorker(taskQueue)}`,
  );
}

function planFailed(object: string, cause: Error | undefined, timeoutMs: number): CliError {
  if (cause instanceof TimeoutFailure) {
    return new CliError(
      exitCodes.undetermined,
      `${object} was not planned within ${formatDuration(timeoutMs)}; is a worker running (holdfast worker), and does what it reads answer it? A larger --timeout waits longer`,
    );
  }
  const why = cause instanceof ApplicationFailure ? cause.message : (cause?.message ?? 'unknown error');
  return new CliError(exitCodes.undetermined, `${object} could not be planned: ${why}`);
}
