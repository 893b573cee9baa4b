/*
 * What NodeReboot promises of the nodes of a cluster, as somebody who only sees nodes and lock can hold it to: nothing here is
 * the product's, so that a mistake of its own is not repeated.
 */

/** A node as a write has left it; null where it is gone. */
export interface NodeFact {
  readonly kind: 'node';
  readonly revision: number;
  readonly name: string;
  readonly node: SeenNode | null;
}

export interface SeenNode {
  readonly ready: boolean;
  readonly unschedulable: boolean;
  /** CAMPAIGN/RUN, where Holdfast says that the cordon is its own. */
  readonly mark: string | null;
  readonly bootId: string;
  /** What Holdfast writes when it gives a node back. */
  readonly lastVisit: string | null;
  /** When Holdfast last wrote to it, as managedFields tell, to the second. */
  readonly writtenAt: string | null;
}

/** The lock as a write has left it. */
export interface LockFact {
  readonly kind: 'lock';
  readonly revision: number;
  /** Null where nobody holds it, or it is gone. */
  readonly lock: SeenLock | null;
  /** Holdfast wrote it so, and no person. */
  readonly ours: boolean;
}

export interface SeenLock {
  readonly campaign: string;
  readonly run: string;
  readonly node: string;
  readonly phase: string;
  readonly undo: string;
  readonly startedAt: number;
  readonly step: number;
  /** The reboot was intended already. */
  readonly rebooting: boolean;
  /** Why the node is given back; null where it is not. */
  readonly givingUp: string | null;
}

export type Fact = NodeFact | LockFact;

/** Everything as it stands after a write. */
interface Scene {
  readonly nodes: ReadonlyMap<string, SeenNode>;
  readonly lock: SeenLock | null;
  /** By node: at which revision it went out, for whatever reason. */
  readonly outSince: ReadonlyMap<string, number>;
  /** The revision from which on the gates that a step rests on were read. */
  readonly gatesReadFrom: number;
  /** By node: the boot on which our cordon came. */
  readonly cordonedOn: ReadonlyMap<string, string>;
}

const nothing: Scene = {
  nodes: new Map(),
  lock: null,
  outSince: new Map(),
  gatesReadFrom: 0,
  cordonedOn: new Map(),
};

/** What a write has broken, as a sentence; null where nothing. */
type Promised = (before: Scene, fact: Fact, after: Scene) => string | null;

const promises: readonly Promised[] = [
  oneNodeAtATime,
  cordonsUnderTheLock,
  beginsWhileAllOthersAreIn,
  givesBackAProvenBoot,
  keepsTheLockOfANodeThatIsOut,
  takesNobodysLock,
  writesTheWayOut,
];

/** Each promise that a story breaks, and where. @param story in any order: it is told by revision */
export function brokenPromises(story: readonly Fact[]): string[] {
  const broken: string[] = [];
  let scene = nothing;
  for (const fact of story.toSorted((a, b) => a.revision - b.revision)) {
    const after = next(scene, fact);
    for (const promised of promises) {
      const why = promised(scene, fact, after);
      if (why !== null) broken.push(`at revision ${fact.revision}: ${why}`);
    }
    scene = after;
  }
  return broken;
}

function next(scene: Scene, fact: Fact): Scene {
  if (fact.kind === 'lock') {
    const reads = fact.lock?.phase === 'Gating' || fact.lock?.phase === 'LastCheck';
    return { ...scene, lock: fact.lock, ...(reads ? { gatesReadFrom: fact.revision } : {}) };
  }
  const { name, node, revision } = fact;
  const nodes = new Map(scene.nodes);
  const outSince = new Map(scene.outSince);
  const cordonedOn = new Map(scene.cordonedOn);
  if (node === null) nodes.delete(name);
  else nodes.set(name, node);
  if (node === null || !isOut(node)) outSince.delete(name);
  else if (!outSince.has(name)) outSince.set(name, revision);
  if (node !== null && isOurCordon(scene, fact)) cordonedOn.set(name, node.bootId);
  return { ...scene, nodes, outSince, cordonedOn };
}

function isOut({ ready, unschedulable }: SeenNode): boolean {
  return !ready || unschedulable;
}

/** A write that cordons in our name. One that was there when the story begins is nobody's. */
function isOurCordon({ nodes }: Scene, { name, node }: NodeFact): boolean {
  const was = nodes.get(name);
  if (was === undefined || node === null) return false;
  return (was.mark === null && node.mark !== null) || (isByUs(was, node) && !was.unschedulable && node.unschedulable);
}

function isByUs(was: SeenNode, node: SeenNode): boolean {
  return was.lastVisit !== node.lastVisit || (node.writtenAt !== null && was.writtenAt !== node.writtenAt);
}

function oneNodeAtATime(before: Scene, _: Fact, after: Scene): string | null {
  const ours = ({ nodes }: Scene) =>
    [...nodes].filter(([, node]) => node.mark !== null && isOut(node)).map(([name]) => name);
  const out = ours(after);
  if (out.length < 2 || ours(before).length >= 2) return null;
  return `${out.join(' and ')} are out at once, each with our mark`;
}

function cordonsUnderTheLock(before: Scene, fact: Fact, { lock }: Scene): string | null {
  if (fact.kind !== 'node' || fact.node === null || !isOurCordon(before, fact)) return null;
  if (lock === null) return `${fact.name} is cordoned by us, and nobody holds the lock`;
  if (lock.node !== fact.name) return `${fact.name} is cordoned by us under the lock of ${lock.node}`;
  if (lock.phase !== 'Cordoning') return `${fact.name} is cordoned by us while the lock says ${lock.phase}`;
  if (fact.node.mark === `${lock.campaign}/${lock.run}`) return null;
  return `${fact.name} is cordoned by ${fact.node.mark ?? 'nobody'} under the lock of ${lock.campaign}/${lock.run}`;
}

/** Both where a node begins, by its cordon, and where it is rebooted. What happens after the gates were read is not seen by them. */
function beginsWhileAllOthersAreIn(before: Scene, fact: Fact, after: Scene): string | null {
  const begins = fact.kind === 'node' ? isOurCordon(before, fact) : isToReboot(before, fact);
  if (!begins) return null;
  const turn = fact.kind === 'node' ? fact.name : (fact.lock?.node ?? '');
  const others = [...after.outSince].filter(([name, since]) => name !== turn && since < after.gatesReadFrom);
  if (others.length === 0) return null;
  const what = fact.kind === 'node' ? 'cordoned' : 'to be rebooted';
  return `${turn} is ${what} while ${others.map(([name]) => name).join(' and ')} was out before the gates were read`;
}

function isToReboot({ lock: was }: Scene, { lock, ours }: LockFact): boolean {
  return ours && lock?.phase === 'Rebooting' && was?.step !== lock.step;
}

/** Given back: our mark or the cordon is taken off by us. */
function givesBackAProvenBoot(before: Scene, fact: Fact, { lock }: Scene): string | null {
  if (fact.kind !== 'node' || fact.node === null) return null;
  const was = before.nodes.get(fact.name);
  if (was === undefined || !isByUs(was, fact.node)) return null;
  const isGivenBack = (was.mark !== null && fact.node.mark === null) || (was.unschedulable && !fact.node.unschedulable);
  if (!isGivenBack) return null;
  if (lock?.node !== fact.name) return `${fact.name} is given back by us without its lock`;
  if (lock.phase === 'Restoring') {
    return lock.rebooting ? `${fact.name} is given back as if it had not been told to reboot` : null;
  }
  if (lock.phase !== 'Uncordoning') return `${fact.name} is given back by us while the lock says ${lock.phase}`;
  if (!lock.rebooting) return `${fact.name} is given back as rebooted, and no reboot was intended`;
  if (fact.node.bootId === before.cordonedOn.get(fact.name)) {
    return `${fact.name} is given back as rebooted on the boot on which it was cordoned`;
  }
  return null;
}

/** But where a person took the lock away, and answers for the node. */
function keepsTheLockOfANodeThatIsOut({ lock: was, nodes }: Scene, fact: Fact): string | null {
  if (fact.kind !== 'lock' || !fact.ours || fact.lock !== null || was === null) return null;
  if (was.givingUp === 'ReleasedByHand') return null;
  const node = nodes.get(was.node);
  return (node?.mark ?? null) === null ? null : `the lock is given back while ${was.node} carries our mark`;
}

/** Nor is a record replaced by an earlier one. A new run may go on with the turn that it found. */
function takesNobodysLock({ lock: was }: Scene, fact: Fact): string | null {
  if (fact.kind !== 'lock' || !fact.ours || fact.lock === null || was === null) return null;
  const { campaign, node, startedAt, step } = fact.lock;
  if (campaign !== was.campaign || node !== was.node || startedAt !== was.startedAt) {
    return `the lock of ${was.campaign} for ${was.node} is overwritten by ${campaign} for ${node}`;
  }
  return step < was.step ? `the lock goes back from step ${was.step} to ${step}` : null;
}

function writesTheWayOut(_: Scene, fact: Fact): string | null {
  if (fact.kind !== 'lock' || !fact.ours || fact.lock === null || fact.lock.undo.trim() !== '') return null;
  return `the lock of ${fact.lock.node} in ${fact.lock.phase} says nothing of the way out`;
}
