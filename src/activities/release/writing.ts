import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { redact } from '../../domain/core/redact.ts';
import type { WriteResult } from '../../domain/release/rollout.ts';
import { isCalledOff, waiting } from '../wait-context.ts';

/** Type of the failure that says that a write may or may not be in effect. */
const WRITE_UNKNOWN = 'WriteUnknown';
/** Temporal ends an activity at its deadline without asking; the work has to end before. */
const MARGIN_MS = 2_000;

/**
 * @param wanted aborts when nothing is to be sent any more
 * @param reading aborts when not even what came of it is to be looked at: the time is over, or the worker ends
 */
type Work = (wanted: AbortSignal, reading: AbortSignal) => Promise<WriteResult>;

/**
 * Runs a write so that one whose effect is not known is tried again by Temporal, which waits between tries and records
 * none of them. Tries end with the activity's schedule-to-close time-out, if it has one: a try that outlived it could
 * write what nobody waits for any more.
 *
 * @returns what came of it, never `unknown`; a refusal says whether an earlier try may have been in effect
 * @throws ApplicationFailure of type `WriteUnknown`, retryable; the cancellation, as it came
 */
export function writing(work: Work): Promise<WriteResult> {
  return waiting(async ({ signal }) => {
    const { attempt } = Context.current().info;
    const result = await beforeDeadline(work, signal);
    if (result.kind === 'unknown') {
      throw ApplicationFailure.create({ message: redact(result.message), type: WRITE_UNKNOWN });
    }
    return result.kind === 'refused' && attempt > 1 ? { ...result, afterUnknown: true } : result;
  });
}

async function beforeDeadline(work: Work, cancelled: AbortSignal): Promise<WriteResult> {
  const ended = endOf(cancelled);
  const leftMs = leftOfActivity();
  if (leftMs === null) return work(cancelled, ended);
  if (leftMs <= 0) return { kind: 'unknown', message: 'no time was left for another try' };
  const timeout = AbortSignal.timeout(leftMs);
  try {
    return await work(AbortSignal.any([cancelled, timeout]), AbortSignal.any([ended, timeout]));
  } catch (error) {
    if (!timeout.aborted || error instanceof CancelledFailure) throw error;
    return { kind: 'unknown', message: 'the time for it was over before its effect was known' };
  }
}

/** Aborts with the activity, unless it is only called off. */
function endOf(cancelled: AbortSignal): AbortSignal {
  const ended = new AbortController();
  const take = () => {
    if (!isCalledOff(cancelled)) ended.abort(cancelled.reason);
  };
  if (cancelled.aborted) take();
  else cancelled.addEventListener('abort', take, { once: true });
  return ended.signal;
}

/** Milliseconds; null where the activity may take as long as it likes. */
function leftOfActivity(): number | null {
  const { scheduledTimestampMs, scheduleToCloseTimeoutMs } = Context.current().info;
  if (scheduledTimestampMs <= 0 || scheduleToCloseTimeoutMs <= 0) return null;
  return scheduledTimestampMs + scheduleToCloseTimeoutMs - MARGIN_MS - Date.now();
}
