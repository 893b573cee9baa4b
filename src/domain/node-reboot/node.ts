import { unmeasured, type Unmeasured } from '../core/verdict.ts';
import { cordonMark } from './by-hand.ts';

/** A node of the cluster, as the API server tells of it. */
export interface NodeReading {
  readonly name: string;
  readonly uid: string;
  readonly ready: boolean;
  /** When the kubelet last wrote that it is Ready or not, epoch milliseconds; null where nothing says. */
  readonly heartbeatAt: number | null;
  readonly unschedulable: boolean;
  /** Whose write made it unschedulable, as managedFields tell; null where nobody's did, or nothing tells. */
  readonly cordonManager: string | null;
  /** Who of us has cordoned it; null where it carries no mark of Holdfast. */
  readonly cordonedBy: CordonMark | null;
  /** When the visit began that last gave the node back, epoch milliseconds; null where none has. */
  readonly lastVisitAt: number | null;
  readonly bootId: string;
  readonly kernel: string;
  /** Bytes. */
  readonly memory: number;
}

/** How the API server names our writes of a cordon, apart from those of people. */
export const cordonManager = 'holdfast-node-reboot';

/** What the mark on a node says: which run of which campaign has cordoned it. */
export interface CordonMark {
  readonly campaign: string;
  readonly run: string;
}

/** @returns the mark as the value of its annotation */
export function formatMark({ campaign, run }: CordonMark): string {
  return `${campaign}/${run}`;
}

/** Reads a mark. One that cannot be read is somebody's all the same: it is never ours. */
export function parseMark(value: string): CordonMark {
  const slash = value.indexOf('/');
  return slash < 0 ? { campaign: value, run: '' } : { campaign: value.slice(0, slash), run: value.slice(slash + 1) };
}

/**
 * How old the last word of a kubelet may be. A kubelet writes the status of its node every 5 minutes or so, other agents (kwok)
 * every 20. What says within a minute that a node is gone is its Lease, which the control plane watches for everybody: that
 * takes Ready away. This is for a control plane that has stopped doing so, and needs no right to read Leases.
 */
const heardWithinMs = 30 * 60_000;

/** Ready, as long as something is heard of it: a control plane that has stopped shows dead nodes as Ready for ever. */
export function unheard({ name, ready, heartbeatAt }: NodeReading, now: number): Unmeasured | null {
  if (!ready || (heartbeatAt !== null && now - heartbeatAt <= heardWithinMs)) return null;
  const since = heartbeatAt === null ? '' : ` since ${new Date(heartbeatAt).toISOString()}`;
  const message = `node ${name} is shown as Ready, and its kubelet has said nothing${since}: does it run, are the clocks right, and does kube-controller-manager?`;
  return unmeasured(`node ${name}`, 'its status', 'not-ready', message);
}

/** A node that is out, and how. */
export interface NodeOut {
  readonly node: string;
  readonly why: 'NotReady' | 'Cordoned';
  readonly message: string;
}

/**
 * The nodes that are out for any reason, apart from the one whose turn it is: each of them keeps every other node up.
 *
 * @param except the node whose turn it is; null where it is nobody's
 */
export function nodesOut(nodes: readonly NodeReading[], except: string | null): readonly NodeOut[] {
  return nodes.filter(({ name }) => name !== except).flatMap(outOf);
}

/** Whether a node carries our cordon. Where the lock is free, nobody takes it off. */
export function isLeftCordoned({ unschedulable, cordonedBy }: NodeReading): boolean {
  return unschedulable && cordonedBy !== null;
}

/** That nobody takes the mark of a node off, and how a person does. */
export function leftCordoned({ name, cordonedBy }: NodeReading): string {
  return `node ${name} carries the mark of campaign ${cordonedBy?.campaign ?? ''}, whose lock is gone: look at it, then kubectl uncordon ${name} && kubectl annotate node ${name} ${cordonMark}-`;
}

function outOf({ name, ready, unschedulable, cordonedBy }: NodeReading): NodeOut[] {
  if (!ready) return [{ node: name, why: 'NotReady', message: `node ${name} is not Ready` }];
  if (!unschedulable) return [];
  const by = cordonedBy === null ? 'somebody' : `campaign ${cordonedBy.campaign}`;
  return [{ node: name, why: 'Cordoned', message: `node ${name} is cordoned by ${by}` }];
}
