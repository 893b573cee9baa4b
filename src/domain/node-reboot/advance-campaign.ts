import type { CampaignCommand } from './command.ts';
import { givenBack } from './move-visit.ts';
import { freshMs, nextCommand } from './next-command.ts';
import { nextVisit } from './next-visit.ts';
import type { CampaignState } from './state.ts';
import type { GivingUp } from './visit.ts';

/** A campaign as far as it comes without the outside, and what is to be done next. */
export interface Advanced {
  readonly state: CampaignState;
  readonly command: CampaignCommand;
}

/**
 * Takes a campaign as far as it comes by itself. Pure: asked again before anything has come of the command, it gives the
 * same one. The state may have changed since the last answer, so that a cancel holds at once.
 *
 * @param now epoch milliseconds
 */
export function advanceCampaign(state: CampaignState, now: number): Advanced {
  const settled = withVisit(withCancel(state, now), now);
  return { state: settled, command: nextCommand(settled, now) };
}

/** A cancel before the reboot gives the node back; from the reboot on the node is finished first. */
function withCancel(state: CampaignState, now: number): CampaignState {
  const { visit, cancel } = state;
  if (visit === null || cancel === null || visit.givingUp !== null) return state;
  const givingUp: GivingUp = { reason: 'Cancelled', message: `${cancel.by} cancelled the campaign`, keepLock: false };
  const given = givenBack(visit, givingUp, now);
  return given === null ? state : { ...state, visit: given };
}

/** Begins a visit where nothing holds it. */
function withVisit(state: CampaignState, now: number): CampaignState {
  const { visit, stopped, cancel, paused, spec, pages, notBefore } = state;
  if (visit !== null || stopped !== null || cancel !== null || pages.length > 0) return state;
  if (paused !== null || spec.suspend || state.observation === null) return state;
  if (notBefore !== null && now < notBefore.at) return state;
  // What was seen longer ago is looked at anew first: meanwhile a reboot daemon may run, or the node another boot.
  if (now - state.observedAt > freshMs) return state;
  const begun = nextVisit(state, now);
  if ('waiting' in begun) return state;
  return { ...state, visit: begun.visit, holds: false, adopting: begun.replaces, notBefore: null };
}
