import type { Budget } from './gates/budgets.ts';
import { selects } from './label-selector.ts';
import { isFinished, isHostPod, podName, type PodReading } from './pod.ts';
import type { NodeRebootSpec } from './spec.ts';

/** What a drain does with the pods of a node; each of them stands in exactly one list. */
export interface DrainPlan {
  readonly evict: readonly PodReading[];
  /** On their way out already: they are waited for, and not evicted again. */
  readonly leaving: readonly PodReading[];
  /** They stay, and nobody waits for them. */
  readonly staying: readonly PodReading[];
  /** Nothing is evicted as long as there are any. */
  readonly blockers: readonly DrainBlocker[];
}

export interface DrainBlocker {
  /** NAMESPACE/NAME. */
  readonly pod: string;
  readonly uid: string;
  readonly why: 'EmptyDir' | 'BarePod' | 'BudgetNeverAllows' | 'TwoBudgets';
  /** A sentence that names pod, reason and way out. */
  readonly message: string;
}

/**
 * Decides about each pod of a node, as `kubectl drain` does. Pods that the kubelet or a DaemonSet keeps there stay, as do
 * those with which Holdfast asks the host, and finished ones, which never block. Data in an emptyDir and pods that nothing
 * creates anew are lost by an eviction, so that they block unless the spec allows it.
 *
 * @param pods those on the node
 */
export function planDrain(
  pods: readonly PodReading[],
  spec: Pick<NodeRebootSpec['drain'], 'deleteEmptyDirData' | 'deleteBarePods'>,
): DrainPlan {
  const isStaying = (pod: PodReading) =>
    pod.mirror || pod.controller?.kind === 'DaemonSet' || isFinished(pod) || isHostPod(pod);
  const going = pods.filter((pod) => !isStaying(pod));
  const blockers = going
    .filter(({ terminating }) => !terminating)
    .flatMap((pod) => {
      const blocker = blockerOf(pod, spec);
      return blocker === null ? [] : [blocker];
    });
  const blocked = new Set(blockers.map(({ uid }) => uid));
  return {
    evict: going.filter(({ terminating, uid }) => !terminating && !blocked.has(uid)),
    leaving: going.filter(({ terminating }) => terminating),
    staying: pods.filter(isStaying),
    blockers,
  };
}

function blockerOf(
  pod: PodReading,
  { deleteEmptyDirData, deleteBarePods }: Pick<NodeRebootSpec['drain'], 'deleteEmptyDirData' | 'deleteBarePods'>,
): DrainBlocker | null {
  const name = podName(pod);
  if (pod.controller === null && !deleteBarePods) {
    const message = `nothing would create pod ${name} anew: delete it, or set drain.deleteBarePods`;
    return { pod: name, uid: pod.uid, why: 'BarePod', message };
  }
  if (pod.emptyDir && !deleteEmptyDirData) {
    const message = `pod ${name} would lose the data of its emptyDir: move it, or set drain.deleteEmptyDirData`;
    return { pod: name, uid: pod.uid, why: 'EmptyDir', message };
  }
  return null;
}

/**
 * The pods of a plan that can never be evicted, as budgets stand: a budget that wants all its pods healthy allows nothing
 * however long one waits, and the eviction API refuses a pod with two budgets for good. Budgets that are expected to allow
 * nothing are left out: their pods go when the primary or the volume that they guard has moved.
 *
 * @param expected budgets by NAMESPACE/NAME
 */
export function neverEvicted(
  { evict }: DrainPlan,
  budgets: readonly Budget[],
  expected: readonly string[],
): readonly DrainBlocker[] {
  return evict.flatMap((pod): DrainBlocker[] => {
    // The eviction API asks no budget about pods that have not started.
    if (pod.phase === 'Pending') return [];
    const name = podName(pod);
    const over = budgets.filter(
      ({ namespace, selector }) => namespace === pod.namespace && selects(selector, pod.labels),
    );
    const [first, second] = over;
    if (first === undefined) return [];
    if (second !== undefined) {
      const message = `pod ${name} has two budgets, ${first.name} and ${second.name}, and no pod with two is ever evicted: remove one`;
      return [{ pod: name, uid: pod.uid, why: 'TwoBudgets', message }];
    }
    if (expected.includes(first.name) || !neverAllows(first) || (first.sparesUnready && !pod.ready)) return [];
    const message = `budget ${first.name} never lets pod ${name} go: it wants ${first.desiredHealthy} of ${first.expectedPods} pods healthy; give it more pods, or loosen it`;
    return [{ pod: name, uid: pod.uid, why: 'BudgetNeverAllows', message }];
  });
}

function neverAllows({ observed, expectedPods, desiredHealthy }: Budget): boolean {
  return observed && expectedPods > 0 && desiredHealthy >= expectedPods;
}

/**
 * Nothing that a drain moves is on the node any more: each pod, by its uid, is gone or has ended. An accepted eviction is
 * not enough, and a pod that was leaving before the drain began is waited for as well.
 *
 * @param plan of the pods that are on the node now
 */
export function isDrained({ evict, leaving, blockers }: DrainPlan): boolean {
  return evict.length === 0 && leaving.length === 0 && blockers.length === 0;
}
