import { isUnmeasured, read, unmeasured, type Reading } from '../../domain/core/verdict.ts';
import type { TargetAddress } from '../../domain/release/address.ts';
import { clusterOf } from '../kubernetes/cluster-of.ts';
import type { ReleaseDependencies } from './dependencies.ts';
import { mapBounded } from './map-bounded.ts';
import { workloadName, workloadRef, type WorkloadObject } from './workload.ts';

const AT_A_TIME = 16;

/**
 * The workloads of all targets, by target name: one list for targets that share cluster, namespace and kind, one GET
 * for a target that is alone there, or where lists are not allowed.
 */
export async function readWorkloads(
  dependencies: ReleaseDependencies,
  targets: readonly TargetAddress[],
  signal: AbortSignal,
): Promise<Map<string, Reading<WorkloadObject>>> {
  const neighbours = Map.groupBy(targets, (t) => `${t.cluster}/${t.namespace}/${t.kind}`);
  const found = await mapBounded([...neighbours.values()], AT_A_TIME, async (group) => {
    const [only] = group;
    if (only === undefined) return [];
    return group.length === 1
      ? [[only.name, await readOne(dependencies, only, signal)] as const]
      : readTogether(dependencies, group, only, signal);
  });
  return new Map(found.flat());
}

/** One workload. Items of lists and answers alike say their kind afterwards. */
export async function readOne(
  dependencies: ReleaseDependencies,
  target: TargetAddress,
  signal: AbortSignal,
): Promise<Reading<WorkloadObject>> {
  const port = clusterOf(dependencies, target.cluster);
  if (isUnmeasured(port)) return port;
  const found = await port.get<WorkloadObject>(workloadRef(target), { signal });
  signal.throwIfAborted();
  return found.kind === 'read' ? read(ofKind(found.value, target)) : found;
}

async function readTogether(
  dependencies: ReleaseDependencies,
  group: readonly TargetAddress[],
  { cluster, namespace, kind }: TargetAddress,
  signal: AbortSignal,
): Promise<(readonly [string, Reading<WorkloadObject>])[]> {
  const port = clusterOf(dependencies, cluster);
  if (isUnmeasured(port)) return group.map((t) => [t.name, port] as const);
  const list = await port.list<WorkloadObject>({ apiVersion: 'apps/v1', kind, namespace }, { signal });
  signal.throwIfAborted();
  if (list.kind === 'unmeasured') {
    if (list.why !== 'denied') return group.map((t) => [t.name, list] as const);
    // Rights by resource name allow reading one by one, but no list.
    return mapBounded(group, AT_A_TIME, async (t) => [t.name, await readOne(dependencies, t, signal)] as const);
  }
  const byName = new Map(list.value.items.map((item) => [item.metadata.name, item]));
  return group.map((target) => {
    const item = byName.get(target.workload);
    return [target.name, item === undefined ? missing(target) : read(ofKind(item, target))] as const;
  });
}

function missing(target: TargetAddress): Reading<WorkloadObject> {
  const name = workloadName(target);
  return unmeasured(name, 'API server', 'missing', `${name} does not exist in cluster ${target.cluster}`);
}

function ofKind(object: WorkloadObject, { kind }: TargetAddress): WorkloadObject {
  return { ...object, kind };
}
