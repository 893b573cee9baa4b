import type { Reading } from '../../domain/core/verdict.ts';
import { lockName } from '../../domain/node-reboot/by-hand.ts';
import {
  lockData,
  mayTakeLock,
  mayWriteLock,
  parseLock,
  type LockReading,
  type LockRecord,
} from '../../domain/node-reboot/lock.ts';
import { cordonManager } from '../../domain/node-reboot/node.ts';
import type { ResultOf } from '../../domain/node-reboot/result.ts';
import type { KubeObject, KubernetesPort } from '../kubernetes/port.ts';
import { sleep } from '../wait-context.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const ref = { apiVersion: 'v1', kind: 'ConfigMap', ...lockName };
const shown = `${lockName.namespace}/${lockName.name}`;
const pauseMs = 1_000;

/** Reads the lock. One that is missing is no free one. */
export async function readLock(port: KubernetesPort, signal: AbortSignal): Promise<Reading<LockReading>> {
  const found = await port.get<ConfigMap>(ref, { signal });
  signal.throwIfAborted();
  if (found.kind === 'unmeasured') {
    if (found.why !== 'missing') return found;
    const message = `the lock ${shown} is missing; kubectl create it once: deploy/ has it, and nothing else may`;
    return { ...found, message };
  }
  const { data, metadata } = found.value;
  return parseLock(shown, data, metadata.resourceVersion ?? '');
}

/** Takes the lock, and asks again as long as nobody answers. See NodeRebootActivities.takeLock. */
export async function takeLock(
  port: KubernetesPort,
  record: LockRecord,
  replaces: LockRecord | null,
  signal: AbortSignal,
): Promise<ResultOf<'takeLock'>> {
  for (;;) {
    const reading = await answered(() => readLock(port, signal), signal);
    if (reading.kind === 'unmeasured') return { of: 'takeLock', outcome: 'refused', message: reading.message };
    const may = mayTakeLock(reading.value, record, replaces);
    if (!may.ok) return { of: 'takeLock', outcome: 'refused', message: may.message };
    const written = await writeLock(port, reading.value, lockData(record));
    if (written === 'written') {
      return { of: 'takeLock', outcome: 'held', message: `the lock is held for node ${record.visit.node}` };
    }
    if (written !== 'again') return { of: 'takeLock', outcome: 'refused', message: written.message };
    await sleep(pauseMs, signal);
  }
}

/**
 * Whether a step may go on under the lock: its record stands there now, or the lock is not ours any more. `wasThere`: it stood
 * there before, so that an earlier try of the step may have done anything; also where it is not known whose write it was.
 */
export type Held = { readonly ok: true; readonly wasThere: boolean } | { readonly ok: false; readonly message: string };

/**
 * Writes to the lock how far a step is about to bring the node, as long as the lock is ours. Asks again as long as nobody
 * answers, or it may not be read: neither an API server that is down nor a right that is missing takes a lock away.
 */
export async function holdLock(port: KubernetesPort, record: LockRecord, signal: AbortSignal): Promise<Held> {
  for (;;) {
    const reading = await answered(() => readLock(port, signal), signal, takesAway);
    if (reading.kind === 'unmeasured') return { ok: false, message: reading.message };
    const may = mayWriteLock(reading.value, record);
    if (!may.ok) return may;
    if (reading.value.holder?.visit.step === record.visit.step) return { ok: true, wasThere: true };
    const written = await writeLock(port, reading.value, lockData(record));
    if (written === 'written') return { ok: true, wasThere: false };
    if (written !== 'again' && !written.denied) return { ok: false, message: written.message };
    await sleep(pauseMs, signal);
  }
}

/** Gives the lock back. One that is not ours any more is none to give back. */
export async function releaseLock(
  port: KubernetesPort,
  record: LockRecord,
  signal: AbortSignal,
): Promise<ResultOf<'releaseLock' | 'lockLost'>> {
  for (;;) {
    const reading = await answered(() => readLock(port, signal), signal, takesAway);
    if (reading.kind === 'unmeasured') return { of: 'lockLost', message: reading.message };
    if (reading.value.holder === null) return { of: 'releaseLock', message: 'the lock is free' };
    const may = mayWriteLock(reading.value, record);
    if (!may.ok) return { of: 'releaseLock', message: may.message };
    const written = await writeLock(port, reading.value, null);
    if (written === 'written') return { of: 'releaseLock', message: 'the lock is released' };
    if (written !== 'again' && !written.denied) return { of: 'lockLost', message: written.message };
    await sleep(pauseMs, signal);
  }
}

/** One write, refused by the API server when anybody has written since the reading. `again`: read and decide once more. */
async function writeLock(
  port: KubernetesPort,
  { resourceVersion }: LockReading,
  data: Record<string, string> | null,
): Promise<'written' | 'again' | { readonly denied: boolean; readonly message: string }> {
  // A merge patch would keep what an earlier record says and this one does not.
  const body = [{ op: 'add', path: '/data', value: data ?? {} }];
  const options = { type: 'json', fieldManager: cordonManager, preconditions: { resourceVersion } } as const;
  const outcome = await port.patch(ref, body, options);
  switch (outcome.kind) {
    case 'written':
      return 'written';
    case 'conflict':
    case 'unknown':
      return 'again';
    case 'missing':
    case 'denied':
    case 'invalid':
      return {
        denied: outcome.kind === 'denied',
        message: `the lock ${shown} could not be written: ${outcome.message}`,
      };
  }
}

/** What asking again does not change. */
const decisive: readonly string[] = ['denied', 'missing', 'not-served', 'empty', 'unparsed'];

/**
 * The same of a lock that was ours: what is no answer of the API server about it, such as a page of a proxy, takes it no more
 * away than a right that is missing for a while.
 */
const takesAway: readonly string[] = ['missing', 'unparsed'];

/**
 * The first answer that is one: nobody there, too slow or an error is asked again, for as long as the activity may run.
 *
 * @param final what else than a reading is an answer
 */
export async function answered<T>(
  ask: () => Promise<Reading<T>>,
  signal: AbortSignal,
  final: readonly string[] = decisive,
): Promise<Reading<T>> {
  for (;;) {
    const reading = await ask();
    signal.throwIfAborted();
    if (reading.kind === 'read' || final.includes(reading.why)) return reading;
    await sleep(pauseMs, signal);
  }
}
