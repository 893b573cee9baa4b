import type { Condition } from '../core/conditions.ts';
import type { EvidenceLog } from '../core/evidence.ts';
import type { Freeze } from '../core/window.ts';
import type { ResolvedLine } from './observation.ts';
import type { Evaluation, TargetPhase } from './plan.ts';
import type { StepDecision } from './rollout.ts';
import type { ReleaseSpec } from './spec.ts';

/** What a release remembers between passes and through continue-as-new. Plain JSON. */
export interface ReleaseState {
  readonly name: string;
  readonly spec: ReleaseSpec;
  /** Grows with each change of the spec. */
  readonly generation: number;
  readonly paused: PersonMark | null;
  /** A person's pin; outranks `spec.pin` until unpinned. */
  readonly pin: (PersonMark & { readonly image: string }) | null;
  readonly blocked: readonly Blocked[];
  /** When a person unblocked what, epoch milliseconds: a mark on an object that is older than this no longer binds. */
  readonly unblocked: Readonly<Record<string, number>>;
  /** Candidates that age before they may be rolled, by line key. */
  readonly candidates: Readonly<Record<string, Candidate>>;
  readonly targets: Readonly<Record<string, TargetMemory>>;
  /** What ended badly on targets that have since left the spec: it still keeps its image from being started elsewhere. */
  readonly stops?: readonly { readonly target: string; readonly stuck: NonNullable<TargetMemory['stuck']> }[];
  readonly approval: ApprovalState | null;
  /** Steps that people let go on in a rollout of this plan that then could not write anything: they need not say so again. */
  readonly approvedSteps?: { readonly planHash: string; readonly decisions: readonly StepDecision[] } | null;
  /** Entries of finished rollouts, the newest last; bounded. */
  readonly rollouts: readonly RolloutSummary[];
  readonly rolloutCount: number;
  readonly rollbacks: number;
  /** Freezes of all releases, as they were last read. */
  readonly freezes: readonly Freeze[];
  readonly conditions: readonly Condition[];
  readonly evidence: EvidenceLog;
  /** The last evaluation; null before the first. */
  readonly evaluation: Evaluation | null;
  /** What is waited for, and since when (epoch milliseconds); null or absent where nothing is. */
  readonly waits?: { readonly for: string; readonly since: number } | null;
  /** What the last notification of a wait for a person was about; null or absent where nobody is waited for. */
  readonly told?: string | null;
}

export interface PersonMark {
  readonly by: string;
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface Blocked {
  /** `sha256:…` or a version label. */
  readonly image: string;
  readonly by: string;
  readonly reason: string;
  readonly at: number;
  /** Epoch milliseconds until which even an unblocked digest is not tried again; 0 where there is no cooldown. */
  readonly cooldownUntil: number;
  /** Not blocked (any more): only its cooldown holds it, and the entry goes when that is over. */
  readonly cooldownOnly: boolean;
}

/** A frozen candidate: it ages while newer digests queue behind it, and newer ones never reset it. */
export interface Candidate {
  readonly digest: string;
  /** Epoch milliseconds. */
  readonly firstSeen: number;
  /** As it was resolved when first seen: the line itself may have moved on since. */
  readonly resolved: ResolvedLine;
  /** Tried and stopped, or rejected by a person: it no longer holds up what queues behind it. */
  readonly tried: boolean;
  /** What the line resolves to meanwhile, and since when; null where that is the candidate itself. */
  readonly next: { readonly digest: string; readonly firstSeen: number } | null;
}

export interface TargetMemory {
  /** The last image this release wrote to the target; null before the first write and for what was found there. */
  readonly applied: string | null;
  readonly appliedVersion: string | null;
  /**
   * Before the first write: the last image found there that was the wanted one. Another image than this one is drift
   * too, so that a swap is reverted on a target that never needed a write.
   */
  readonly adopted: string | null;
  /** The last image that passed its soak here. */
  readonly passed: string | null;
  /** A phase that outlives the rollout that set it (RolledBack, Failed), until what is wanted changes or a retry. */
  readonly stuck: {
    readonly phase: Extract<TargetPhase, 'RolledBack' | 'Failed' | 'Held'>;
    readonly reason: string;
    readonly message: string;
    /** The image that was being rolled or proven. */
    readonly image: string;
    /** What was wanted for the target then; the phase ends when something else is. */
    readonly wanted: string;
    readonly rollbackTo: string | null;
    readonly at: number;
  } | null;
  /** Next attempt after one that ended before anything was changed, epoch milliseconds. */
  readonly notBefore: number;
  /** Why that attempt ended; null where there was none. */
  readonly notBegun: { readonly reason: string; readonly message: string } | null;
  /** Drifts in a row by one other writer. */
  readonly drifts: {
    readonly writer: string;
    readonly count: number;
    /** The image of the drift that lasts; empty while the target is as it was applied. */
    readonly lastImage: string;
  } | null;
  /** Who let the next attempt go without a passing preflight gate; null once it was used. */
  readonly skipPreflight: PersonMark | null;
}

export interface ApprovalState {
  readonly planHash: string;
  readonly approved: boolean;
  readonly by: string;
  readonly reason: string;
  readonly at: number;
}

export interface RolloutSummary {
  readonly id: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: 'Promoted' | 'RolledBack' | 'Failed' | 'Aborted' | 'Held';
  /** How many rollouts in a row came to just this, without a write; absent for one. `startedAt` is that of the first. */
  readonly attempts?: number;
  readonly message: string;
  readonly targets: readonly {
    readonly name: string;
    readonly phase: TargetPhase;
    readonly from: string;
    readonly to: string;
    readonly reason: string;
  }[];
}
