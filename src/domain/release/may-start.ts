import type { ReleaseState } from './state.ts';

/** True where the evaluation's plan is to be carried out now: there is one, and Enforce is in force. */
export function mayStart(state: ReleaseState): boolean {
  const { evaluation } = state;
  if (evaluation === null || state.spec.suspend || state.paused !== null) return false;
  return evaluation.effectiveMode === 'Enforce' && evaluation.plan.items.length > 0;
}
