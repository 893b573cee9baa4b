import type { Mode } from '../core/mode.ts';

/** What Enforce would do now. A value: printed by Shadow, hashed, approved by that hash, and run unchanged. */
export interface Plan {
  readonly release: string;
  /** In the order of the spec. The first is the canary. */
  readonly items: readonly PlanItem[];
  /** Hash of how it is carried out: the workloads of its targets, and all that proves them (see plan-terms.ts). */
  readonly terms: string;
}

/** One target's part of a plan. */
export interface PlanItem {
  readonly target: string;
  /**
   * `roll` writes `to` and proves it. `verify` writes nothing: `to` is already applied here by this release but has not
   * passed yet (an earlier run was lost in the middle), so gate and soak are done and the way back is kept.
   */
  readonly action: 'roll' | 'verify';
  /** The image as the template has it now. */
  readonly from: string;
  /** `repo:tag@sha256:…`. */
  readonly to: string;
  readonly toLabel: string;
  /** Semver of `to`, where it is known and the label does not tell it. */
  readonly toVersion?: string;
  /** Digests of the manifests in the index that `to` names, by which a block may name it as well. */
  readonly toManifests?: readonly string[];
  readonly why: 'update' | 'drift' | 'pin' | 'unproven';
}

/** Phases of a target as people see them. */
export const targetPhases = [
  'Current',
  'Pending',
  'Held',
  'Drifted',
  'RollingOut',
  'RolledBack',
  'Failed',
  'Unknown',
] as const;
export type TargetPhase = (typeof targetPhases)[number];

/** Sub-phases of RollingOut. */
export const rolloutSteps = [
  'Preflight',
  'Approval',
  'Patching',
  'Rolling',
  'Soaking',
  'RollingBack',
  'Recovering',
] as const;
export type RolloutStep = (typeof rolloutSteps)[number];

/** Stable words for why a target is Held; programs may branch on them. */
export const heldReasons = [
  'Blocked',
  'Cooldown',
  'MajorChange',
  'UnknownVersion',
  'Downgrade',
  'Architecture',
  'ArchitectureUnknown',
  'ZeroReplicas',
  'OnDeleteStrategy',
  'WorkloadPaused',
  'NoSuchContainer',
  'SecondWriter',
  'OtherRelease',
  'MinimumAge',
  'OutsideWindow',
  'Frozen',
  'Rejected',
  'Aborted',
  'StoppedByFailure',
  'MarksUnread',
  // Of an attempt that ended before anything was changed; the next one comes a poll interval later.
  'PreflightFailed',
  'Incumbent',
  'Changed',
  'ImageChanged',
  'WorkloadMissing',
  'AccessDenied',
  'WriteInvalid',
] as const;
export type HeldReason = (typeof heldReasons)[number];

/** True for one of the stable words. */
export function isHeldReason(reason: string): reason is HeldReason {
  return (heldReasons as readonly string[]).includes(reason);
}

/** One target as `status` shows it. */
export interface TargetView {
  readonly name: string;
  readonly cluster: string;
  readonly workload: string;
  readonly phase: TargetPhase;
  readonly step: RolloutStep | null;
  /** A CamelCase word; for Held a `HeldReason`. Empty where the phase says it all. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
  readonly current: string | null;
  readonly desired: string | null;
  readonly desiredLabel: string | null;
  readonly applied: string | null;
  readonly rollbackTo: string | null;
}

/** What one evaluation came to. */
export interface Evaluation {
  /** When it was read, epoch milliseconds; absent where nothing was read, because the release was suspended. */
  readonly at?: number;
  readonly effectiveMode: Mode;
  /** Why the effective mode is lower than the spec's; null where it is not. */
  readonly modeReason: string | null;
  readonly registryReachable: boolean;
  readonly targets: readonly TargetView[];
  /** What Enforce would do now; empty items where there is nothing to do. */
  readonly plan: Plan;
  readonly planHash: string;
  /** Epoch milliseconds at which time alone may change the answer (window, age, cooldown); null where it cannot. */
  readonly changesAt: number | null;
}
