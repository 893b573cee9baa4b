import { signatureToVerify, type ApprovalToVerify } from '../core/approver.ts';
import { namesPlanHash } from '../core/plan-hash.ts';
import { accepted, refused, type ActionAnswer } from './action-answer.ts';
import type { ActionOf } from './actions.ts';
import { approveCommand, command } from './commands.ts';
import { asksPerNode, offerHash, rebootOffer, type RebootOffer } from './offer.ts';
import { selectNode } from './select-node.ts';
import type { CampaignState } from './state.ts';

interface Offered {
  readonly offer: RebootOffer;
  readonly hash: string;
}

/** What is to be verified about an approval that needs it, or why it is refused already. */
export function approvalToVerify(
  state: CampaignState,
  action: ActionOf<'approve'>,
): ApprovalToVerify | { readonly message: string } {
  const offered = offeredFor(state, action);
  if ('message' in offered) return offered;
  return signatureToVerify(offered.hash, action.signature ?? '', state.spec.approvers ?? []);
}

/** A yes to the node that waits, by its name and by the hash of what is offered. */
export function approve(state: CampaignState, action: ActionOf<'approve'>, now: number): ActionAnswer {
  const offered = offeredFor(state, action);
  if ('message' in offered) return refused(offered.message);
  const { offer, hash } = offered;
  if (state.spec.approvers !== undefined && action.verifiedBy === undefined) {
    return refused(
      `this NodeReboot has approvers, so an approval needs the SSH signature of one of them over the hash: ${approveCommand(state.name, offer.node, hash, state.spec)}`,
    );
  }
  const approval = { by: decider(action), reason: action.reason, at: now, offerHash: hash, covers: offer.covers };
  const others = state.approvals.filter((one) => one.offerHash !== hash);
  const about = asksPerNode(state)
    ? `the reboot of node ${offer.node}`
    : `the reboot of ${Object.keys(offer.covers).join(', ')}`;
  return accepted({ ...state, approvals: [...others, approval] }, `approves ${about} (${hash})${signed(action)}`);
}

/** Who decided: as a signature proved, else as claimed. */
export function decider(action: ActionOf<'approve'>): string {
  return action.verifiedBy ?? action.by;
}

function offeredFor(state: CampaignState, action: ActionOf<'approve'>): Offered | { readonly message: string } {
  const { observation, name, visit } = state;
  const status = command('status', name);
  if (visit !== null) return { message: `node ${visit.node} has its turn already (${visit.phase}); ${status}` };
  const selection = observation === null ? null : selectNode(state.spec, observation, state.done);
  if (selection?.kind !== 'next') {
    return { message: `no node waits for an approval; ${status} says why` };
  }
  const offer = rebootOffer(state, selection.next);
  const hash = offerHash(name, offer);
  if (action.node !== offer.node) {
    return {
      message: `node ${action.node} does not wait for an approval; node ${offer.node} does (${hash}): look at it and decide anew`,
    };
  }
  if (!namesPlanHash(action.plan, hash)) {
    return {
      message: `what is offered has changed: node ${offer.node} waits as ${hash} now; look at it (${status}) and decide anew`,
    };
  }
  return { offer, hash };
}

/** Says by what a decision is proven, and who sent it where that is claimed to be somebody else. */
function signed(action: ActionOf<'approve'>): string {
  if (action.verifiedBy === undefined) return '';
  const sender = action.verifiedBy === action.by ? '' : `, sent by ${action.by}`;
  return `, signed with ${action.signedWith ?? 'a key of theirs'}${sender}`;
}
