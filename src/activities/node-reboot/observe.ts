import { isUnmeasured, read, unmeasured, type Reading, type Unmeasured } from '../../domain/core/verdict.ts';
import { campaignFingerprint } from '../../domain/node-reboot/fingerprint.ts';
import { nodeSelectorText } from '../../domain/node-reboot/node-selector.ts';
import type { NodeReading } from '../../domain/node-reboot/node.ts';
import type { CampaignObservation } from '../../domain/node-reboot/observation.ts';
import { selectNode } from '../../domain/node-reboot/select-node.ts';
import type { Sentinel } from '../../domain/node-reboot/sentinel.ts';
import type { NodeRebootSpec } from '../../domain/node-reboot/spec.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { sleep } from '../wait-context.ts';
import { clusterOf } from '../kubernetes/cluster-of.ts';
import type { NodeRebootDependencies } from './dependencies.ts';
import { readGates } from './gates.ts';
import { readDaemons } from './incumbents.ts';
import { readLock } from './lock.ts';
import { readNodes, type NodeObject } from './nodes.ts';
import type { AwaitChange, CampaignInput } from './port.ts';
import { removeLeftPods } from './remove-host-pods.ts';
import { readHost } from './read-host.ts';
import { askSideBySide } from './side-by-side.ts';

/** See NodeRebootActivities.observeCampaign. */
export async function observeCampaign(
  dependencies: NodeRebootDependencies,
  { name, spec, done }: CampaignInput,
  signal: AbortSignal,
): Promise<CampaignObservation> {
  const clock = dependencies.clock ?? Date.now;
  const at = clock();
  const port = clusterOf(dependencies, spec.cluster);
  if (isUnmeasured(port)) {
    const nothing = {
      at,
      nodes: port,
      order: port,
      sentinels: {},
      lock: port,
      holderRun: 'unknown',
      foreignLock: port,
    } as const;
    return { ...nothing, incumbents: [], gates: [] };
  }
  const [nodes, lock, daemons] = await Promise.all([
    readNodes(port, signal),
    readLock(port, signal),
    readDaemons(port, spec.incumbents, signal),
  ]);
  const order = await readOrder(port, spec, signal);
  const holder = lock.kind === 'read' ? lock.value.holder : null;
  const holderRun = holder === null ? 'unknown' : await dependencies.holderRun(holder.campaign, holder.run);
  // What an earlier run has left is gone on with, whatever any host wants.
  const isLeft = holder?.campaign === name && holderRun === 'ended';
  const sentinels = isLeft ? {} : await readSentinels(dependencies, port, nodes, order, signal);
  if (!isLeft) await removeLeftPods(port, clock, signal);
  const seen = { at, nodes, order, sentinels, lock, holderRun, ...daemons, gates: [] };
  if (isLeft) return seen;
  const next = selectNode(spec, seen, done);
  if (next.kind !== 'next') return seen;
  return {
    ...seen,
    gates: await readGates(dependencies, port, { spec, node: next.next.node, stage: 'before', signal }),
  };
}

/** See NodeRebootActivities.awaitCampaignChange. */
export async function awaitCampaignChange(
  dependencies: NodeRebootDependencies,
  input: CampaignInput & AwaitChange,
  signal: AbortSignal,
): Promise<CampaignObservation> {
  const clock = dependencies.clock ?? Date.now;
  for (;;) {
    await sleep(Math.min(input.spec.interval, input.until - clock()), signal);
    const seen = await observeCampaign(dependencies, input, signal);
    if (clock() >= input.until || campaignFingerprint(seen) !== input.known) return seen;
  }
}

/** The campaign's nodes in the order in which they go: as the spec names them, or by their labels and names. */
async function readOrder(
  port: KubernetesPort,
  spec: NodeRebootSpec,
  signal: AbortSignal,
): Promise<Reading<readonly string[]>> {
  if (spec.nodes !== undefined) return read(spec.nodes);
  const labelSelector = nodeSelectorText(spec.selector ?? {});
  const query = { apiVersion: 'v1', kind: 'Node', labelSelector };
  const found = await port.list<NodeObject>(query, { signal });
  signal.throwIfAborted();
  if (found.kind === 'unmeasured') return found;
  if (found.value.items.length === 0) {
    const message = `no node of the cluster has the labels of the selector: kubectl get nodes -l '${labelSelector}'`;
    return unmeasured('the nodes of the campaign', 'API server', 'empty', message);
  }
  return read(found.value.items.map(({ metadata }) => metadata.name).sort());
}

/** Asks each host of the campaign. */
async function readSentinels(
  dependencies: NodeRebootDependencies,
  port: KubernetesPort,
  nodes: Reading<readonly NodeReading[]>,
  order: Reading<readonly string[]>,
  signal: AbortSignal,
): Promise<Record<string, Reading<Sentinel | null>>> {
  if (nodes.kind === 'unmeasured' || order.kind === 'unmeasured') return {};
  const clock = dependencies.clock ?? Date.now;
  const ready = new Map(nodes.value.map((node) => [node.name, node.ready]));
  const ask = async (name: string): Promise<Reading<Sentinel | null>> => {
    // A pod on it would not run, and the other hosts would wait for its time-out.
    if (ready.get(name) !== true) return unasked(name, `node ${name} is not Ready, so that its host cannot be asked`);
    const facts = await readHost(port, dependencies.hostImage, name, clock, signal);
    return facts.kind === 'read' ? facts.value.sentinel : facts;
  };
  const there = order.value.filter((name) => ready.has(name));
  return askSideBySide(there, ask, unasked, clock);
}

function unasked(node: string, message: string): Unmeasured {
  return unmeasured(`whether node ${node} wants a reboot`, 'API server', 'not-ready', message);
}
