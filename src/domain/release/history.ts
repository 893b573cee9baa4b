import { droppedEvidence, type EvidenceEntry } from '../core/evidence.ts';
import { instant } from './hold.ts';
import type { RolloutStep, TargetPhase } from './plan.ts';
import type { RolloutState } from './rollout.ts';
import type { ReleaseState, RolloutSummary } from './state.ts';
import { shownSteps } from './target-status.ts';

/**
 * What a release has done and what people decided about it, as `history -o json` prints it. Fields are only ever added.
 * Instants are ISO strings; in every list the newest comes last.
 */
export interface ReleaseHistory {
  readonly kind: 'Release';
  readonly name: string;
  /** How many there ever were. */
  readonly rollouts: number;
  readonly rollbacks: number;
  /** The rollout that is under way; null where none is. */
  readonly rollout: RunningView | null;
  /** The last ones that ended. */
  readonly lastRollouts: readonly RolloutView[];
  /** Decisions, overrides and refusals with who, what, why and when, and how rollouts ended. */
  readonly evidence: readonly EvidenceView[];
  /** How many entries of the evidence were left out, so that it stays small. */
  readonly dropped: number;
}

export type RolloutView = Omit<RolloutSummary, 'startedAt' | 'endedAt'> & {
  readonly startedAt: string;
  readonly endedAt: string;
};

/** A rollout that has not ended: what it has come to so far. */
export interface RunningView {
  readonly id: string;
  readonly planHash: string;
  readonly startedAt: string;
  /** A sentence for people. */
  readonly message: string;
  /** The targets that it has begun; `phase` is the step of one that is under way. */
  readonly targets: readonly (Omit<RolloutSummary['targets'][number], 'phase'> & {
    readonly phase: TargetPhase | RolloutStep | 'Waiting';
  })[];
}

export type EvidenceView = Omit<EvidenceEntry, 'at'> & { readonly at: string };

/**
 * The history of a release, as far as it is kept.
 *
 * @param rollout the living rollout as last reported; null where there is none
 */
export function releaseHistory(
  { name, rolloutCount, rollbacks, rollouts, evidence }: ReleaseState,
  rollout: RolloutState | null,
): ReleaseHistory {
  return {
    kind: 'Release',
    name,
    rollouts: rolloutCount,
    rollbacks,
    rollout: rollout === null ? null : runningView(rollout),
    lastRollouts: rollouts.map(rolloutView),
    evidence: evidence.map((entry) => ({ ...entry, at: instant(entry.at) })),
    dropped: droppedEvidence(evidence),
  };
}

/** A rollout that ended, as people are shown it. */
export function rolloutView(summary: RolloutSummary): RolloutView {
  return { ...summary, startedAt: instant(summary.startedAt), endedAt: instant(summary.endedAt) };
}

function runningView({ id, planHash, startedAt, stopped, targets }: RolloutState): RunningView {
  const begun = targets.filter(({ step }) => step !== 'Waiting');
  const promoted = targets.filter(({ outcome }) => outcome?.phase === 'Current').length;
  const count = `${promoted} of ${targets.length} targets promoted so far`;
  return {
    id,
    planHash,
    startedAt: instant(startedAt),
    message: stopped === null ? count : `${count}; ${stopped.message}`,
    targets: begun.map(({ item, step, outcome }) => ({
      name: item.target,
      phase: outcome?.phase ?? shownSteps[step] ?? 'Waiting',
      from: item.from,
      to: item.to,
      reason: outcome?.reason ?? '',
    })),
  };
}
