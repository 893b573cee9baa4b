import { appendEvidence } from '../core/evidence.ts';
import type { ReleaseAction } from './actions.ts';
import type { RolloutState } from './rollout.ts';
import type { ReleaseState, RolloutSummary } from './state.ts';

/** Keeps what a person decided: who, what, why and when. */
export function recordDecision(state: ReleaseState, action: ReleaseAction, record: string, now: number): ReleaseState {
  const why = action.reason === '' ? '' : `: ${action.reason}`;
  return { ...state, evidence: appendEvidence(state.evidence, now, 'decision', `${action.by} ${record}${why}`) };
}

/** Keeps how a rollout ended. */
export function recordOutcome(
  state: ReleaseState,
  rollout: RolloutState,
  summary: RolloutSummary,
  now: number,
): ReleaseState {
  const message = `rollout ${rollout.id} (plan ${rollout.planHash}) ended as ${summary.outcome}: ${summary.message}`;
  return { ...state, evidence: appendEvidence(state.evidence, now, 'outcome', message) };
}
