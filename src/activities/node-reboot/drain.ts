import { read, type Reading } from '../../domain/core/verdict.ts';
import { isDrained, planDrain, type DrainPlan } from '../../domain/node-reboot/drain-plan.ts';
import { describeWaiting, dueEvictions, noteTry, type DrainProgress } from '../../domain/node-reboot/drain-progress.ts';
import { readPods, type PodReading } from '../../domain/node-reboot/pod.ts';
import type { LockRecord } from '../../domain/node-reboot/lock.ts';
import type { ResultOf } from '../../domain/node-reboot/result.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { isCalledOff, sleep, type WaitContext } from '../wait-context.ts';
import { readNode } from './nodes.ts';
import type { StepInput } from './port.ts';

/** Between two looks at the pods of the node. */
const pollMs = 2_000;

/**
 * Evicts the pods of a node until each of them, by its uid, is gone or has ended. See NodeRebootActivities.drain. How often
 * each pod was asked is the heartbeat, so that another worker keeps the pauses.
 */
export async function drainNode(
  port: KubernetesPort,
  { spec, record, deadline }: StepInput,
  clock: () => number,
  { signal, resumed, progress }: WaitContext<DrainProgress>,
): Promise<ResultOf<'drain'>> {
  const { node } = record.visit;
  let tries: DrainProgress = resumed ?? {};
  let waitingFor = `the pods of node ${node} were not read`;
  try {
    for (;;) {
      const pods = await podsOn(port, node, signal);
      if (pods.kind === 'unmeasured') {
        waitingFor = pods.message;
      } else {
        const plan = planDrain(pods.value, spec.drain);
        if (isDrained(plan)) return { of: 'drain', outcome: 'drained', message: drainedMessage(node, plan) };
        const due = clock() < deadline ? dueEvictions(plan, tries, clock()) : [];
        const undone = due.length === 0 ? null : await whoUncordoned(port, record, signal);
        if (undone !== null) return { of: 'drain', outcome: 'blocked', message: undone };
        for (const pod of due) {
          tries = noteTry(tries, pod, await evict(port, pod), clock());
          progress(tries);
          signal.throwIfAborted();
        }
        waitingFor = describeWaiting(plan, tries);
        if (plan.blockers.length > 0) return { of: 'drain', outcome: 'blocked', message: waitingFor };
      }
      if (clock() >= deadline)
        return { of: 'drain', outcome: 'blocked', message: `the drain took too long: ${waitingFor}` };
      await sleep(Math.min(pollMs, Math.max(0, deadline - clock())), signal);
    }
  } catch (error) {
    // What was evicted stays where it went, and the node is given back by the step that follows.
    if (isCalledOff(signal)) return { of: 'drain', outcome: 'interrupted', message: waitingFor };
    throw error;
  }
}

/** Reads the pods of a node, those that have ended too. */
export async function podsOn(
  port: KubernetesPort,
  node: string,
  signal: AbortSignal,
): Promise<Reading<readonly PodReading[]>> {
  const found = await port.list({ apiVersion: 'v1', kind: 'Pod', fieldSelector: `spec.nodeName=${node}` }, { signal });
  signal.throwIfAborted();
  return readPods(found.kind === 'read' ? read(found.value.items) : found);
}

/** What is scheduled back to a node that somebody has uncordoned would be evicted again and again. */
async function whoUncordoned(
  port: KubernetesPort,
  { run, visit }: LockRecord,
  signal: AbortSignal,
): Promise<string | null> {
  const seen = await readNode(port, visit.node, signal);
  if (seen.kind === 'unmeasured') return null;
  const { unschedulable, cordonedBy } = seen.value.node;
  if (unschedulable && cordonedBy?.run === run) return null;
  return `somebody has uncordoned node ${visit.node} or taken our mark off, so that nothing more is evicted`;
}

/** @returns why the pod stays; null where it is told to go, or gone */
async function evict(port: KubernetesPort, pod: PodReading): Promise<string | null> {
  const outcome = await port.evict({ namespace: pod.namespace, name: pod.name, uid: pod.uid });
  return outcome.kind === 'evicted' || outcome.kind === 'gone' ? null : outcome.message;
}

function drainedMessage(node: string, { staying }: DrainPlan): string {
  return `node ${node} is drained; ${staying.length} pods of DaemonSets, of the kubelet or finished stay`;
}
