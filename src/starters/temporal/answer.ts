import {
  isGrpcCancelledError,
  isGrpcDeadlineError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Temporal } from './connect.ts';
import { countPollers, missingWorker } from './pollers.ts';

/*
 * What only a worker can answer. A question changes nothing, so that nothing is left open where nobody answers; of a
 * decision it is then not known whether it takes effect.
 */

export interface AnswerOptions {
  readonly taskQueue: string;
  readonly timeoutMs: number;
  /** When it is looked whether there is a worker at all. */
  readonly lookAfterMs?: number;
}

const LOOK_AFTER_MS = 2_000;

/**
 * Asks a workflow how it is. Where no worker polls, that is said at once instead of after the whole wait.
 *
 * @param object such as `release/hive`
 * @throws CliError, undetermined, where nobody answers in time
 */
export async function askWorker<T>(
  temporal: Temporal,
  object: string,
  ask: () => Promise<T>,
  { taskQueue, timeoutMs, lookAfterMs = LOOK_AFTER_MS }: AnswerOptions,
): Promise<T> {
  const answer = temporal.client.withDeadline(Date.now() + timeoutMs, ask);
  const looking = new AbortController();
  try {
    return await Promise.race([answer, unlessNobodyPolls(temporal, object, taskQueue, lookAfterMs, looking.signal)]);
  } catch (error) {
    if (!isSilence(error)) throw error;
    throw new CliError(
      exitCodes.undetermined,
      `${object} did not answer within ${timeoutMs / 1000} s, so how it is now is not known: is a worker running? Start one: holdfast worker (or holdfast dev), then ask again`,
    );
  } finally {
    looking.abort();
    // It may still fail, once the connection is closed; nobody waits for it any more.
    answer.catch(() => undefined);
  }
}

/**
 * Sends a decision, and waits until it was accepted.
 *
 * @param object such as `release/hive`
 * @throws CliError, undetermined, where nobody answers in time
 */
export async function tellWorker<T>(
  temporal: Temporal,
  object: string,
  tell: () => Promise<T>,
  timeoutMs: number,
): Promise<T> {
  try {
    return await temporal.client.withDeadline(Date.now() + timeoutMs, tell);
  } catch (error) {
    if (!(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) && !isSilence(error)) throw error;
    throw new CliError(
      exitCodes.undetermined,
      `no worker answered for ${object} within ${timeoutMs / 1000} s in namespace ${temporal.namespace}; whether it takes effect once one runs is not known: start one (holdfast worker, or holdfast dev), then look: holdfast status ${object}`,
    );
  }
}

/** True where a call ended without an answer; the server may cancel it a moment before its deadline. */
export function isSilence(error: unknown): boolean {
  return isGrpcDeadlineError(error) || isGrpcCancelledError(error);
}

/** Settles only where no worker polls. */
async function unlessNobodyPolls(
  temporal: Temporal,
  object: string,
  taskQueue: string,
  afterMs: number,
  signal: AbortSignal,
): Promise<never> {
  const nobody = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => {
      countPollers(temporal, taskQueue).then(
        (pollers) => (pollers === 0 ? resolve(true) : undefined),
        () => undefined,
      );
    }, afterMs);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
  if (!nobody) return new Promise(() => undefined);
  throw new CliError(exitCodes.undetermined, `how ${object} is cannot be asked: ${missingWorker(temporal, taskQueue)}`);
}
