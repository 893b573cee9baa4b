import { fail, pass, type Reading, type Verdict } from '../../core/verdict.ts';
import type { GateReading } from '../gate.ts';

/**
 * No reboot daemon holds its own lock, such as the annotation of kured's DaemonSet. It cannot be forced.
 *
 * @param holder who holds it, as a sentence; null where nobody does
 */
export function locksGate(holder: Reading<string | null>): GateReading {
  return { gate: 'locks', verdict: judge(holder), lift: 'let the reboot daemon finish, or remove its lock by hand' };
}

function judge(holder: Reading<string | null>): Verdict {
  if (holder.kind === 'unmeasured') return holder;
  return holder.value === null ? pass('no reboot daemon holds a lock') : fail('ForeignLock', holder.value);
}
