/**
 * One node's turn, as a value: from the lock to its release. `visitCommand` says what to do, the workflow does it by one
 * activity, and `applyResult` takes the answer in.
 */
export interface Visit {
  readonly node: string;
  /** The boot that was offered, and approved where that is asked for; null where it is not known. */
  readonly offeredBoot: string | null;
  /** Of the sentinel that it is rebooted for. */
  readonly sentinel: string;
  /** The kernel that it is to come back with; null where the sentinel names none. */
  readonly kernel: string | null;
  /** When it began, epoch milliseconds; names this visit. */
  readonly startedAt: number;
  /** Grows with each phase, so that a write that comes late is told from one that is due. */
  readonly step: number;
  readonly phase: VisitPhase;
  /** Since when it is in this phase, epoch milliseconds. */
  readonly since: number;
  /** As the node was found before anything was changed; null until then. */
  readonly before: NodeBefore | null;
  /** When all gates last passed, epoch milliseconds; a reading older than a minute is made anew. */
  readonly gatesAt: number | null;
  /** When the reboot was intended: written to the lock before the command. From then on only a boot ends the visit. */
  readonly rebootAt: number | null;
  /** The boot that it came back with: proven another one than before; null until then. */
  readonly bootedAs: string | null;
  /** Since when the node is known to hang; null where it does not. */
  readonly hungSince: number | null;
  readonly uncordonedAt: number | null;
  /** How often the readings before a write were too old by the time of the write, one after the other. */
  readonly staleRounds: number;
  /** Why the node is given back without a reboot; null where it is not. */
  readonly givingUp: GivingUp | null;
  /** Why a person is asked before any next node, whatever the spec says. */
  readonly personNext: string | null;
  /** Why only a person lets it go on; null where it does by itself. It stands in the lock with the rest. */
  readonly stoppedFor: StoppedFor | null;
}

/**
 * The phases of `spec/node-reboot.md`, P2 to P14. `Restoring` gives a node back that is not rebooted; `Restored` keeps the
 * lock after that, until a person decides.
 */
export const visitPhases = [
  'Locking',
  'Gating',
  'Cordoning',
  'Moving',
  'Draining',
  'LastCheck',
  'Rebooting',
  'Returning',
  'Checking',
  'Uncordoning',
  'Settling',
  'Releasing',
  'Restoring',
  'Restored',
] as const;

export type VisitPhase = (typeof visitPhases)[number];

/** What the checks after the boot are held against, and what is put back. */
export interface NodeBefore {
  readonly bootId: string;
  readonly kernel: string;
  /** Bytes, as the kubelet reports its capacity. */
  readonly memory: number;
  /** Somebody else had cordoned it: it stays so. */
  readonly unschedulable: boolean;
}

export interface StoppedFor {
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
}

export interface GivingUp {
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
  /** A failure keeps the lock and stops the campaign; a cancel, or a wish that is gone, does not. */
  readonly keepLock: boolean;
}

/** A visit at its beginning. @param now epoch milliseconds */
export function newVisit(
  node: string,
  sentinel: string,
  kernel: string | null,
  now: number,
  offeredBoot: string | null = null,
): Visit {
  return {
    node,
    offeredBoot,
    sentinel,
    kernel,
    startedAt: now,
    step: 0,
    phase: 'Locking',
    since: now,
    before: null,
    gatesAt: null,
    rebootAt: null,
    bootedAs: null,
    hungSince: null,
    uncordonedAt: null,
    staleRounds: 0,
    givingUp: null,
    personNext: null,
    stoppedFor: null,
  };
}

/** The visit in its next phase, in which it goes on by itself. @param now epoch milliseconds */
export function inPhase(visit: Visit, phase: VisitPhase, now: number, changes: Partial<Visit> = {}): Visit {
  return { ...visit, stoppedFor: null, ...changes, phase, since: now, step: visit.step + 1 };
}
