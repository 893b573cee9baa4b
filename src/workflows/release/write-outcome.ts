import { ActivityFailure, ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/workflow';
import type { WriteResult } from '../../domain/release/rollout.ts';

/** The longest that Temporal waits between two tries of a write, see `write` in activities.ts. */
export const LONGEST_WRITE_RETRY_MS = 15_000;
/** A write whose time is over on arrival is still tried this long. */
const LEAST_MS = 30_000;

/**
 * How long the tries of a write may take together, milliseconds.
 *
 * Temporal gives up where the next try would begin too late, so that they end up to one pause before; the pause on top
 * keeps that from being before the deadline, where what decides would ask for the same write again.
 *
 * @param deadline epoch milliseconds
 * @param now epoch milliseconds
 */
export function writeTimeLeft(deadline: number, now: number): number {
  return Math.max(deadline - now, LEAST_MS) + LONGEST_WRITE_RETRY_MS;
}

/** What came of a write: also where Temporal gave up, or somebody called it off, before its effect was known. */
export async function writeOutcome(write: Promise<WriteResult>): Promise<WriteResult> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return { kind: 'unknown', message: why(error.cause) };
  }
}

function why(cause: Error | undefined): string {
  if (cause instanceof CancelledFailure) return 'it was called off while nobody knew whether it was in effect';
  // Where Temporal gave up in the middle of a try, what the try before it said is one deeper.
  const said = cause instanceof TimeoutFailure ? cause.cause : cause;
  if (said instanceof ApplicationFailure) return said.message;
  return 'no worker could tell in time';
}
