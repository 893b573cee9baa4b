import type { ActionOf, ReleaseAction } from './actions.ts';
import { needsVerification } from '../core/approver.ts';
import { approvalToVerify, approve, reject } from './apply-approval.ts';
import { block, unblock } from './apply-block.ts';
import { pin, unpin } from './apply-pin.ts';
import { retry } from './apply-retry.ts';
import { applySpec, setMode } from './apply-spec.ts';
import { accepted, acceptedAgain, refused, type ActionAnswer } from './action-answer.ts';
import { abortCommands } from './commands.ts';
import { handBackRecord } from './hand-back.ts';
import { recordDecision } from './record-decision.ts';
import type { RolloutState } from './rollout.ts';
import { underWay } from './under-way.ts';
import type { ReleaseState } from './state.ts';

/**
 * Takes in what a person asks for, or refuses what is stale, malformed or about nothing that is there. Asking again is
 * accepted where repeating is harmless. What is accepted and new is recorded with who, why and when.
 *
 * @param action as `parseAction` gives it; an approval that needs a signature carries who was found to have signed
 * @param now epoch milliseconds
 * @param rollout the living rollout as last reported; null where there is none
 */
export function applyAction(
  state: ReleaseState,
  action: ReleaseAction,
  now: number,
  rollout: RolloutState | null,
): ActionAnswer {
  const answer = decide(state, action, now, rollout);
  return answer.ok && answer.news
    ? { ...answer, state: recordDecision(answer.state, action, answer.record, now) }
    : answer;
}

/**
 * Why an action would be refused; null where it would be accepted, which for an approval that needs a signature is as
 * far as that can be said before the signature is verified. Changes nothing.
 */
export function whyRefused(
  state: ReleaseState,
  action: ReleaseAction,
  now: number,
  rollout: RolloutState | null,
): string | null {
  if (action.action === 'approve' && needsVerification(state, action)) {
    const asked = approvalToVerify(state, action, rollout);
    if ('message' in asked) return asked.message;
    return whyRefused(state, { ...action, plan: asked.planHash, verifiedBy: action.by }, now, rollout);
  }
  const answer = decide(state, action, now, rollout);
  return answer.ok ? null : answer.message;
}

function decide(state: ReleaseState, action: ReleaseAction, now: number, rollout: RolloutState | null): ActionAnswer {
  switch (action.action) {
    case 'approve':
      return approve(state, action, now, rollout);
    case 'reject':
      return reject(state, action, now, rollout);
    case 'abort':
      return abort(state, action, rollout);
    case 'pause':
      return pause(state, action, now, rollout);
    case 'resume':
      return resume(state, rollout);
    case 'retry':
      return retry(state, action, now);
    case 'pin':
      return pin(state, action, now, rollout);
    case 'unpin':
      return unpin(state);
    case 'block':
      return block(state, action, now, rollout);
    case 'unblock':
      return unblock(state, action, now, rollout);
    case 'setMode':
      return setMode(state, action, rollout);
    case 'applySpec':
      return applySpec(state, action, rollout);
    case 'releaseOwnership':
      return releaseOwnership(state, rollout);
    case 'runNow':
      return accepted(state, 'evaluates now', { effect: 'evaluate' });
  }
}

function abort(state: ReleaseState, action: ActionOf<'abort'>, rollout: RolloutState | null): ActionAnswer {
  if (rollout === null) return refused(`no rollout of release ${state.name} is running, so there is nothing to abort`);
  const now = action.now ? '; a rollback in progress is cut short' : '';
  const record = `aborts rollout ${rollout.id}: no target is started, ${whatAbortDoes(action.how, rollout)}${now}`;
  return accepted(state, record, { forward: true });
}

/** What becomes of each target that the rollout has written to or promoted. */
function whatAbortDoes(how: ActionOf<'abort'>['how'], { targets, release }: RolloutState): string {
  const names = (of: readonly { readonly item: { readonly target: string } }[]) =>
    of.map((t) => t.item.target).join(', ');
  const moving = targets.filter((t) => t.changed && t.step !== 'Done');
  const promoted = targets.filter((t) => t.changed && t.outcome?.phase === 'Current');
  const begun = moving.length === 0 ? 'none is in progress' : `${names(moving)} ${how === 'stop' ? 'stays' : 'goes'}`;
  const inProgress =
    moving.length === 0 ? begun : `${begun} ${how === 'stop' ? 'where it is' : 'back to the image it had'}`;
  const [first] = promoted;
  if (first === undefined) return inProgress;
  const back = `holdfast pin release/${release} ${first.rollbackTo?.image ?? 'IMAGE'}`;
  return `${inProgress}; ${names(promoted)} passed and keeps ${first.item.toLabel}; to bring everything back: ${back}`;
}

function pause(
  state: ReleaseState,
  action: ActionOf<'pause'>,
  now: number,
  rollout: RolloutState | null,
): ActionAnswer {
  const options = { effect: 'evaluate', forward: rollout !== null } as const;
  if (state.paused !== null) return acceptedAgain(state, `pauses what ${state.paused.by} has paused already`, options);
  const paused = { by: action.by, reason: action.reason, at: now };
  return accepted(
    { ...state, paused },
    `pauses: nothing is started or written until resume${underWay(rollout)}`,
    options,
  );
}

function resume(state: ReleaseState, rollout: RolloutState | null): ActionAnswer {
  const options = { effect: 'evaluate', forward: rollout !== null } as const;
  if (state.paused === null) return acceptedAgain(state, 'resumes what is not paused: nothing changes', options);
  return accepted({ ...state, paused: null }, `resumes; it was paused by ${state.paused.by}`, options);
}

function releaseOwnership(state: ReleaseState, rollout: RolloutState | null): ActionAnswer {
  if (rollout !== null) {
    return refused(
      `rollout ${rollout.id} is running; end it first, so that nothing is left half done: ${abortCommands(state.name)}`,
    );
  }
  return accepted(state, handBackRecord(state), { effect: 'release' });
}
