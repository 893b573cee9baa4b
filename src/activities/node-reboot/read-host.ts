import { planHash } from '../../domain/core/plan-hash.ts';
import type { Reading } from '../../domain/core/verdict.ts';
import { hostFactsScript, parseHostFacts, type HostFacts } from '../../domain/node-reboot/host-facts.ts';
import { hostReadinessScript } from '../../domain/node-reboot/host-readiness.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { askHost } from './host-pod.ts';

const podDeadlineSeconds = 60;

/** Asks a host for boot and sentinel, by a pod on it that only reads. Each reading has a pod of its own. */
export async function readHost(
  port: KubernetesPort,
  image: string,
  node: string,
  clock: () => number,
  signal: AbortSignal,
): Promise<Reading<HostFacts>> {
  const report = await ask(port, image, node, hostFactsScript, clock, signal);
  return report.kind === 'read' ? parseHostFacts(node, report.value) : report;
}

/** Asks a host for all that it has to say about being rebooted, boot and sentinel among it. @returns its report */
export function askReadiness(
  port: KubernetesPort,
  image: string,
  node: string,
  clock: () => number,
  signal: AbortSignal,
): Promise<Reading<string>> {
  return ask(port, image, node, hostReadinessScript, clock, signal);
}

function ask(
  port: KubernetesPort,
  image: string,
  node: string,
  script: string,
  clock: () => number,
  signal: AbortSignal,
): Promise<Reading<string>> {
  const name = `host-facts-${planHash({ node, at: clock(), nonce: Math.random() }).slice('sha256:'.length, 23)}`;
  return askHost(port, { name, node, image, script, deadlineSeconds: podDeadlineSeconds }, clock, signal);
}
