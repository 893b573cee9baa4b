import { signatureToVerify, type ApprovalToVerify } from '../core/approver.ts';
import { namesPlanHash } from '../core/plan-hash.ts';
import { accepted, refused, type ActionAnswer } from './action-answer.ts';
import type { ActionOf } from './actions.ts';
import { approveCommand, command } from './commands.ts';
import type { KeycloakFlowState, PendingBind } from './state.ts';

type Decision = ActionOf<'approve'> | ActionOf<'reject'>;

/** What is to be verified about an approval that needs it, or why it is refused already. */
export function approvalToVerify(
  state: KeycloakFlowState,
  action: ActionOf<'approve'>,
): ApprovalToVerify | { readonly message: string } {
  const { approvers = [] } = state.spec;
  const waiting = waitingFor(state, action);
  if ('message' in waiting) return waiting;
  const { signature = '' } = action;
  return signatureToVerify(waiting.offerHash, signature, approvers);
}

/** A yes to the candidate that waits, by its name and by the hash of what is offered. */
export function approve(state: KeycloakFlowState, action: ActionOf<'approve'>, now: number): ActionAnswer {
  const refusal = approvalsRefused(state);
  if (refusal !== null) return refused(refusal);
  const waiting = waitingFor(state, action);
  if ('message' in waiting) return refused(waiting.message);
  const { offer, offerHash } = waiting;
  if (offer.proof !== 'passed' && !action.withoutProof) {
    return refused(
      `no login was shown for "${offer.candidate}"; ${command('status', state.name)} says why. To bind it all the same, say so: ${approveCommand({ ...state, pending: waiting })}`,
    );
  }
  if (state.spec.approvers !== undefined && action.verifiedBy === undefined) {
    return refused(
      `this KeycloakFlow has approvers, so an approval needs the SSH signature of one of them over the hash: ${approveCommand({ ...state, pending: waiting })}`,
    );
  }
  const approval = {
    candidate: offer.candidate,
    treeHash: offer.treeHash,
    offerHash,
    withoutProof: action.withoutProof,
    by: decider(action),
    reason: action.reason,
    at: now,
  };
  const shown = offer.proof === 'passed' ? '' : ', knowing that no login was shown';
  return accepted(
    { ...state, approval, rejection: null },
    `approves "${offer.candidate}" in place of "${offer.from}" (${offerHash})${shown}${signed(action)}`,
    { effect: 'run' },
  );
}

/** A no to the candidate that waits: it is not asked for again until something about it differs. */
export function reject(state: KeycloakFlowState, action: ActionOf<'reject'>, now: number): ActionAnswer {
  const waiting = waitingFor(state, action);
  if ('message' in waiting) return refused(waiting.message);
  const { offer, offerHash, reason } = waiting;
  if (reason !== 'AwaitingApproval') {
    return refused(
      `"${offer.candidate}" waits for no approval (${reason}); ${command('pause', state.name)} keeps it from being bound`,
    );
  }
  const rejection = { offerHash, candidate: offer.candidate, by: action.by, reason: action.reason, at: now };
  return accepted({ ...state, rejection, approval: null }, `rejects "${offer.candidate}" (${offerHash})`, {
    effect: 'run',
    callsOff: true,
  });
}

/** Who decided: as a signature proved, else as claimed. */
export function decider(action: Decision): string {
  return action.action === 'approve' ? (action.verifiedBy ?? action.by) : action.by;
}

/** What outranks every approval. */
function approvalsRefused({ name, hold, observation, stopped }: KeycloakFlowState): string | null {
  if (hold !== null) return `binding is held by ${hold.by}; first ${command('lift-hold', name)}`;
  if (stopped !== null) return stopped.message;
  const bindSwitch = observation?.bindSwitch;
  if (bindSwitch?.kind === 'read' && bindSwitch.value === 'false') {
    return 'the bind switch is "false", which no approval outranks; remove it to approve by hand, or set it to "true"';
  }
  return null;
}

function waitingFor(
  { name, pending }: KeycloakFlowState,
  action: Decision,
): PendingBind | { readonly message: string } {
  if (pending === null)
    return { message: `no candidate waits to be bound; ${command('status', name)} says what is bound and why` };
  const { offer, offerHash } = pending;
  if (action.candidate !== offer.candidate) {
    return {
      message: `"${action.candidate}" is not what waits: that is "${offer.candidate}" (${offerHash}); look at it and decide anew`,
    };
  }
  if (!namesPlanHash(action.plan, offerHash)) {
    return {
      message: `what is offered has changed: "${offer.candidate}" waits as ${offerHash} now, in place of "${offer.from}", its proof ${offer.proof}; look at it (${command('status', name)}) and decide anew`,
    };
  }
  return pending;
}

/** Says by what a decision is proven, and who sent it where that is claimed to be somebody else. */
function signed(action: ActionOf<'approve'>): string {
  if (action.verifiedBy === undefined) return '';
  const sender = action.verifiedBy === action.by ? '' : `, sent by ${action.by}`;
  return `, signed with ${action.signedWith ?? 'a key of theirs'}${sender}`;
}
