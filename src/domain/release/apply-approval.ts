import { signCommand } from '../core/approval.ts';
import { namesPlanHash } from '../core/plan-hash.ts';
import { accepted, refused, type ActionAnswer } from './action-answer.ts';
import type { ActionOf } from './actions.ts';
import { imageParts } from './deployed-image.ts';
import type { PlanItem } from './plan.ts';
import type { RolloutState } from './rollout.ts';
import type { ReleaseState } from './state.ts';

type Decision = ActionOf<'approve'> | ActionOf<'reject'>;

/** What a decision may be about: steps of a living rollout, or the plan before there is one. */
interface Waiting {
  readonly where: 'rollout' | 'plan';
  readonly planHash: string;
  readonly items: readonly PlanItem[];
}

/**
 * True for an approval whose signature is still to be verified against `spec.approvers`; `applyAction` accepts it once
 * `verifiedBy` names who signed.
 */
export function needsVerification(
  state: Pick<ReleaseState, 'spec'>,
  action: Pick<ActionOf<'approve'>, 'signature' | 'verifiedBy'>,
): boolean {
  return state.spec.approvers !== undefined && action.verifiedBy === undefined && action.signature !== undefined;
}

/** Lets a waiting step go on, or a plan be carried out once Enforce allows it. One plan's approval never covers another. */
export function approve(
  state: ReleaseState,
  action: ActionOf<'approve'>,
  now: number,
  rollout: RolloutState | null,
): ActionAnswer {
  if (state.spec.approvers !== undefined && action.verifiedBy === undefined) {
    const hash = rollout?.planHash ?? state.evaluation?.planHash ?? '';
    return refused(
      `this release has approvers, so an approval needs the SSH signature of one of them over the plan hash: ${signCommand(hash)}`,
    );
  }
  const { approval } = state;
  if (
    rollout === null &&
    approval !== null &&
    !approval.approved &&
    namesPlanHash(action.plan ?? '', approval.planHash)
  ) {
    const { by, reason } = action;
    return accepted(
      { ...state, approval: { planHash: approval.planHash, approved: true, by, reason, at: now } },
      `approves plan ${approval.planHash}, which ${approval.by} had rejected`,
      { effect: 'evaluate' },
    );
  }
  const found = findWaiting(state, action, rollout);
  if ('message' in found) return refused(found.message);
  return decided(state, action, now, found, true);
}

/** Turns a waiting step or a plan down; it is not asked for again until the plan differs, or until approve or retry. */
export function reject(
  state: ReleaseState,
  action: ActionOf<'reject'>,
  now: number,
  rollout: RolloutState | null,
): ActionAnswer {
  const found = findWaiting(state, action, rollout);
  if ('message' in found) return refused(found.message);
  return decided(state, action, now, found, false);
}

function decided(
  state: ReleaseState,
  action: Decision,
  now: number,
  waiting: Waiting,
  approved: boolean,
): ActionAnswer {
  const names = waiting.items.map((item) => item.target);
  const labels = [...new Set(waiting.items.map((item) => item.toLabel))].join(', ');
  const record = `${approved ? 'approves' : 'rejects'} ${labels} on ${names.join(', ')} (plan ${waiting.planHash})`;
  const approval = {
    planHash: waiting.planHash,
    approved,
    by: action.by,
    reason: action.reason,
    at: now,
  };
  const after = approved ? state : withRejectedCandidates(state, waiting.items);
  // In a rollout each step is decided by itself: an approved step must not pass for an approved plan.
  if (waiting.where === 'rollout') return accepted(after, record, { forward: true, decides: names });
  return accepted({ ...after, approval }, record, { effect: 'evaluate' });
}

/** A rejected candidate no longer holds up what queues behind it. */
function withRejectedCandidates(state: ReleaseState, items: readonly PlanItem[]): ReleaseState {
  const digests = new Set(items.map((item) => imageParts(item.to).digest));
  const candidates = Object.fromEntries(
    Object.entries(state.candidates).map(([key, candidate]) => [
      key,
      digests.has(candidate.digest) ? { ...candidate, tried: true } : candidate,
    ]),
  );
  return { ...state, candidates };
}

function findWaiting(
  state: ReleaseState,
  action: Decision,
  rollout: RolloutState | null,
): Waiting | { readonly message: string } {
  const waiting = rollout === null ? waitingPlan(state) : waitingSteps(rollout);
  if (waiting === null) return nothingWaits(state, action, rollout);
  if (action.plan !== undefined && !namesPlanHash(action.plan, waiting.planHash)) {
    return {
      message: `plan ${action.plan} is not the one that waits: that is ${waiting.planHash}; look at it (holdfast status) and decide about it by its own hash`,
    };
  }
  const items =
    action.target === undefined ? waiting.items : waiting.items.filter((item) => item.target === action.target);
  if (items.length === 0) {
    return {
      message: `target ${action.target ?? ''} does not wait for anybody; waiting: ${waiting.items.map((i) => i.target).join(', ')}`,
    };
  }
  const other = items.find((item) => action.digest !== undefined && imageParts(item.to).digest !== action.digest);
  if (other !== undefined) {
    return { message: `digest ${action.digest ?? ''} is not what waits: ${other.target} waits for ${other.to}` };
  }
  return { ...waiting, items };
}

function waitingSteps(rollout: RolloutState): Waiting | null {
  const items = rollout.targets.filter((t) => t.step === 'Approval').map((t) => t.item);
  return items.length === 0 ? null : { where: 'rollout', planHash: rollout.planHash, items };
}

function waitingPlan(state: ReleaseState): Waiting | null {
  const { evaluation, spec } = state;
  if (spec.approval !== 'beforeFirst' || evaluation === null || evaluation.plan.items.length === 0) return null;
  return { where: 'plan', planHash: evaluation.planHash, items: evaluation.plan.items };
}

function nothingWaits(state: ReleaseState, action: Decision, rollout: RolloutState | null): { message: string } {
  if (rollout !== null) {
    return { message: `rollout ${rollout.id} (plan ${rollout.planHash}) waits for nobody at the moment` };
  }
  const stale =
    action.plan === undefined || state.evaluation === null
      ? ''
      : `; plan ${action.plan} is not current, that is ${state.evaluation.planHash}`;
  return { message: `nothing of release ${state.name} waits for an approval${stale}` };
}
