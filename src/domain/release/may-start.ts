import type { ReleaseState } from './state.ts';

/**
 * True where the evaluation's plan is to be carried out now: there is one, Enforce is in force, and where a person is
 * to be asked before the first target, this very plan was approved.
 */
export function mayStart(state: ReleaseState): boolean {
  return isReady(state) && !awaitsApproval(state);
}

/**
 * True where a plan is ready but for the approval that `beforeFirst` asks for. Items that write nothing (`verify`) need
 * none: they only prove what is there already.
 */
export function awaitsApproval(state: ReleaseState): boolean {
  const { evaluation, approval, spec } = state;
  if (evaluation === null || !isReady(state) || spec.approval !== 'beforeFirst') return false;
  if (evaluation.plan.items.every((item) => item.action === 'verify')) return false;
  return approval === null || !approval.approved || approval.planHash !== evaluation.planHash;
}

function isReady({ evaluation, spec, paused }: ReleaseState): boolean {
  if (evaluation === null || spec.suspend || paused !== null) return false;
  return evaluation.effectiveMode === 'Enforce' && evaluation.plan.items.length > 0;
}
