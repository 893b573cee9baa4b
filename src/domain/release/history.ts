import { droppedEvidence, type EvidenceEntry } from '../core/evidence.ts';
import { instant } from './hold.ts';
import type { ReleaseState, RolloutSummary } from './state.ts';

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

export type EvidenceView = Omit<EvidenceEntry, 'at'> & { readonly at: string };

/** The history of a release, as far as it is kept. */
export function releaseHistory({ name, rolloutCount, rollbacks, rollouts, evidence }: ReleaseState): ReleaseHistory {
  return {
    kind: 'Release',
    name,
    rollouts: rolloutCount,
    rollbacks,
    lastRollouts: rollouts.map(rolloutView),
    evidence: evidence.map((entry) => ({ ...entry, at: instant(entry.at) })),
    dropped: droppedEvidence(evidence),
  };
}

/** A rollout that ended, as people are shown it. */
export function rolloutView(summary: RolloutSummary): RolloutView {
  return { ...summary, startedAt: instant(summary.startedAt), endedAt: instant(summary.endedAt) };
}
