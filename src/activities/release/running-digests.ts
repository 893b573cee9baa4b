import { isUnmeasured } from '../../domain/core/verdict.ts';
import type { ContainerStatus, Pod } from '../../domain/core/workload.ts';
import type { TargetAddress } from '../../domain/release/address.ts';
import { imageParts } from '../../domain/release/deployed-image.ts';
import type { KubeObject, KubernetesPort } from '../kubernetes/port.ts';
import { clusterOf } from '../kubernetes/cluster-of.ts';
import type { ReleaseDependencies } from './dependencies.ts';
import { mapBounded } from './map-bounded.ts';
import { containerIn, selectorText, selects, type WorkloadObject } from './workload.ts';

const AT_A_TIME = 8;

type PodObject = Pod & KubeObject;

export interface Seen {
  readonly target: TargetAddress;
  readonly workload: WorkloadObject;
}

/**
 * The digests that pods report for workloads whose template names a bare tag, by target name. Pods are listed only for
 * those, once for each namespace that has several.
 */
export async function readRunningDigests(
  dependencies: ReleaseDependencies,
  seen: readonly Seen[],
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const bare = seen.filter(({ target, workload }) => {
    const found = containerIn(workload, target.container);
    return found !== null && imageParts(found.image).digest === null;
  });
  const neighbours = Map.groupBy(bare, ({ target }) => `${target.cluster}/${target.namespace}`);
  const digests = new Map<string, string>();
  await mapBounded([...neighbours.values()], AT_A_TIME, async (group) => {
    const [first] = group;
    if (first === undefined) return;
    const port = clusterOf(dependencies, first.target.cluster);
    if (isUnmeasured(port)) return;
    const pods = await listPods(port, group, first.target.namespace, signal);
    for (const one of group) {
      const digest = runningDigest(one.workload, one.target.container, pods);
      if (digest !== null) digests.set(one.target.name, digest);
    }
  });
  signal.throwIfAborted();
  return digests;
}

/** Not being able to list them is no obstacle: then nobody knows what runs, which is what null says. */
async function listPods(
  port: KubernetesPort,
  group: readonly Seen[],
  namespace: string,
  signal: AbortSignal,
): Promise<readonly PodObject[]> {
  const [only] = group;
  const labelSelector = group.length === 1 ? selectorText(only?.workload.spec.selector) : '';
  const list = await port.list<PodObject>({ apiVersion: 'v1', kind: 'Pod', namespace, labelSelector }, { signal });
  return list.kind === 'read' ? list.value.items : [];
}

/**
 * The digest that all live pods of a workload's current image report for a container; null where they differ or do not
 * tell. The runtime's prefix (`docker-pullable://`) is cut.
 */
export function runningDigest(workload: WorkloadObject, container: string, pods: readonly Pod[]): string | null {
  const wanted = containerIn(workload, container);
  if (wanted === null) return null;
  const mine = pods.filter(
    (pod) =>
      pod.metadata.deletionTimestamp === undefined &&
      selects(workload.spec.selector, pod.metadata.labels ?? {}) &&
      [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].some(
        (c) => c.name === container && c.image === wanted.image,
      ),
  );
  const digests = new Set(mine.map((pod) => digestOf(statusOf(pod, container))));
  const [digest] = digests;
  return digests.size === 1 && digest !== undefined ? digest : null;
}

function statusOf(pod: Pod, container: string): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  return [...containerStatuses, ...initContainerStatuses].find((c) => c.name === container);
}

function digestOf(status: ContainerStatus | undefined): string | null {
  return /@(sha256:[a-f0-9]{64})$/.exec(status?.imageID ?? '')?.[1] ?? null;
}
