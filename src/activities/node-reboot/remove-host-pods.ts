import { hostPods } from '../../domain/node-reboot/pod.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { removeHostPod, type PodObject } from './host-pod.ts';
import { readNode } from './nodes.ts';
import { isRebootPod, rebootPodName } from './reboot.ts';

/** A pod that asks a host has long ended by then: only a worker that has died leaves one. */
const leftAfterMs = 5 * 60_000;

/**
 * Removes the one-shot pods that are of no more use when the turn of a node ends: those that told its earlier boots to end,
 * and those with which a worker that has died had asked any host. The one that told the boot which still runs to end stays,
 * so that this boot is not told a second time. What cannot be read or removed stays until the end of another turn: the
 * release of the lock does not wait for it.
 */
export async function removeHostPods(
  port: KubernetesPort,
  node: string,
  clock: () => number,
  signal: AbortSignal,
): Promise<void> {
  const seen = await readNode(port, node, signal);
  if (seen.kind === 'unmeasured') return;
  const stays = rebootPodName(node, seen.value.node.bootId);
  await removeWhere(port, clock, signal, ({ metadata, spec }) => spec?.nodeName === node && metadata.name !== stays);
}

/**
 * Removes the pods with which a worker that has died had asked any host. A campaign in Shadow has no turns at whose end it
 * would be done.
 */
export function removeLeftPods(port: KubernetesPort, clock: () => number, signal: AbortSignal): Promise<void> {
  return removeWhere(port, clock, signal, () => false);
}

/** @param isOver which pods that told a boot to end are to go, beside those that a dead worker has left */
async function removeWhere(
  port: KubernetesPort,
  clock: () => number,
  signal: AbortSignal,
  isOver: (rebootPod: PodObject) => boolean,
): Promise<void> {
  const { namespace, label, value } = hostPods;
  const query = { apiVersion: 'v1', kind: 'Pod', namespace, labelSelector: `${label}=${value}` };
  const found = await port.list<PodObject>(query, { signal });
  if (found.kind === 'unmeasured') return;
  for (const pod of found.value.items) {
    const { name, creationTimestamp = '' } = pod.metadata;
    const ended = isRebootPod(name) ? isOver(pod) : clock() - Date.parse(creationTimestamp) > leftAfterMs;
    if (ended) await removeHostPod(port, name);
    signal.throwIfAborted();
  }
}
