import { read } from '../../domain/core/verdict.ts';
import type { GateReading, GateStage } from '../../domain/node-reboot/gate.ts';
import { budgetsGate, readBudgets } from '../../domain/node-reboot/gates/budgets.ts';
import { cloudNativePgGate, readCloudNativePg } from '../../domain/node-reboot/gates/cloud-native-pg.ts';
import { dnsGate, readDns } from '../../domain/node-reboot/gates/dns.ts';
import { drainGate } from '../../domain/node-reboot/gates/drain.ts';
import { kubeVirtGate, readKubeVirt } from '../../domain/node-reboot/gates/kube-virt.ts';
import { locksGate } from '../../domain/node-reboot/gates/locks.ts';
import { longhornGate, readLonghorn } from '../../domain/node-reboot/gates/longhorn.ts';
import { nodesGate } from '../../domain/node-reboot/gates/nodes.ts';
import { readReleases, releasesGate } from '../../domain/node-reboot/gates/releases.ts';
import type { RawObjects } from '../../domain/node-reboot/read-objects.ts';
import type { NodeRebootSpec } from '../../domain/node-reboot/spec.ts';
import type { KubernetesPort, ListQuery } from '../kubernetes/port.ts';
import { podsOn } from './drain.ts';
import { readDaemons } from './incumbents.ts';
import { readNodes } from './nodes.ts';

/** What the gates are asked about. */
export interface GateQuestion {
  readonly spec: NodeRebootSpec;
  /** The node whose turn it is, or would be. */
  readonly node: string;
  readonly stage: GateStage;
  readonly signal: AbortSignal;
}

/** Reads everything that the gates of a spec need, and asks each of them. */
export async function readGates(port: KubernetesPort, question: GateQuestion): Promise<GateReading[]> {
  const { spec, node, stage, signal } = question;
  const { gates } = spec;
  const [nodes, daemons] = await Promise.all([readNodes(port, signal), readDaemons(port, spec.incumbents, signal)]);
  const readings = [nodesGate(nodes, node, stage), locksGate(daemons.foreignLock)];

  const budgets = readBudgets(await listed(port, { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' }, signal));
  if (stage === 'before') readings.push(drainGate({ pods: await podsOn(port, node, signal), ...budgets }, spec));
  if (gates.budgets !== false) readings.push(budgetsGate(budgets, gates.budgets, stage));
  if (gates.dns !== false) readings.push(await dns(port, gates.dns, question));
  if (gates.releases && stage === 'before') readings.push(await releases(port, question));
  if (gates.longhorn !== undefined) readings.push(await longhorn(port, gates.longhorn, question));
  if (gates.cloudNativePG !== undefined) {
    const clusters = await listed(port, { apiVersion: 'postgresql.cnpg.io/v1', kind: 'Cluster' }, signal);
    const pods = await listed(port, { apiVersion: 'v1', kind: 'Pod', labelSelector: 'cnpg.io/cluster' }, signal);
    readings.push(cloudNativePgGate(readCloudNativePg(clusters, pods), gates.cloudNativePG, nodes, node, stage));
  }
  if (gates.kubeVirt !== undefined) {
    const machines = await listed(port, { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance' }, signal);
    readings.push(kubeVirtGate(readKubeVirt(machines), node, stage));
  }
  return readings;
}

type Gates = NodeRebootSpec['gates'];

async function dns(
  port: KubernetesPort,
  gate: Exclude<Gates['dns'], false>,
  { node, stage, signal }: GateQuestion,
): Promise<GateReading> {
  const { namespace, deployment: name } = gate;
  const deployment = await port.get({ apiVersion: 'apps/v1', kind: 'Deployment', namespace, name }, { signal });
  signal.throwIfAborted();
  const pods = await listed(port, { apiVersion: 'v1', kind: 'Pod', namespace }, signal);
  return dnsGate(readDns(deployment, pods), gate, node, stage);
}

async function longhorn(
  port: KubernetesPort,
  spec: NonNullable<Gates['longhorn']>,
  { node, stage, signal }: GateQuestion,
): Promise<GateReading> {
  const of = (kind: string) =>
    listed(port, { apiVersion: 'longhorn.io/v1beta2', kind, namespace: spec.namespace }, signal);
  const facts = readLonghorn(await of('Volume'), await of('Replica'), null);
  return longhornGate(facts, { spec, before: null, turn: node }, stage);
}

async function releases(port: KubernetesPort, { node, signal }: GateQuestion): Promise<GateReading> {
  const workloads: unknown[] = [];
  for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet']) {
    const found = await listed(port, { apiVersion: 'apps/v1', kind }, signal);
    if (found.kind === 'unmeasured') return releasesGate({ workloads: found });
    workloads.push(...found.value);
  }
  const sets = await listed(port, { apiVersion: 'apps/v1', kind: 'ReplicaSet' }, signal);
  const pods = await listed(port, { apiVersion: 'v1', kind: 'Pod', fieldSelector: `spec.nodeName=${node}` }, signal);
  return releasesGate(readReleases(read(workloads), sets, pods));
}

async function listed(port: KubernetesPort, query: ListQuery, signal: AbortSignal): Promise<RawObjects> {
  const found = await port.list(query, { signal });
  signal.throwIfAborted();
  return found.kind === 'read' ? read(found.value.items) : found;
}
