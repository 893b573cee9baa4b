import { fail, pass, unmeasured, type Reading, type Verdict } from '../core/verdict.ts';
import { unheard, type NodeReading } from './node.ts';
import { isFinished, podName, type PodReading } from './pod.ts';
import { isOlder } from './select-node.ts';
import { sentinelId, type Sentinel } from './sentinel.ts';
import type { NodeRebootSpec } from './spec.ts';
import type { Visit } from './visit.ts';

/** What is looked at on a node that has come back. */
export interface ReturnedNode {
  readonly node: NodeReading;
  readonly sentinel: Reading<Sentinel | null>;
}

/**
 * What comes back only after the node is Ready, and is waited for: what a DaemonSet keeps there, such as network and storage,
 * without which nothing that is scheduled would work.
 *
 * @param pods those on the node
 */
export function judgeDaemonPods(pods: Reading<readonly PodReading[]>, node: string): Verdict {
  if (pods.kind === 'unmeasured') return pods;
  const kept = pods.value.filter((pod) => pod.controller?.kind === 'DaemonSet' && !isFinished(pod));
  const missing = kept.filter(({ ready, terminating }) => !ready || terminating).map(podName);
  if (missing.length === 0) return pass(`${kept.length} pods of DaemonSets are ready on node ${node}`);
  const message = `of DaemonSets not ready on node ${node}: ${missing.slice(0, 10).join(', ')}`;
  return unmeasured(`the pods of DaemonSets on node ${node}`, 'API server', 'not-ready', message);
}

/** Whether a node that is back at work still runs the boot that was checked, and is Ready. @param now epoch milliseconds */
export function judgeSettled(seen: Reading<NodeReading>, node: string, bootedAs: string | null, now: number): Verdict {
  if (seen.kind === 'unmeasured') return seen;
  const { bootId, ready } = seen.value;
  if (bootId !== bootedAs) {
    return fail(
      'RebootedAgain',
      `node ${node} runs boot ${bootId} by now, which nobody has checked: it reboots by itself`,
    );
  }
  if (ready) return unheard(seen.value, now) ?? pass(`node ${node} is Ready`);
  return unmeasured(`node ${node}`, 'API server', 'not-ready', `node ${node} is not Ready any more`);
}

/**
 * What cannot get better by waiting: the boot, the kernel and the memory of a node that has come back. A node that fails
 * here stays cordoned, and nothing is rolled back.
 */
export function checkBoot(
  { node, sentinel }: ReturnedNode,
  visit: Visit,
  spec: Pick<NodeRebootSpec, 'kernelFloor' | 'memoryFloor'>,
): Verdict {
  const { name, kernel, memory, bootId } = node;
  const { before, bootedAs, kernel: intended } = visit;
  if (before === null || bootedAs === null) {
    return unmeasured(`the boot of node ${name}`, 'the lock', 'missing', `node ${name} was not seen to come back`);
  }
  if (bootId !== bootedAs) {
    return fail(
      'RebootedAgain',
      `node ${name} came back as boot ${bootedAs} and runs boot ${bootId} by now: it reboots by itself`,
    );
  }
  if (spec.kernelFloor !== undefined && isOlder(kernel, spec.kernelFloor)) {
    return fail(
      'KernelBelowFloor',
      `node ${name} came back with kernel ${kernel}, which is older than the floor ${spec.kernelFloor}`,
    );
  }
  if (intended !== null && kernel !== intended) {
    return fail('WrongKernel', `node ${name} came back with kernel ${kernel}, and was to come back with ${intended}`);
  }
  if (memory * 100 < before.memory * spec.memoryFloor) {
    const share = Math.floor((memory * 100) / before.memory);
    return fail(
      'MemoryLost',
      `node ${name} came back with ${share} % of its memory: ${memory} bytes of ${before.memory}`,
    );
  }
  if (sentinel.kind === 'unmeasured') return sentinel;
  if (sentinel.value !== null && sentinelId(sentinel.value) === visit.sentinel) {
    return fail('SentinelStays', `node ${name} came back and wants the same reboot again`);
  }
  return pass(`node ${name} runs kernel ${kernel} as boot ${bootId}`);
}
