import type { GateReading } from '../../domain/node-reboot/gate.ts';
import type { LockRecord } from '../../domain/node-reboot/lock.ts';
import type { CampaignObservation } from '../../domain/node-reboot/observation.ts';
import type { ResultOf } from '../../domain/node-reboot/result.ts';
import type { DoneNode } from '../../domain/node-reboot/select-node.ts';
import type { NodeRebootSpec } from '../../domain/node-reboot/spec.ts';

/**
 * The single calls of a NodeReboot, as its workflow sees them (by `import type` only). Each is safe to repeat, since each
 * reads before it writes. What the outside says is a value; thrown are cancellations and faults of ours.
 *
 * Each step under the lock first writes its record to the lock, on the condition that it is still ours; where it is not, the
 * answer is `lockLost` and nothing was done.
 */
export interface NodeRebootActivities {
  /** Reads once what the choice of a node needs. Writes nothing but the pods that read a host. */
  observeCampaign(input: CampaignInput): Promise<CampaignObservation>;
  /** Reads at each interval, until something differs from what is known or that instant has come. Heartbeats. */
  awaitCampaignChange(input: CampaignInput & AwaitChange): Promise<CampaignObservation>;
  /** Reads the gates of each node as they are now, for a plan. */
  gatesOfNodes(input: GatesInput): Promise<Readonly<Record<string, readonly GateReading[]>>>;
  takeLock(input: TakeLockInput): Promise<ResultOf<'takeLock'>>;
  /** Reads how the node is, and every gate. */
  gatesBefore(input: StepInput): Promise<ResultOf<'gatesBefore' | 'lockLost'>>;
  /** Cordons the node with our mark, in one patch. */
  cordon(input: StepInput): Promise<ResultOf<'cordon' | 'lockLost'>>;
  /** Waits until the primaries of databases have left the node, and promotes others where they stay. Heartbeats. */
  movePrimaries(input: StepInput): Promise<ResultOf<'movePrimaries' | 'lockLost'>>;
  /** Evicts the pods of the node, pod by pod. Heartbeats; a cancellation leaves what was evicted where it went. */
  drain(input: StepInput): Promise<ResultOf<'drain' | 'lockLost'>>;
  /** Reads the gates between drain and reboot, and whether the node still wants it. */
  lastCheck(input: StepInput): Promise<ResultOf<'lastCheck' | 'lockLost'>>;
  /** Tells this boot of the node to end, once. */
  rebootNode(input: StepInput): Promise<ResultOf<'reboot' | 'lockLost'>>;
  /** Watches the node until it is back, or until the deadline. Heartbeats. */
  awaitReturn(input: StepInput): Promise<ResultOf<'awaitReturn' | 'lockLost'>>;
  /** Checks a node that has come back, and that it stays Ready. Heartbeats. */
  checkNode(input: StepInput): Promise<ResultOf<'checkNode' | 'lockLost'>>;
  uncordon(input: StepInput): Promise<ResultOf<'uncordon' | 'lockLost'>>;
  /** Waits until all is as before, and the release delay is over. Heartbeats. */
  settle(input: StepInput): Promise<ResultOf<'settle' | 'lockLost'>>;
  /** Gives a node back that was not rebooted, as it was found. */
  restoreNode(input: StepInput): Promise<ResultOf<'restore' | 'lockLost'>>;
  /** Writes to the lock that a turn stopped, and why; not written where the API server is away until the deadline. */
  noteStop(input: StepInput): Promise<ResultOf<'noteStop' | 'lockLost'>>;
  releaseLock(input: StepInput): Promise<ResultOf<'releaseLock' | 'lockLost'>>;
}

export interface CampaignInput {
  /** Of the NodeReboot, without `nodereboot/`. */
  readonly name: string;
  readonly spec: NodeRebootSpec;
  readonly done: Readonly<Record<string, DoneNode>>;
}

export interface AwaitChange {
  /** The fingerprint of what the caller knows. */
  readonly known: string;
  /** Epoch milliseconds. */
  readonly until: number;
}

export interface GatesInput {
  readonly spec: NodeRebootSpec;
  readonly nodes: readonly string[];
}

export interface TakeLockInput {
  readonly spec: NodeRebootSpec;
  readonly record: LockRecord;
  /** The lock of an earlier run that is taken over; null where it is to be free. */
  readonly replaces: LockRecord | null;
}

export interface StepInput {
  readonly spec: NodeRebootSpec;
  readonly record: LockRecord;
  /** Epoch milliseconds; what it means is the step's own. */
  readonly deadline: number;
}
