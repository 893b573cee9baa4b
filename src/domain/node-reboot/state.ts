import type { EvidenceLog } from '../core/evidence.ts';
import type { Notification } from '../core/notification.ts';
import type { Waiting } from './command.ts';
import type { GateReading, Override } from './gate.ts';
import type { LockRecord } from './lock.ts';
import type { CampaignObservation } from './observation.ts';
import type { DoneNode } from './select-node.ts';
import type { NodeRebootSpec } from './spec.ts';
import type { Visit } from './visit.ts';

/** Everything that a campaign knows, as a value. What must outlive it stands in the lock and on the node. */
export interface CampaignState {
  readonly name: string;
  /** The workflow run: the first of its chain. */
  readonly run: string;
  readonly spec: NodeRebootSpec;
  readonly generation: number;
  readonly paused: PersonMark | null;
  /** As it was last read; null before the first time. */
  readonly observation: CampaignObservation | null;
  /** When it was last read, by the workflow's own clock, epoch milliseconds. */
  readonly observedAt: number;
  /** The node whose turn it is; null between turns. */
  readonly visit: Visit | null;
  /** True while the lock is known to be ours. Nothing is done to a node without it. */
  readonly holds: boolean;
  /** The lock of an earlier run that is being taken over. */
  readonly adopting: LockRecord | null;
  /** Before then no node is begun: the last try has just failed, and why. */
  readonly notBefore: { readonly at: number; readonly for: Waiting } | null;
  /** Set where only a person lets it go on. */
  readonly stopped: Stopped | null;
  /** A person wants it to end: at once, or after the node whose turn it is. */
  readonly cancel: PersonMark | null;
  readonly approvals: readonly Approval[];
  /** The hash of the offer of which people were told last; empty before the first. */
  readonly offerTold: string;
  readonly overrides: readonly Override[];
  /** What has been rebooted, by node. */
  readonly done: Readonly<Record<string, DoneNode>>;
  /** Why a person is asked before the next node, whatever the spec says. */
  readonly personNext: string | null;
  /** The gates as they were last read for the node whose turn it is. */
  readonly gates: readonly GateReading[];
  /** Pages that are still to be delivered, the oldest first. Nothing goes on before they are. */
  readonly pages: readonly Notification[];
  readonly evidence: EvidenceLog;
}

export interface PersonMark {
  readonly by: string;
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface Stopped {
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Whether the lock says so too: it was not tried yet, was tried in vain for a while, or does. */
  readonly inLock: 'not yet' | 'tried' | 'yes';
}

/** A person's yes: to one node as it was offered, or to all that the campaign had to do then. */
export interface Approval extends PersonMark {
  readonly offerHash: string;
  /** Node and sentinel that it is about. */
  readonly covers: Readonly<Record<string, string>>;
}

/** A campaign at its beginning. */
export function initialState(name: string, run: string, spec: NodeRebootSpec): CampaignState {
  return {
    name,
    run,
    spec,
    generation: 1,
    paused: null,
    observation: null,
    observedAt: 0,
    visit: null,
    holds: false,
    adopting: null,
    notBefore: null,
    stopped: null,
    cancel: null,
    approvals: [],
    offerTold: '',
    overrides: [],
    done: {},
    personNext: null,
    gates: [],
    pages: [],
    evidence: [],
  };
}
