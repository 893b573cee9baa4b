import { planHash } from '../../domain/core/plan-hash.ts';
import { rebootScript } from '../../domain/node-reboot/host-facts.ts';
import type { LockRecord } from '../../domain/node-reboot/lock.ts';
import { judgeReboot } from '../../domain/node-reboot/node-writes.ts';
import type { ResultOf } from '../../domain/node-reboot/result.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { placeHostPod, readHostPod } from './host-pod.ts';
import { answered } from './lock.ts';
import { readNode } from './nodes.ts';

/** How long the pod may take to be pulled and started; after it nothing is told. */
const podDeadlineSeconds = 300;

const podPrefix = 'reboot-';

/** The pod that ends a boot has a name of that boot, so that no boot is told twice. */
export function rebootPodName(node: string, bootId: string): string {
  return `${podPrefix}${planHash({ node, bootId }).slice('sha256:'.length, 'sha256:'.length + 16)}`;
}

/** Tells a pod that ends a boot from one that asks a host, by its name. */
export function isRebootPod(name: string): boolean {
  return name.startsWith(podPrefix);
}

/** Tells this boot to end, by a pod on the node itself. See NodeRebootActivities.rebootNode. */
export async function rebootByPod(
  port: KubernetesPort,
  image: string,
  record: LockRecord,
  wasThere: boolean,
  deadline: number,
  clock: () => number,
  signal: AbortSignal,
): Promise<ResultOf<'reboot'>> {
  const { node, before } = record.visit;
  const result = (outcome: ResultOf<'reboot'>['outcome'], message: string) =>
    ({ of: 'reboot', outcome, message }) as const;
  if (before === null) return result('refused', `node ${node} was not looked at before`);
  const name = rebootPodName(node, before.bootId);
  /** An earlier try may have placed the pod: then nobody says that the node was not told. */
  const couldNot = (message: string) => result(wasThere ? 'unknown' : 'refused', message);
  const pod = await readHostPod(port, name, signal);
  if (pod.kind === 'read') return result('sent', `node ${node} was told to reboot already, by pod ${name}`);
  if (pod.why !== 'missing') return couldNot(pod.message);
  const seen = await answered(() => readNode(port, node, signal), signal);
  if (seen.kind === 'unmeasured') return couldNot(seen.message);
  const judged = judgeReboot(seen.value.node, record, false, deadline, clock());
  if (judged.kind === 'done') return result('sent', judged.message);
  if (judged.kind === 'rebooted') return result('rebooted', judged.message);
  // The request of an earlier try may be under way still: then the node is not given back.
  if (judged.kind !== 'write') return result(wasThere ? 'unknown' : judged.kind, judged.message);
  const script = rebootScript(before.bootId, clock() + podDeadlineSeconds * 1_000);
  const placed = await placeHostPod(port, { name, node, image, script, deadlineSeconds: podDeadlineSeconds }, signal);
  if (placed.kind === 'unmeasured') {
    return placed.why === 'timeout' ? result('unknown', placed.message) : couldNot(placed.message);
  }
  return result('sent', `boot ${before.bootId} of node ${node} is told to end, by pod ${name}`);
}
