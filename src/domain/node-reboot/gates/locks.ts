import { z } from 'zod';
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

/** With room for several holders kured keeps a list of them, which stays when the last one has gone. */
const nobodySchema = z.object({ locks: z.array(z.unknown()).max(0).nullable() });

/**
 * Whether the annotation in which a reboot daemon keeps its lock says that somebody holds it. kured removes it with the lock,
 * or leaves a list without holders (kured 1.23.0, pkg/daemonsetlock). Everything else is held, also what cannot be
 * understood, and what has outlived the time that kured gives it: a lock that expires is what lets two nodes go.
 */
export function isDaemonLockHeld(annotation: string): boolean {
  return !nobodySchema.safeParse(parsedJson(annotation)).success;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
