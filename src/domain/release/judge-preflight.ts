import { fail, pass, type Verdict } from '../core/verdict.ts';
import type { Workload } from '../core/workload.ts';
import type { TargetAddress } from './address.ts';
import { imageOf } from './pod-trouble.ts';
import { kubectl, kubectlObject } from './rollback-message.ts';
import { wantedPods } from './rollout-completion.ts';
import { IMAGE_CHANGED, WORKLOAD_PAUSED } from './stop-reasons.ts';

/**
 * Whether a workload can be rolled as planned, whatever its pods say. Nothing is written where it fails.
 *
 * @param from the image as the plan saw it
 */
export function judgePreflight(target: TargetAddress, from: string, workload: Workload): Verdict {
  const name = `${target.kind} ${target.namespace}/${target.workload}`;
  const { containers, initContainers = [] } = workload.spec.template.spec;
  const found = imageOf(workload.spec.template.spec, target.container);
  if (found === null) {
    const there = [...containers, ...initContainers].map((container) => container.name).join(', ');
    return fail('NoSuchContainer', `${name} has no container ${target.container}; its containers: ${there}`);
  }
  if (found !== from) return fail(IMAGE_CHANGED, `${name} has ${found} now, not ${from} as planned`);
  if (workload.kind === 'Deployment' && workload.spec.paused === true) {
    return fail(
      WORKLOAD_PAUSED,
      `${name} is paused: a new image would not roll; resume it: ${kubectl(target)} rollout resume ${kubectlObject(target)}`,
    );
  }
  if (workload.kind !== 'Deployment' && workload.spec.updateStrategy?.type === 'OnDelete') {
    return fail('OnDeleteStrategy', `${name} has the update strategy OnDelete: a new image would not roll`);
  }
  const partition = workload.kind === 'StatefulSet' ? (workload.spec.updateStrategy?.rollingUpdate?.partition ?? 0) : 0;
  if (partition > 0) {
    return fail('Partitioned', `${name} has the partition ${partition}: a new image would not reach all its pods`);
  }
  if (wantedPods(workload) === 0) return fail('ZeroReplicas', `${name} has zero replicas: there is nothing to verify`);
  return pass();
}
