import { appendEvidence } from '../core/evidence.ts';
import { redact } from '../core/redact.ts';
import type { ReleaseAction } from './actions.ts';
import { deciderOf } from './apply-approval.ts';
import type { RolloutState } from './rollout.ts';
import type { ReleaseState, RolloutSummary } from './state.ts';

/** Keeps what a person decided: who, what, why and when. Letting something go without its gate is an override. */
export function recordDecision(state: ReleaseState, action: ReleaseAction, record: string, now: number): ReleaseState {
  const message = redact(action.reason === '' ? record : `${record}: ${action.reason}`);
  const kind = action.action === 'retry' && action.skipPreflight ? 'override' : 'decision';
  const by = deciderOf(action);
  return {
    ...state,
    evidence: appendEvidence(state.evidence, now, kind, message, { what: `release/${state.name}`, by }),
  };
}

/** Keeps how a rollout ended. */
export function recordOutcome(
  state: ReleaseState,
  rollout: RolloutState,
  summary: RolloutSummary,
  now: number,
): ReleaseState {
  // Only the first of several that came to the same.
  if (summary.attempts !== undefined) return state;
  const message = `rollout ${rollout.id} (plan ${rollout.planHash}) ended as ${summary.outcome}: ${summary.message}`;
  return {
    ...state,
    evidence: appendEvidence(state.evidence, now, 'outcome', message, { what: rollout.id, outcome: summary.outcome }),
  };
}

/** Keeps that a rollout is gone and has not told how it ended. */
export function recordLostRollout(state: ReleaseState, rollout: RolloutState, now: number): ReleaseState {
  const message = `rollout ${rollout.id} was ended from outside before it could tell its outcome: what it has done is read from the targets`;
  return {
    ...state,
    evidence: appendEvidence(state.evidence, now, 'outcome', message, { what: rollout.id, outcome: 'lost' }),
  };
}
