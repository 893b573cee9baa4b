import { checked, rebooted, returned, settled, uncordoned } from './after-reboot.ts';
import { cordoned, drained, gatesBefore, lastCheck, lockTaken, primariesMoved } from './before-reboot.ts';
import { lockLost, released, restored } from './end-visit.ts';
import type { CampaignCommand } from './command.ts';
import type { CampaignResult, VisitResult } from './result.ts';
import type { CampaignState } from './state.ts';
import type { Visit } from './visit.ts';

/**
 * Takes in what came of a command.
 *
 * @param now epoch milliseconds
 */
export function applyResult(state: CampaignState, result: CampaignResult, now: number): CampaignState {
  switch (result.of) {
    case 'woken':
      return state;
    case 'look':
      return { ...state, observation: result.observation, observedAt: now };
    case 'page':
      return { ...state, pages: state.pages.slice(1) };
    default:
      return state.visit === null ? state : ofVisit(state, state.visit, result, now);
  }
}

/**
 * Whether what came of a command still counts: it is about the step that the turn is at. A person may have taken the node over,
 * or have given another spec, while it was under way.
 */
export function stillCounts({ visit }: CampaignState, command: CampaignCommand): boolean {
  if (!('record' in command)) return true;
  const of = command.record.visit;
  return visit !== null && visit.node === of.node && visit.startedAt === of.startedAt && visit.step === of.step;
}

function ofVisit(state: CampaignState, visit: Visit, result: VisitResult, now: number): CampaignState {
  switch (result.of) {
    case 'takeLock':
      return lockTaken(state, visit, result, now);
    case 'gatesBefore':
      return gatesBefore(state, visit, result, now);
    case 'cordon':
      return cordoned(state, visit, result, now);
    case 'movePrimaries':
      return primariesMoved(state, visit, result, now);
    case 'drain':
      return drained(state, visit, result, now);
    case 'lastCheck':
      return lastCheck(state, visit, result, now);
    case 'reboot':
      return rebooted(state, visit, result, now);
    case 'awaitReturn':
      return returned(state, visit, result, now);
    case 'checkNode':
      return checked(state, visit, result, now);
    case 'uncordon':
      return uncordoned(state, visit, result, now);
    case 'settle':
      return settled(state, visit, result, now);
    case 'restore':
      return restored(state, visit, result, now);
    case 'noteStop':
      if (state.stopped === null) return state;
      return { ...state, stopped: { ...state.stopped, inLock: result.written ? 'yes' : 'tried' } };
    case 'releaseLock':
      return released(state, visit, result, now);
    case 'lockLost':
      return lockLost(state, visit, result.message, now);
  }
}
