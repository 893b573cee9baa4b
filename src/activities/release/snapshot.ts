import { fieldOwner } from '../../domain/core/managed-fields.ts';
import { read, type Reading } from '../../domain/core/verdict.ts';
import type { TargetAddress } from '../../domain/release/address.ts';
import { parseMarks } from '../../domain/release/marks.ts';
import type { WorkloadSnapshot } from '../../domain/release/observation.ts';
import { containerIn, containerNames, workloadName, type WorkloadObject } from './workload.ts';

/**
 * A workload as far as decisions need it.
 *
 * @param running digest that its pods report; null where the template has one or they do not tell
 * @returns unmeasured where marks of ours on it cannot be read: a block that is not understood must hold everything
 */
export function snapshotOf(
  workload: WorkloadObject,
  target: TargetAddress,
  running: string | null,
): Reading<WorkloadSnapshot> {
  const { metadata } = workload;
  const marks = parseMarks(metadata.annotations, workloadName(target));
  if (marks.kind === 'unmeasured') return marks;
  const found = containerIn(workload, target.container);
  const imagePath = `spec.template.spec.${found?.list ?? 'containers'}[name=${target.container}].image`;
  return read({
    kind: target.kind,
    uid: metadata.uid ?? '',
    image: found?.image ?? null,
    runningDigest: running,
    replicas: replicasOf(workload),
    paused: workload.kind === 'Deployment' && workload.spec.paused === true,
    strategy: strategyOf(workload),
    containers: containerNames(workload),
    marks: marks.value,
    imageWriter: fieldOwner(metadata.managedFields, imagePath),
  });
}

/** How many pods are wanted. A DaemonSet says so in its status, once its controller has looked; before that, one. */
export function replicasOf(workload: WorkloadObject): number {
  if (workload.kind === 'DaemonSet') return workload.status?.desiredNumberScheduled ?? 1;
  return workload.spec.replicas ?? 1;
}

export function strategyOf(workload: WorkloadObject): string {
  const strategy = workload.kind === 'Deployment' ? workload.spec.strategy : workload.spec.updateStrategy;
  return strategy?.type ?? 'RollingUpdate';
}
