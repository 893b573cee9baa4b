import { targetName, workloadOf, type ReleaseSpec, type TargetSpec, type WorkloadKind } from './spec.ts';

/** Where a target is. */
export interface TargetAddress {
  readonly name: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly kind: WorkloadKind;
  readonly workload: string;
  readonly container: string;
}

/** The address of a target, with the release's cluster where it names none. */
export function addressOf(target: TargetSpec, release: Pick<ReleaseSpec, 'cluster'>): TargetAddress {
  const workload = workloadOf(target);
  return {
    name: targetName(target),
    cluster: target.cluster ?? release.cluster,
    namespace: target.namespace,
    kind: workload.kind,
    workload: workload.name,
    container: target.container,
  };
}

/** Which container of which workload a target is, whatever it is called: equal for one and the same. */
export function placeOf(target: TargetSpec, release: Pick<ReleaseSpec, 'cluster'>): string {
  const { cluster, namespace, kind, workload, container } = addressOf(target, release);
  return JSON.stringify([cluster, namespace, kind, workload, container]);
}
