import { fieldOwner } from '../../domain/core/managed-fields.ts';
import { parseQuantity } from '../../domain/core/quantity.ts';
import { read, unmeasured, type Reading } from '../../domain/core/verdict.ts';
import { cordonMark, lastVisitMark } from '../../domain/node-reboot/by-hand.ts';
import { parseMark, type NodeReading } from '../../domain/node-reboot/node.ts';
import type { KubeObject, KubernetesPort } from '../kubernetes/port.ts';

/** A node on the wire, as far as reboots are concerned. */
export interface NodeObject extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastHeartbeatTime?: string;
    }[];
    readonly nodeInfo?: { readonly bootID?: string; readonly kernelVersion?: string };
    readonly capacity?: Readonly<Record<string, string>>;
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  };
}

/** Reads every node of the cluster. */
export async function readNodes(port: KubernetesPort, signal: AbortSignal): Promise<Reading<readonly NodeReading[]>> {
  const found = await port.list<NodeObject>({ apiVersion: 'v1', kind: 'Node' }, { signal });
  signal.throwIfAborted();
  if (found.kind === 'unmeasured') return found;
  if (found.value.items.length === 0) {
    return unmeasured('the nodes', 'API server', 'empty', 'the cluster shows no nodes at all');
  }
  const nodes: NodeReading[] = [];
  for (const object of found.value.items) {
    const node = nodeReading(object);
    if (node.kind === 'unmeasured') return node;
    nodes.push(node.value);
  }
  return read(nodes);
}

/** Reads one node, with the object that a write is held to. */
export async function readNode(
  port: KubernetesPort,
  name: string,
  signal: AbortSignal,
): Promise<Reading<{ readonly node: NodeReading; readonly object: NodeObject }>> {
  const found = await port.get<NodeObject>({ apiVersion: 'v1', kind: 'Node', name }, { signal });
  signal.throwIfAborted();
  if (found.kind === 'unmeasured') return found;
  const node = nodeReading(found.value);
  return node.kind === 'unmeasured' ? node : read({ node: node.value, object: found.value });
}

/** Where a node is reached; null where it does not say. */
export function addressOf({ status }: NodeObject): string | null {
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? null;
}

/** A node as it is decided about. One that does not say its boot, kernel or memory is unmeasured. */
export function nodeReading({ metadata, spec, status }: NodeObject): Reading<NodeReading> {
  const { name, uid, annotations = {}, managedFields } = metadata;
  const { bootID, kernelVersion } = status?.nodeInfo ?? {};
  const memory = parseQuantity(status?.capacity?.['memory'] ?? '');
  if (uid === undefined || !bootID || !kernelVersion || !memory.ok) {
    const message = `node ${name} does not say its boot id, kernel and memory`;
    return unmeasured(`node ${name}`, 'its status', 'empty', message);
  }
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const heartbeat = Date.parse(ready?.lastHeartbeatTime ?? '');
  const mark = annotations[cordonMark];
  const lastVisit = Date.parse(annotations[lastVisitMark] ?? '');
  const unschedulable = spec?.unschedulable === true;
  return read({
    name,
    uid,
    ready: ready?.status === 'True',
    heartbeatAt: Number.isNaN(heartbeat) ? null : heartbeat,
    unschedulable,
    cordonManager: unschedulable ? (fieldOwner(managedFields, 'spec.unschedulable')?.manager ?? null) : null,
    cordonedBy: mark === undefined ? null : parseMark(mark),
    lastVisitAt: Number.isNaN(lastVisit) ? null : lastVisit,
    bootId: bootID,
    kernel: kernelVersion,
    memory: Number(memory.quantity.nano / 1_000_000_000n),
  });
}
