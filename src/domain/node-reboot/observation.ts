import type { Incumbent } from '../core/incumbent.ts';
import type { Reading } from '../core/verdict.ts';
import type { GateReading } from './gate.ts';
import type { HolderRun, LockReading } from './lock.ts';
import type { NodeReading } from './node.ts';
import type { Sentinel } from './sentinel.ts';

/** Everything that is read before a node is chosen, at one time. Plain JSON. */
export interface CampaignObservation {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Every node of the cluster, those of the campaign among them. */
  readonly nodes: Reading<readonly NodeReading[]>;
  /** The names of the campaign's nodes in the order in which they go. */
  readonly order: Reading<readonly string[]>;
  /** By node: why it wants a reboot, or null where it does not. */
  readonly sentinels: Readonly<Record<string, Reading<Sentinel | null>>>;
  readonly lock: Reading<LockReading>;
  /** How the run in the lock stands. */
  readonly holderRun: HolderRun;
  /** Who holds the lock of a reboot daemon that Holdfast replaces; null where nobody does. */
  readonly foreignLock: Reading<string | null>;
  readonly incumbents: readonly Incumbent[];
  /** The gates of the node that would be next, as they are now; empty where none would be. */
  readonly gates: readonly GateReading[];
}

/** The nodes that want a reboot, as far as that is known, in the order of the spec. */
export function wishingNodes({ order, sentinels }: CampaignObservation): readonly string[] {
  if (order.kind === 'unmeasured') return [];
  return order.value.filter((name) => wishOf(sentinels, name) !== null);
}

/** What a node wants; null where it wants nothing, and where that is not known. */
export function wishOf(sentinels: CampaignObservation['sentinels'], name: string): Sentinel | null {
  const sentinel = Object.hasOwn(sentinels, name) ? sentinels[name] : undefined;
  return sentinel?.kind === 'read' ? sentinel.value : null;
}
