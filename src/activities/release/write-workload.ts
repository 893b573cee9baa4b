import { isUnmeasured } from '../../domain/core/verdict.ts';
import type { TargetAddress } from '../../domain/release/address.ts';
import type { WriteResult } from '../../domain/release/rollout.ts';
import { clusterOf } from '../kubernetes/cluster-of.ts';
import { FIELD_MANAGER, type ReleaseDependencies } from './dependencies.ts';
import { sleep } from '../wait-context.ts';
import { workloadName, workloadRef, type WorkloadObject } from './workload.ts';

/** What is to be done about a workload as it was just read. */
export type Intent =
  /** It already is as wanted. */
  | { readonly do: 'nothing' }
  | { readonly do: 'refuse'; readonly reason: Refusal['reason']; readonly message: string }
  | { readonly do: 'patch'; readonly body: Readonly<Record<string, unknown>> };

export type Refusal = Extract<WriteResult, { kind: 'refused' }>;

export interface WorkloadWrite {
  readonly target: TargetAddress;
  /** Decides anew from each reading; called again after each conflict. */
  readonly decide: (workload: WorkloadObject) => Promise<Intent> | Intent;
  /** Says what of the object differs from what the patch was to do, or null. Asked of the answer and of the read-back. */
  readonly verify: (before: WorkloadObject, after: WorkloadObject) => string | null;
}

/** How long a write is tried before it is handed back as unknown; it is safe to ask for it again. */
const PATIENCE_MS = 60_000;
const FIRST_BACKOFF_MS = 100;
const MOST_BACKOFF_MS = 5_000;
/** In place of a further request: what was sent may still arrive. */
const CALLED_OFF = {
  kind: 'unknown',
  effect: 'none',
  message: 'it was called off, and is not seen in effect so far',
  retryAfterMs: undefined,
} as const;

/**
 * Reads a workload, decides, writes once with uid and resourceVersion as precondition, and reads it back. A conflict
 * means reading and deciding again; an answer that got lost, reading back. So no write is sent twice for one reading,
 * and none is counted that was not seen in effect.
 *
 * @param signal aborts when nothing is to be sent any more; what came of what was sent is looked at all the same
 * @param reading aborts when that is not to be looked at either
 * @throws the signal's reason when the activity is cancelled and nothing was sent in it whose effect is not known
 */
export async function writeWorkload(
  dependencies: ReleaseDependencies,
  { target, decide, verify }: WorkloadWrite,
  signal: AbortSignal,
  reading = signal,
): Promise<WriteResult> {
  const port = clusterOf(dependencies, target.cluster);
  if (isUnmeasured(port)) return { kind: 'refused', reason: 'Missing', message: port.message };
  const ref = workloadRef(target);
  const clock = dependencies.clock ?? Date.now;
  const giveUpAt = clock() + PATIENCE_MS;
  let backoffMs = FIRST_BACKOFF_MS;
  let sent: { readonly before: WorkloadObject; readonly acknowledged: boolean } | null = null;
  const refuse = (reason: Refusal['reason'], message: string): WriteResult => ({
    kind: 'refused',
    reason,
    message,
    ...(sent === null ? {} : { afterUnknown: true }),
  });

  for (;;) {
    let trouble: string;
    let waitMs = backoffMs;
    const until: AbortSignal = sent === null ? signal : reading;
    const found = await port.get<WorkloadObject>(ref, { signal: until });
    until.throwIfAborted();
    if (found.kind === 'unmeasured') {
      if (found.why === 'missing') return refuse('Missing', found.message);
      if (found.why === 'denied') return refuse('Denied', found.message);
      trouble = found.message;
    } else {
      const intent = await decide(found.value);
      until.throwIfAborted();
      if (intent.do === 'nothing') {
        const wrong = sent === null ? null : verify(sent.before, found.value);
        if (wrong !== null) return { kind: 'unknown', message: `${workloadName(target)} was written, but ${wrong}` };
        return { kind: 'written', repeated: sent?.acknowledged !== true };
      }
      if (sent?.acknowledged === true) {
        const message = `${workloadName(target)} was written, but reads back as something else: another writer changed it at once`;
        return { kind: 'unknown', message };
      }
      if (intent.do === 'refuse') return refuse(intent.reason, intent.message);

      const before = found.value;
      const outcome = signal.aborted
        ? CALLED_OFF
        : await port.patch<WorkloadObject>(ref, intent.body, {
            type: 'strategic',
            fieldManager: FIELD_MANAGER,
            preconditions: preconditionsOf(before),
          });
      switch (outcome.kind) {
        case 'written': {
          const wrong = verify(before, outcome.object);
          if (wrong !== null) return { kind: 'unknown', message: `${workloadName(target)} was written, but ${wrong}` };
          sent = { before, acknowledged: true };
          continue;
        }
        case 'conflict':
          // The status of a workload in trouble changes often. The next reading is at hand; waiting would only meet the next.
          trouble = outcome.message;
          waitMs = clock() + PATIENCE_MS - giveUpAt < 1_000 ? 0 : backoffMs;
          break;
        case 'missing':
          return refuse('Missing', outcome.message);
        case 'denied':
          return refuse('Denied', outcome.message);
        case 'invalid':
          return refuse('Invalid', outcome.message);
        case 'unknown':
          trouble = outcome.message;
          if (outcome.effect !== 'none') {
            sent = { before, acknowledged: false };
            waitMs = 0;
          }
          waitMs = Math.max(waitMs, outcome.retryAfterMs ?? 0);
          break;
      }
    }
    if (clock() + waitMs >= giveUpAt) {
      return { kind: 'unknown', message: `${workloadName(target)} could not be written or read back: ${trouble}` };
    }
    await sleep(waitMs, sent === null ? signal : reading);
    if (waitMs > 0) backoffMs = Math.min(backoffMs * 2, MOST_BACKOFF_MS);
  }
}

/** Both always: a workload deleted and made anew under the same name is another one. */
function preconditionsOf({ metadata: { uid, resourceVersion } }: WorkloadObject) {
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}
