import { compareKernels, parseKernel } from './kernel.ts';
import type { NodeReading } from './node.ts';
import type { CampaignObservation } from './observation.ts';
import { sentinelId, type Sentinel } from './sentinel.ts';
import type { NodeRebootSpec } from './spec.ts';

/** A node whose turn it would be. */
export interface NextNode {
  readonly node: string;
  readonly bootId: string;
  /** What the node runs now. */
  readonly running: string;
  readonly sentinel: Sentinel;
}

/** What came of looking for the next node. */
export type Selection =
  | { readonly kind: 'none' }
  | { readonly kind: 'next'; readonly next: NextNode }
  /** Something must change first; one CamelCase word, and a sentence. */
  | { readonly kind: 'refused'; readonly node: string; readonly reason: string; readonly message: string }
  | { readonly kind: 'unmeasured'; readonly message: string };

/** A node that this campaign has rebooted. */
export interface DoneNode {
  readonly sentinel: string;
  readonly bootId: string;
  readonly kernel: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/**
 * Chooses the node whose turn it is: the first in order that wants a reboot and may go. A node before it that cannot be
 * read holds it back, since that one may be the next.
 *
 * @param done what this campaign has rebooted, by node
 */
export function selectNode(
  spec: Pick<NodeRebootSpec, 'neverFirst' | 'kernelFloor'>,
  observation: CampaignObservation,
  done: Readonly<Record<string, DoneNode>>,
): Selection {
  const { nodes, order, sentinels } = observation;
  if (nodes.kind === 'unmeasured') return { kind: 'unmeasured', message: nodes.message };
  if (order.kind === 'unmeasured') return { kind: 'unmeasured', message: order.message };
  let held: Selection | null = null;
  for (const name of order.value) {
    const node = nodes.value.find((one) => one.name === name);
    if (node === undefined)
      return { kind: 'unmeasured', message: `the cluster has no node ${name}, which the spec names` };
    const sentinel = Object.hasOwn(sentinels, name) ? sentinels[name] : undefined;
    if (sentinel === undefined)
      return { kind: 'unmeasured', message: `nobody has asked node ${name} whether it wants a reboot` };
    if (sentinel.kind === 'unmeasured') return { kind: 'unmeasured', message: sentinel.message };
    if (sentinel.value === null) continue;
    const refusal = refusalOf(spec, node, sentinel.value, done[name], observation.at);
    if (refusal !== null) return { kind: 'refused', node: name, ...refusal };
    if (!isFirstOfKernel(spec, name, sentinel.value, nodes.value, order.value)) {
      return {
        kind: 'next',
        next: { node: name, bootId: node.bootId, running: node.kernel, sentinel: sentinel.value },
      };
    }
    // It waits for another to go first: for one behind it in the order.
    held ??= {
      kind: 'refused',
      node: name,
      reason: 'NeverFirst',
      message: `node ${name} is not to be the first to boot ${sentinel.value.kernel ?? 'its kernel'}, and no other node of the campaign runs it: let another one want a reboot first, or take ${name} out of neverFirst`,
    };
  }
  return held ?? { kind: 'none' };
}

/** The same packages are updated again some day; whatever asks in a loop asks at once. */
const loopMs = 24 * 60 * 60 * 1_000;

interface Refusal {
  readonly reason: string;
  readonly message: string;
}

function refusalOf(
  { kernelFloor }: Pick<NodeRebootSpec, 'kernelFloor'>,
  node: NodeReading,
  sentinel: Sentinel,
  before: DoneNode | undefined,
  at: number,
): Refusal | null {
  if (before?.sentinel === sentinelId(sentinel) && at - before.at < loopMs) {
    return {
      reason: 'RebootLoop',
      message: `node ${node.name} was rebooted for this at ${new Date(before.at).toISOString()} and wants it again: look at what keeps asking, then say retry`,
    };
  }
  if (kernelFloor === undefined || sentinel.kernel === null || !isOlder(sentinel.kernel, kernelFloor)) return null;
  return {
    reason: 'KernelBelowFloor',
    message: `node ${node.name} would come back with kernel ${sentinel.kernel}, which is older than the floor ${kernelFloor}: install a newer one, or lower kernelFloor`,
  };
}

/** True where one kernel is older than another, and where it cannot be told. */
export function isOlder(release: string, floor: string): boolean {
  const [one, other] = [parseKernel(release), parseKernel(floor)];
  return one === null || other === null || compareKernels(one, other) < 0;
}

function isFirstOfKernel(
  { neverFirst }: Pick<NodeRebootSpec, 'neverFirst'>,
  name: string,
  { kernel }: Sentinel,
  nodes: readonly NodeReading[],
  order: readonly string[],
): boolean {
  if (!neverFirst.includes(name) || kernel === null) return false;
  return !nodes.some((node) => node.name !== name && order.includes(node.name) && isSame(node.kernel, kernel));
}

/** True for two builds of one kernel. A newer one has not shown that this one boots. */
function isSame(release: string, other: string): boolean {
  const [one, two] = [parseKernel(release), parseKernel(other)];
  return one !== null && two !== null && compareKernels(one, two) === 0;
}
