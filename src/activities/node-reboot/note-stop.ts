import type { LockRecord } from '../../domain/node-reboot/lock.ts';
import type { ResultOf } from '../../domain/node-reboot/result.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { holdLock } from './lock.ts';

/** More than an activity may run, and less than a timer can wait. */
const longestMs = 10 * 60_000;

/**
 * Writes to the lock that the campaign has stopped, and why. See NodeRebootActivities.noteStop.
 *
 * @param deadline until when an API server that is away is asked again, epoch milliseconds
 */
export async function noteStop(
  port: KubernetesPort,
  record: LockRecord,
  deadline: number,
  clock: () => number,
  signal: AbortSignal,
): Promise<ResultOf<'noteStop' | 'lockLost'>> {
  const late = AbortSignal.timeout(Math.min(Math.max(0, deadline - clock()), longestMs));
  try {
    const held = await holdLock(port, record, AbortSignal.any([signal, late]));
    return held.ok ? { of: 'noteStop', written: true } : { of: 'lockLost', message: held.message };
  } catch (error) {
    if (late.aborted && !signal.aborted) return { of: 'noteStop', written: false };
    throw error;
  }
}
