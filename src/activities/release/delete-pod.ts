import { isUnmeasured } from '../../domain/core/verdict.ts';
import type { WriteResult } from '../../domain/release/rollout.ts';
import type { Pod } from '../../domain/core/workload.ts';
import type { KubeObject, ObjectRef } from '../kubernetes/port.ts';
import { clusterOf } from '../kubernetes/cluster-of.ts';
import type { ReleaseDependencies } from './dependencies.ts';
import type { DeletePodInput } from './port.ts';
import { sleep } from '../wait-context.ts';

const PATIENCE_MS = 30_000;
const RETRY_MS = 500;

/** Deletes one pod, and no other of its name; see ReleaseActivities.deletePod. */
export async function deletePodOf(
  dependencies: ReleaseDependencies,
  { target, pod, uid }: DeletePodInput,
  signal: AbortSignal,
): Promise<WriteResult> {
  const port = clusterOf(dependencies, target.cluster);
  if (isUnmeasured(port)) return { kind: 'refused', reason: 'Missing', message: port.message };
  const ref: ObjectRef = { apiVersion: 'v1', kind: 'Pod', namespace: target.namespace, name: pod };
  const clock = dependencies.clock ?? Date.now;
  const giveUpAt = clock() + PATIENCE_MS;
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted();
    const found = await port.get<Pod & KubeObject>(ref, { signal });
    signal.throwIfAborted();
    let trouble: string;
    if (found.kind === 'unmeasured') {
      if (found.why === 'missing') return { kind: 'written', repeated: true };
      if (found.why === 'denied') return { kind: 'refused', reason: 'Denied', message: found.message };
      trouble = found.message;
    } else {
      const { metadata } = found.value;
      // Its successor has its name: the one that was meant is gone.
      if (metadata.uid !== uid || metadata.deletionTimestamp !== undefined) return { kind: 'written', repeated: true };
      const outcome = await port.delete(ref, { preconditions: { uid }, propagationPolicy: 'Background' });
      if (outcome.kind === 'written') return { kind: 'written', repeated: false };
      if (outcome.kind === 'denied') return { kind: 'refused', reason: 'Denied', message: outcome.message };
      if (outcome.kind === 'invalid') return { kind: 'refused', reason: 'Invalid', message: outcome.message };
      trouble = outcome.message;
    }
    if (clock() + RETRY_MS >= giveUpAt) {
      return { kind: 'unknown', message: `pod ${target.namespace}/${pod} could not be deleted: ${trouble}` };
    }
    await sleep(attempt === 0 ? 0 : RETRY_MS, signal);
  }
}
