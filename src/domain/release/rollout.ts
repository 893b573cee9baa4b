import type { Verdict } from '../core/verdict.ts';
import type { Freeze } from '../core/window.ts';
import type { Marks, Placement } from './observation.ts';
import type { PlanItem, RolloutStep, TargetPhase } from './plan.ts';
import type { ReleaseSpec } from './spec.ts';
import type { Blocked } from './state.ts';

/**
 * One rollout: a plan being carried out, as a value. `nextCommand` says what to do for a target, the workflow does it
 * and `applyResult` takes the answer in. No other code decides anything about a rollout.
 */
export interface RolloutState {
  readonly release: string;
  /** Id of this rollout, unique for the release; written into events. */
  readonly id: string;
  readonly planHash: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly spec: ReleaseSpec;
  /** Freezes of all releases, as they were known at the start. */
  readonly freezes: readonly Freeze[];
  /** Effective mode now; anything but Enforce freezes the rollout where it is. */
  readonly mode: 'Observe' | 'Shadow' | 'Enforce';
  /** Set while a person has paused the release: nothing new is started or written, what runs is still watched. */
  readonly paused: boolean;
  readonly abort: Abort | null;
  /** Set by what ends the rollout early, first of all a failure: no target is started after it. */
  readonly stopped: Stop | null;
  /** What is blocked, as far as the release knew when the rollout started or told it since (`setBlocked`). */
  readonly blocked: readonly Blocked[];
  /** What people have approved or rejected in this rollout. */
  readonly decisions: readonly StepDecision[];
  readonly targets: readonly TargetRollout[];
  /** Names of targets by wave; the first wave is the canary alone. */
  readonly waves: readonly (readonly string[])[];
  /**
   * An earlier rollout proved one of these images on another target and ended before the rest. Its canary is then not
   * in this plan, and whoever is to be asked after the canary is asked before the first target.
   */
  readonly canaryBefore: boolean;
}

/** `stop` leaves the target in progress where it is; `rollback` brings it back; `now` cuts even a rollback short. */
export interface Abort {
  readonly how: 'stop' | 'rollback';
  readonly now: boolean;
  readonly by: string;
  readonly reason: string;
}

export interface Stop {
  readonly target: string;
  readonly reason: string;
  readonly message: string;
  /**
   * A measured failure, an unmeasured one, a target that could not be touched (nothing was changed there), a person, or
   * the time: its windows have closed, or a freeze has begun.
   */
  readonly cause: 'measured' | 'unmeasured' | 'held' | 'person' | 'time';
}

export interface StepDecision {
  readonly target: string;
  readonly approved: boolean;
  readonly by: string;
  readonly reason: string;
  readonly at: number;
}

export interface TargetRollout {
  readonly item: PlanItem;
  readonly step: 'Waiting' | RolloutStep | 'Restoring' | 'Passing' | 'Done';
  /** When the step began, epoch milliseconds; its time-out counts from here. */
  readonly since: number;
  /** The running image need not pass the gate first: a person said so, or the item writes nothing (`verify`). */
  readonly skipPreflight: boolean;
  /** True from the moment the image write may have taken effect. From then on `rollbackTo` is set (for `roll`). */
  readonly changed: boolean;
  /** True from the moment the way back was written. */
  readonly wentBack: boolean;
  /** What the release remembers of the target, for when the object itself has no marks. */
  readonly remembered: {
    readonly applied: string | null;
    readonly version: string | null;
    readonly passed: string | null;
  };
  /** Marks as they were before the change, to be put back with the image; null where they are not known. */
  readonly before: Pick<Marks, 'passed' | 'previousImage' | 'previousVersion' | 'upgradedAt' | 'rolledBackAt'> | null;
  readonly rollbackTo: RollbackTarget | null;
  readonly placements: readonly Placement[] | null;
  /** Restart counts per `podUid/container` when the gate passed. */
  readonly restarts: Readonly<Record<string, number>> | null;
  /** Why this target is being rolled back; kept until the end. */
  readonly failure: RolloutFailure | null;
  /** Placements that are to be written back. */
  readonly moved: readonly Placement[];
  /** A pod that keeps a StatefulSet from going back. */
  readonly stuck: StuckPod | null;
  /** Pods that were deleted so that a StatefulSet's rollback could go on, by uid: none is deleted twice. */
  readonly deletedPods: readonly string[];
  readonly outcome: TargetOutcome | null;
}

export interface RolloutFailure {
  /** One CamelCase word: what was measured, `Aborted` by a person, or `Undone` because another target failed. */
  readonly reason: string;
  readonly message: string;
  /** The image itself is proven bad: its digest is blocked in the same write as the way back. */
  readonly block: boolean;
}

export interface RollbackTarget {
  readonly image: string;
  readonly version: string | null;
}

export interface TargetOutcome {
  readonly phase: TargetPhase;
  readonly reason: string;
  readonly message: string;
}

/** What the workflow is to do next for one target. */
export type Command =
  | { readonly do: 'wait'; readonly for: 'wave' | 'approval' | 'enforce' | 'resume' | 'rollout' }
  /** Nothing is done outside: the target's state takes in what people or other targets brought about. */
  | { readonly do: 'settle' }
  | { readonly do: 'preflight' }
  | {
      readonly do: 'patch';
      readonly from: string;
      readonly to: string;
      readonly marks: MarksPatch;
      /** The last write of ours that the preflight saw, by its marks. */
      readonly lastWrite: LastWrite | null;
    }
  | { readonly do: 'watchRollout'; readonly image: string; readonly deadline: number; readonly gateTimeoutMs: number }
  | { readonly do: 'restorePlacements'; readonly placements: readonly Placement[] }
  | { readonly do: 'watchSoak'; readonly image: string; readonly until: number }
  | { readonly do: 'markPassed'; readonly marks: MarksPatch }
  | { readonly do: 'rollBack'; readonly from: string; readonly to: string; readonly marks: MarksPatch }
  | { readonly do: 'watchRecovery'; readonly image: string; readonly deadline: number }
  /** A StatefulSet waits for ever for a broken pod of the template that was taken back: that pod goes, by uid. */
  | { readonly do: 'deletePod'; readonly pod: string; readonly uid: string }
  | { readonly do: 'done' };

/**
 * Tells writes of ours apart by when they were made. Where an object has others than were read before, another run of
 * the release (a reset one, or one after a terminate) has written since.
 */
export type LastWrite = Pick<Marks, 'upgradedAt' | 'rolledBackAt'>;

/** Marks to set in a write; null removes one, absent leaves it. `block` is added to the blocked ones already there. */
export type MarksPatch = {
  readonly [K in Exclude<keyof Marks, 'blocked' | 'placements'>]?: string | null;
} & {
  readonly placements?: readonly Placement[] | null;
  readonly block?: readonly Marks['blocked'][number][];
  readonly unblock?: readonly string[];
};

/** What came of a command. */
export type Result =
  | { readonly of: 'settle' }
  | { readonly of: 'preflight'; readonly verdict: Verdict; readonly found: PreflightFound | null }
  | { readonly of: 'patch' | 'rollBack' | 'markPassed' | 'deletePod'; readonly write: WriteResult }
  | {
      readonly of: 'watchRollout';
      readonly verdict: Verdict;
      readonly restarts: Readonly<Record<string, number>>;
      /** Placements that differ from the snapshot and are to be written again. */
      readonly moved: readonly Placement[];
      /** Set with a failed verdict: whether the image itself is proven bad and its digest is to be blocked. */
      readonly block: boolean;
    }
  | { readonly of: 'restorePlacements'; readonly verdict: Verdict; readonly restored: readonly string[] }
  | { readonly of: 'watchSoak'; readonly verdict: Verdict; readonly samples: number; readonly block: boolean }
  | {
      readonly of: 'watchRecovery';
      readonly verdict: Verdict;
      readonly moved: readonly Placement[];
      /** A pod that keeps a StatefulSet from going back; the verdict is then only what it was so far. */
      readonly stuck?: StuckPod | null;
    };

export interface StuckPod {
  readonly name: string;
  readonly uid: string;
}

export interface PreflightFound {
  /** The running image: the template's, with the digest that the pods report where the template has none. */
  readonly runningImage: string;
  /** What people call it, from the image's own labels, so that a block by label is seen; null where it is not known. */
  readonly runningLabel?: string | null;
  readonly placements: readonly Placement[] | null;
  readonly marks: Marks;
}

/** What came of a write to a workload. */
export type WriteResult =
  /** In effect, read back. `repeated`: it was found already in effect, from a try whose reply was lost. */
  | { readonly kind: 'written'; readonly repeated: boolean }
  /** Refused before anything was written, because the world was not as planned. */
  | {
      readonly kind: 'refused';
      readonly reason: 'Incumbent' | 'Changed' | 'Missing' | 'Denied' | 'Invalid';
      readonly message: string;
      /** An earlier try of the same write may have been in effect meanwhile. */
      readonly afterUnknown?: boolean;
    }
  /** It may or may not be in effect, and could not be read back. */
  | { readonly kind: 'unknown'; readonly message: string };
