import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { redact, redactMessages } from '../../domain/core/redact.ts';

/** Type of every failure that is ours: what the outside says is in an activity's answer, never thrown. */
export const FAULT = 'HoldfastFault';

/**
 * Runs an activity so that only two things leave it as errors: the cancellation, as it came, and a fault of ours, with
 * a stable type. What goes into Temporal, result or fault, says nothing secret: an outside system's own words can hold
 * headers, URLs and bodies.
 */
export async function atBoundary<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return redactMessages(await work());
  } catch (error) {
    if (error instanceof CancelledFailure || error instanceof ApplicationFailure) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw ApplicationFailure.create({ message: `${name}: ${redact(message)}`, type: FAULT });
  }
}
