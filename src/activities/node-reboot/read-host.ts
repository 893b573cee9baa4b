import { planHash } from '../../domain/core/plan-hash.ts';
import type { Reading } from '../../domain/core/verdict.ts';
import { hostFactsScript, parseHostFacts, type HostFacts } from '../../domain/node-reboot/host-facts.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { askHost } from './host-pod.ts';

const podDeadlineSeconds = 60;

/** Asks a host, by a pod on it that only reads. Each reading has a pod of its own. */
export async function readHost(
  port: KubernetesPort,
  image: string,
  node: string,
  clock: () => number,
  signal: AbortSignal,
): Promise<Reading<HostFacts>> {
  const name = `host-facts-${planHash({ node, at: clock(), nonce: Math.random() }).slice('sha256:'.length, 23)}`;
  const pod = { name, node, image, script: hostFactsScript, deadlineSeconds: podDeadlineSeconds };
  const report = await askHost(port, pod, clock, signal);
  return report.kind === 'read' ? parseHostFacts(node, report.value) : report;
}
