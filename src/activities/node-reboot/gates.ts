import { read, unmeasured, type Reading, type Unmeasured } from '../../domain/core/verdict.ts';
import type { GateReading, GateStage } from '../../domain/node-reboot/gate.ts';
import { alertsGate, readAlerts } from '../../domain/node-reboot/gates/alerts.ts';
import { budgetsGate, readBudgets } from '../../domain/node-reboot/gates/budgets.ts';
import { cloudNativePgGate, readCloudNativePg } from '../../domain/node-reboot/gates/cloud-native-pg.ts';
import { customGate, readCustomObjects, readCustomSamples } from '../../domain/node-reboot/gates/custom.ts';
import { dnsGate, readDns } from '../../domain/node-reboot/gates/dns.ts';
import { drainGate } from '../../domain/node-reboot/gates/drain.ts';
import { etcdGate, readEtcd } from '../../domain/node-reboot/gates/etcd.ts';
import { hostGates } from '../../domain/node-reboot/gates/host.ts';
import { kubeVirtGate, readKubeVirt } from '../../domain/node-reboot/gates/kube-virt.ts';
import { locksGate } from '../../domain/node-reboot/gates/locks.ts';
import { longhornGate, readLonghorn } from '../../domain/node-reboot/gates/longhorn.ts';
import { methodGate } from '../../domain/node-reboot/gates/method.ts';
import { nfsGate, readNfsMounts } from '../../domain/node-reboot/gates/nfs.ts';
import { nodesGate } from '../../domain/node-reboot/gates/nodes.ts';
import { readReleases, releasesGate } from '../../domain/node-reboot/gates/releases.ts';
import { parseHostFacts } from '../../domain/node-reboot/host-facts.ts';
import { readHostReadiness } from '../../domain/node-reboot/host-readiness.ts';
import type { RawObjects } from '../../domain/node-reboot/read-objects.ts';
import type { NodeRebootSpec } from '../../domain/node-reboot/spec.ts';
import type { KubernetesPort, ListQuery } from '../kubernetes/port.ts';
import type { NodeRebootDependencies } from './dependencies.ts';
import { podsOn } from './drain.ts';
import { readEtcdMembers } from './etcd-members.ts';
import { readDaemons } from './incumbents.ts';
import { askNfsServer } from './nfs-server.ts';
import { readNodes } from './nodes.ts';
import { readCommandLine } from './reboot-by-command.ts';
import { askReadiness } from './read-host.ts';

/** What the gates are asked about. */
export interface GateQuestion {
  readonly spec: NodeRebootSpec;
  /** The node whose turn it is, or would be. */
  readonly node: string;
  readonly stage: GateStage;
  readonly signal: AbortSignal;
}

/** Reads everything that the gates of a spec need, and asks each of them. */
export async function readGates(
  dependencies: NodeRebootDependencies,
  port: KubernetesPort,
  question: GateQuestion,
): Promise<GateReading[]> {
  const { spec, node, stage, signal } = question;
  const { gates } = spec;
  const { clock = Date.now } = dependencies;
  const [nodes, daemons] = await Promise.all([readNodes(port, signal), readDaemons(port, spec.incumbents, signal)]);
  const readings = [nodesGate(nodes, node, stage, clock()), locksGate(daemons.foreignLock)];

  const budgets = readBudgets(await listed(port, { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' }, signal));
  if (stage === 'before') readings.push(drainGate({ pods: await podsOn(port, node, signal), ...budgets }, spec));
  if (gates.budgets !== false) readings.push(budgetsGate(budgets, gates.budgets, stage));
  if (gates.dns !== false) readings.push(await dns(port, gates.dns, question));
  if (gates.releases && stage === 'before') readings.push(await releases(port, question));
  if (gates.longhorn !== undefined) readings.push(await longhorn(dependencies, port, gates.longhorn, question));
  if (gates.cloudNativePG !== undefined) {
    const clusters = await listed(port, { apiVersion: 'postgresql.cnpg.io/v1', kind: 'Cluster' }, signal);
    const pods = await listed(port, { apiVersion: 'v1', kind: 'Pod', labelSelector: 'cnpg.io/cluster' }, signal);
    readings.push(cloudNativePgGate(readCloudNativePg(clusters, pods), gates.cloudNativePG, nodes, node, stage));
  }
  if (gates.kubeVirt !== undefined) {
    const machines = await listed(port, { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance' }, signal);
    readings.push(kubeVirtGate(readKubeVirt(machines), node, stage));
  }
  if (gates.nfs !== undefined && stage === 'before') readings.push(await nfs(port, gates.nfs, question));
  if (gates.etcd !== undefined) readings.push(await readEtcdGate(dependencies, gates.etcd, signal));
  if (gates.alerts !== undefined) readings.push(await alerts(dependencies, gates.alerts, question));
  if (gates.host !== false && stage !== 'after') {
    readings.push(...(await host(dependencies, port, gates.host, question)));
  }
  if ('command' in spec.method && stage !== 'after') {
    const { command: name } = spec.method;
    const named = { name, commands: dependencies.commands ?? {} };
    readings.push(methodGate(name, await readCommandLine(port, named, node, signal)));
  }
  for (const gate of gates.custom) readings.push(await custom(dependencies, port, gate, signal));
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
  dependencies: NodeRebootDependencies,
  port: KubernetesPort,
  spec: NonNullable<Gates['longhorn']>,
  { node, stage, signal }: GateQuestion,
): Promise<GateReading> {
  const of = (kind: string) =>
    listed(port, { apiVersion: 'longhorn.io/v1beta2', kind, namespace: spec.namespace }, signal);
  const { prometheus } = spec;
  const series =
    prometheus === undefined ? null : await queried(dependencies, prometheus, 'longhorn_volume_robustness', signal);
  const facts = readLonghorn(await of('Volume'), await of('Replica'), series);
  return longhornGate(facts, { spec, turn: node }, stage);
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

async function nfs(
  port: KubernetesPort,
  gate: NonNullable<Gates['nfs']>,
  { node, signal }: GateQuestion,
): Promise<GateReading> {
  const of = (kind: string) => listed(port, { apiVersion: 'v1', kind }, signal);
  const pods = await listed(port, { apiVersion: 'v1', kind: 'Pod', fieldSelector: `spec.nodeName=${node}` }, signal);
  const mounts = readNfsMounts(pods, await of('PersistentVolumeClaim'), await of('PersistentVolume'));
  const mounted = mounts.kind === 'read' ? mounts.value.map(({ server }) => server) : [];
  const asked = gate.servers.filter((server) => mounted.includes(server));
  const answers = await Promise.all(asked.map(async (server) => [server, await askNfsServer(server, signal)] as const));
  return nfsGate({ mounts, answers: Object.fromEntries(answers) }, gate);
}

/** Asks the gate of etcd alone. */
export async function readEtcdGate(
  { etcd: clusters }: NodeRebootDependencies,
  gate: NonNullable<Gates['etcd']>,
  signal: AbortSignal,
): Promise<GateReading> {
  const cluster = clusters(gate.cluster);
  if (cluster !== null) return etcdGate(await readEtcdMembers(cluster, { timeoutMs: askMs, signal }), gate);
  return etcdGate(readEtcd(notConfigured('etcd cluster', gate.cluster), {}), gate);
}

async function alerts(
  { prometheus }: NodeRebootDependencies,
  gate: NonNullable<Gates['alerts']>,
  { stage, signal }: GateQuestion,
): Promise<GateReading> {
  const server = prometheus(gate.prometheus);
  if (server === null) {
    const missing = notConfigured('Prometheus', gate.prometheus);
    return alertsGate(readAlerts(missing, missing), gate, stage);
  }
  const options = { timeoutMs: askMs, signal };
  return alertsGate(readAlerts(await server.series('ALERTS', options), await server.rules(options)), gate, stage);
}

async function host(
  { hostImage, clock = Date.now }: NodeRebootDependencies,
  port: KubernetesPort,
  gate: Exclude<Gates['host'], false>,
  { spec, node, signal }: GateQuestion,
): Promise<readonly GateReading[]> {
  const report = await askReadiness(port, hostImage, node, clock, signal);
  const facts = report.kind === 'read' ? parseHostFacts(node, report.value) : report;
  const sentinel = facts.kind === 'read' && facts.value.sentinel.kind === 'read' ? facts.value.sentinel.value : null;
  const readiness = readHostReadiness(node, report, gate.gracePeriod ?? null);
  return hostGates(readiness, gate, node, { intended: sentinel?.kernel ?? null, floor: spec.kernelFloor ?? null });
}

async function custom(
  dependencies: NodeRebootDependencies,
  port: KubernetesPort,
  gate: Gates['custom'][number],
  signal: AbortSignal,
): Promise<GateReading> {
  const { query, resource } = gate;
  if (query !== undefined) {
    const answer = await queried(dependencies, gate.prometheus, query, signal);
    return customGate(readCustomSamples(answer, gate), gate);
  }
  const { apiVersion = '', kind = '', namespace } = resource ?? {};
  const within = namespace === undefined ? {} : { namespace };
  return customGate(readCustomObjects(await listed(port, { apiVersion, kind, ...within }, signal), gate), gate);
}

/** The whole answer of one of the worker's Prometheus servers to a query. */
async function queried(
  { prometheus }: NodeRebootDependencies,
  name: string,
  query: string,
  signal: AbortSignal,
): Promise<Reading<unknown>> {
  const server = prometheus(name);
  return server === null ? notConfigured('Prometheus', name) : server.series(query, { timeoutMs: askMs, signal });
}

/** How long one answer may take. */
const askMs = 10_000;

function notConfigured(what: string, name: string): Unmeasured {
  const message = `this worker has no ${what} "${name}"; add it to the worker's configuration`;
  return unmeasured(`${what} ${name}`, 'this worker', 'missing', message);
}
