import { fieldOwner } from '../../domain/core/managed-fields.ts';
import { read, type Reading } from '../../domain/core/verdict.ts';
import type { TargetAddress } from '../../domain/release/address.ts';
import { parseMarks } from '../../domain/release/marks.ts';
import type { WorkloadSnapshot } from '../../domain/release/observation.ts';
import { wantedPods } from '../../domain/release/rollout-completion.ts';
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
    replicas: wantedPods(workload),
    paused: workload.kind === 'Deployment' && workload.spec.paused === true,
    strategy: strategyOf(workload),
    containers: containerNames(workload),
    marks: marks.value,
    imageWriter: fieldOwner(metadata.managedFields, imagePath),
  });
}

function strategyOf(workload: WorkloadObject): string {
  const strategy = workload.kind === 'Deployment' ? workload.spec.strategy : workload.spec.updateStrategy;
  return strategy?.type ?? 'RollingUpdate';
}
