import { retryMs } from './before-reboot.ts';
import type { Waiting } from './command.ts';
import { into, record, stop } from './move-visit.ts';
import type { ResultOf } from './result.ts';
import type { CampaignState } from './state.ts';
import type { GivingUp, Visit } from './visit.ts';

/** A node that was not rebooted is as it was found. After a failure the lock stays, and a person is told. */
export function restored(state: CampaignState, visit: Visit, result: ResultOf<'restore'>, now: number): CampaignState {
  if (result.outcome === 'refused') return stop(state, visit, 'RestoreRefused', result.message, now);
  const { givingUp } = visit;
  const written = record(state, now, 'write', result.message);
  if (givingUp?.keepLock !== true) return into(written, visit, 'Releasing', now);
  const kept = { ...visit, phase: 'Restored' as const, since: now };
  return stop(written, kept, givingUp.reason, givingUp.message, now);
}

/** P14: the turn is over. A node that was given back is not begun again at once, unless a person has said so: that is retry. */
export function released(
  state: CampaignState,
  visit: Visit,
  result: ResultOf<'releaseLock'>,
  now: number,
): CampaignState {
  const { givingUp, node } = visit;
  // Who was to be asked before this node is to be asked before the next one still, where this one was not rebooted.
  const personNext = visit.personNext ?? (givingUp === null ? null : state.personNext);
  const overrides = state.overrides.filter(({ usedFor }) => usedFor !== visit.startedAt);
  const how = givingUp === null ? 'was rebooted' : `was given back: ${givingUp.message}`;
  const ended = record(
    { ...state, visit: null, holds: false, observation: null, personNext, overrides },
    now,
    'outcome',
    `node ${node} ${how}; ${result.message}`,
  );
  if (givingUp?.keepLock === true) return ended;
  if (givingUp !== null) return { ...ended, notBefore: { at: now + retryMs, for: heldBy(node, givingUp) } };
  // A yes to one node is used up by its reboot; one to all of them covers the others still.
  const approvals = state.approvals.filter(({ covers }) => Object.keys(covers).some((covered) => covered !== node));
  return { ...ended, approvals };
}

/** What holds a node back that was just given back, as measured. */
function heldBy(node: string, { reason, message }: GivingUp): Waiting {
  return reason === 'GatesNotMet' ? { kind: 'gates', node, message } : { kind: 'refused', node, reason, message };
}

/** The lock is not ours any more: whoever took it decides now, and nothing more is done to the node. */
export function lockLost(state: CampaignState, visit: Visit, message: string, now: number): CampaignState {
  const text = `${message}. Nothing more is done to node ${visit.node}, which was in phase ${visit.phase}`;
  const personNext = visit.personNext ?? state.personNext;
  return { ...stop({ ...state, holds: false, personNext }, visit, 'LockLost', text, now), visit: null };
}
