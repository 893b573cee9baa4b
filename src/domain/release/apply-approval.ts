import { signatureToVerify, type ApprovalToVerify } from '../core/approver.ts';
import { namesDigest } from '../core/image-reference.ts';
import { namesPlanHash } from '../core/plan-hash.ts';
import { accepted, refused, type ActionAnswer } from './action-answer.ts';
import type { ActionOf, ReleaseAction } from './actions.ts';
import { approveCommand, command } from './commands.ts';
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
 * What is to be verified about an approval that needs it (see `needsVerification`), or why it is refused already: it is
 * about nothing that waits, or its signature is none of an approver's.
 */
export function approvalToVerify(
  state: ReleaseState,
  action: ActionOf<'approve'>,
  rollout: RolloutState | null,
): ApprovalToVerify | { readonly message: string } {
  const { approvers = [] } = state.spec;
  const { signature = '' } = action;
  const subject = rejectedPlan(state, action, rollout) ?? findWaiting(state, action, rollout);
  if ('message' in subject) return subject;
  return signatureToVerify(subject.planHash, signature, approvers);
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
      `this release has approvers, so an approval needs the SSH signature of one of them over the plan hash: ${approveCommand(state.name, hash, state.spec)}`,
    );
  }
  const rejected = rejectedPlan(state, action, rollout);
  if (rejected !== null) {
    const approval = {
      planHash: rejected.planHash,
      approved: true,
      by: decider(action),
      reason: action.reason,
      at: now,
    };
    return accepted(
      { ...state, approval },
      `approves plan ${rejected.planHash}, which ${rejected.by} had rejected${signed(action)}`,
      { effect: 'evaluate' },
    );
  }
  const found = findWaiting(state, action, rollout);
  if ('message' in found) return refused(found.message);
  return decided(state, action, now, found, true);
}

/** The plan that an approval takes back the rejection of; null where it is about something else. */
function rejectedPlan(
  { approval }: Pick<ReleaseState, 'approval'>,
  action: ActionOf<'approve'>,
  rollout: RolloutState | null,
): ReleaseState['approval'] {
  if (rollout !== null || approval === null || approval.approved) return null;
  return namesPlanHash(action.plan ?? '', approval.planHash) ? approval : null;
}

/** Who decided: as a signature proved, else as claimed. */
export function decider(action: Decision): string {
  return action.action === 'approve' ? (action.verifiedBy ?? action.by) : action.by;
}

/** Who decided whatever was decided: as a signature proved, else as claimed. */
export function deciderOf(action: ReleaseAction): string {
  return action.action === 'approve' ? decider(action) : action.by;
}

/** Says by what a decision is proven, and who sent it where that is claimed to be somebody else. */
function signed(action: Decision): string {
  if (action.action !== 'approve' || action.verifiedBy === undefined) return '';
  const sender = action.verifiedBy === action.by ? '' : `, sent by ${action.by}`;
  return `, signed with ${action.signedWith ?? 'a key of theirs'}${sender}`;
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
  const does = approved ? 'approves' : 'rejects';
  const goesOn = approved ? whenItGoesOn(state) : '';
  const record = `${does} ${labels} on ${names.join(', ')} (plan ${waiting.planHash})${signed(action)}${goesOn}`;
  const approval = {
    planHash: waiting.planHash,
    approved,
    by: decider(action),
    reason: action.reason,
    at: now,
  };
  const after = approved ? state : withRejectedCandidates(state, waiting.items);
  // In a rollout each step is decided by itself: an approved step must not pass for an approved plan.
  if (waiting.where === 'rollout') return accepted(after, record, { forward: true, decides: names });
  return accepted({ ...after, approval }, record, { effect: 'evaluate' });
}

/** What an approval waits for besides, so that nobody thinks that it has begun. */
function whenItGoesOn({ name, spec, paused, evaluation }: ReleaseState): string {
  if (paused !== null) return `; it goes on once the release is resumed: holdfast resume release/${name}`;
  if (spec.mode !== 'Enforce') return `; it goes on in mode Enforce: holdfast set-mode release/${name} Enforce`;
  const why = evaluation?.modeReason ?? null;
  return why === null ? '' : `; it goes on once Enforce is in force again: ${why}`;
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
      message: `plan ${action.plan} is not the one that waits: that is ${waiting.planHash}; look at it (${command('status', state.name)}) and decide about it by its own hash`,
    };
  }
  const items =
    action.target === undefined ? waiting.items : waiting.items.filter((item) => item.target === action.target);
  if (items.length === 0) {
    return {
      message: `target ${action.target ?? ''} does not wait for anybody; waiting: ${waiting.items.map((i) => i.target).join(', ')}`,
    };
  }
  const { digest } = action;
  const other = items.find((item) => digest !== undefined && !namesDigest(digest, imageParts(item.to).digest));
  if (other !== undefined) {
    return { message: `digest ${digest ?? ''} is not what waits: ${other.target} waits for ${other.to}` };
  }
  const meant = [...new Set(items.map((item) => imageParts(item.to).digest))];
  if (digest !== undefined && meant.length > 1) {
    return { message: `digest ${digest} names several that wait: ${meant.join(', ')}; give more of its digits` };
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
