import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { isSilence } from './answer.ts';
import type { Temporal } from './connect.ts';

const START_TIMEOUT_MS = 10_000;

/** What became of an `apply`. */
export interface Applied {
  readonly result: 'created' | 'configured' | 'unchanged';
  /** What was said to the new spec; null where it was created. */
  readonly message: string | null;
}

/** The workflow that an `apply` starts. */
export interface Entity {
  readonly type: string;
  /** Such as `release/hive`. */
  readonly id: string;
  readonly taskQueue: string;
  readonly input: unknown;
  /** As the Temporal UI names it. */
  readonly summary: string;
}

/**
 * Starts an entity, or gives the one that runs its new spec. Doing it twice is doing it once.
 *
 * @param configure gives the one that runs its spec; says whether that changed anything
 */
export async function applyEntity(
  temporal: Temporal,
  { type, id, taskQueue, input, summary }: Entity,
  configure: () => Promise<{ readonly changed: boolean; readonly message: string }>,
): Promise<Applied> {
  try {
    await temporal.client.withDeadline(Date.now() + START_TIMEOUT_MS, () =>
      temporal.client.workflow.start(type, { workflowId: id, taskQueue, args: [input], staticSummary: summary }),
    );
    return { result: 'created', message: null };
  } catch (error) {
    if (isSilence(error)) {
      throw new CliError(
        exitCodes.undetermined,
        `Temporal at ${temporal.address} did not answer in time, so whether ${id} was created is not known; apply it again, which does nothing twice`,
      );
    }
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  const { changed, message } = await configure();
  return { result: changed ? 'configured' : 'unchanged', message };
}
