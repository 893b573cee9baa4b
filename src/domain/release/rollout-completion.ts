import { counted } from '../core/counted.ts';
import { isActive, isObserved, type Pod, type Workload } from '../core/workload.ts';
import { isReady } from './pod-trouble.ts';

/** How many pods are wanted. A DaemonSet says so in its status, once its controller has looked; before that, one. */
export function wantedPods(workload: Workload): number {
  if (workload.kind === 'DaemonSet') return workload.status?.desiredNumberScheduled ?? 1;
  return workload.spec.replicas ?? 1;
}

/**
 * Why a rollout is not complete, or null where it is: on the observed generation, as many pods of the new template as
 * are wanted are there and available, and none of an older one is left. Ready counters alone prove nothing: the old
 * pods serve on while the new ones fail.
 *
 * @param pods of the current template
 */
export function whyIncomplete(workload: Workload, pods: readonly Pod[]): string | null {
  if (!isObserved(workload)) return 'its controller has not looked at the new template yet';
  const wanted = wantedPods(workload);
  if (wanted === 0) return 'it has zero replicas, so there is nothing to verify';
  const { updated, available, all } = counters(workload);
  if (updated < wanted) return `${updated} of ${wanted} pods are updated`;
  if (available < wanted) return `${available} of ${wanted} pods are available`;
  if (all > updated) return `${counted(all - updated, 'old pod is', 'old pods are')} still there`;
  const active = pods.filter(isActive);
  const ready = active.filter(isReady).length;
  if (ready < wanted || ready < active.length) return `${ready} of ${Math.max(wanted, active.length)} pods are ready`;
  return null;
}

function counters(workload: Workload): { readonly updated: number; readonly available: number; readonly all: number } {
  if (workload.kind === 'DaemonSet') {
    const { updatedNumberScheduled = 0, numberAvailable = 0, currentNumberScheduled } = workload.status ?? {};
    return {
      updated: updatedNumberScheduled,
      available: numberAvailable,
      all: currentNumberScheduled ?? updatedNumberScheduled,
    };
  }
  const { updatedReplicas = 0, availableReplicas = 0, replicas = 0 } = workload.status ?? {};
  return { updated: updatedReplicas, available: availableReplicas, all: replicas };
}
