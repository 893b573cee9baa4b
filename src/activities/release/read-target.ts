import { read, unmeasured, type Reading } from '../../domain/core/verdict.ts';
import { podsOfCurrentTemplate, type Pod, type Revision } from '../../domain/core/workload.ts';
import type { TargetAddress } from '../../domain/release/address.ts';
import type { KubeObject, KubernetesPort } from '../kubernetes/port.ts';
import { selectorText, workloadName, workloadRef, type WorkloadObject } from './workload.ts';

/** A target with its pods, read once. */
export interface TargetReading {
  readonly workload: WorkloadObject;
  readonly revisions: readonly Revision[];
  readonly pods: readonly Pod[];
}

/** Reads a workload, its pods and what makes them. All of it, or why not. */
export async function readTarget(
  port: KubernetesPort,
  target: TargetAddress,
  signal: AbortSignal,
): Promise<Reading<TargetReading>> {
  const found = await port.get<WorkloadObject>(workloadRef(target), { signal });
  signal.throwIfAborted();
  if (found.kind === 'unmeasured') return found;
  const workload: WorkloadObject = { ...found.value, kind: target.kind };
  const namespace = target.namespace;
  const labelSelector = selectorText(workload.spec.selector);
  const kind = target.kind === 'Deployment' ? 'ReplicaSet' : 'ControllerRevision';
  const [pods, revisions] = await Promise.all([
    port.list<Pod & KubeObject>({ apiVersion: 'v1', kind: 'Pod', namespace, labelSelector }, { signal }),
    port.list<Revision & KubeObject>({ apiVersion: 'apps/v1', kind, namespace, labelSelector }, { signal }),
  ]);
  signal.throwIfAborted();
  if (pods.kind === 'unmeasured') return pods;
  if (revisions.kind === 'unmeasured') return revisions;
  return read({ workload, pods: pods.value.items, revisions: revisions.value.items });
}

/** The pods of the template that the workload has now; not one is unmeasured, since it proves nothing. */
export function currentPods(
  { workload, revisions, pods }: TargetReading,
  target: TargetAddress,
): Reading<readonly Pod[]> {
  const current = podsOfCurrentTemplate(workload, revisions, pods) ?? [];
  const running = current.filter((pod) => pod.status?.phase === 'Running');
  if (running.length > 0) return read(running);
  const name = workloadName(target);
  return unmeasured(`pods of ${name}`, 'API server', 'empty', `${name} has no running pod of its current template`);
}
