import { appendEvidence } from '../core/evidence.ts';
import { notification } from '../core/notification.ts';
import type { Verdict } from '../core/verdict.ts';
import { handCommands, handCommandsOfNode } from './by-hand.ts';
import type { CampaignState } from './state.ts';
import { inPhase, type GivingUp, type Visit, type VisitPhase } from './visit.ts';

/** The steps that a campaign's state is made to take; each leaves its line in the evidence. */

/** @param now epoch milliseconds */
export function record(
  state: CampaignState,
  now: number,
  kind: 'reading' | 'write' | 'outcome' | 'notVerified' | 'override',
  message: string,
): CampaignState {
  return { ...state, evidence: appendEvidence(state.evidence, now, kind, message) };
}

/** The visit goes on to another phase. */
export function into(
  state: CampaignState,
  visit: Visit,
  phase: VisitPhase,
  now: number,
  changes: Partial<Visit> = {},
): CampaignState {
  return { ...state, visit: inPhase(visit, phase, now, changes) };
}

/** The visit on its way back, as far as it can still be given back; null from the reboot on. */
export function givenBack(visit: Visit, givingUp: GivingUp, now: number): Visit | null {
  switch (visit.phase) {
    case 'Locking':
    case 'Gating':
      return inPhase(visit, visit.before === null ? 'Releasing' : 'Restoring', now, { givingUp });
    case 'Cordoning':
    case 'Moving':
    case 'Draining':
    case 'LastCheck':
      return inPhase(visit, 'Restoring', now, { givingUp });
    default:
      return null;
  }
}

/** A failure before the reboot: the node is given back as it was found, the lock is kept, and then a person is told. */
export function giveUp(
  state: CampaignState,
  visit: Visit,
  reason: string,
  message: string,
  now: number,
): CampaignState {
  // Whoever has cancelled wants no more of it than that the node is given back.
  const given = givenBack(visit, { reason, message, keepLock: state.cancel === null }, now);
  if (given === null) return stop(state, visit, reason, message, now);
  return record({ ...state, visit: given }, now, 'outcome', `${reason}: ${message}`);
}

/** So often it is read anew because the last reading was too old for the write that rests on it. */
const mostStaleRounds = 5;

/** What was read before a write is read anew, unless that has come to nothing a few times: then reading takes too long. */
export function readAnew(
  state: CampaignState,
  visit: Visit,
  phase: 'Gating' | 'LastCheck',
  message: string,
  now: number,
): CampaignState {
  const rounds = visit.staleRounds + 1;
  if (rounds < mostStaleRounds) return into(state, visit, phase, now, { staleRounds: rounds });
  const why = `${message}, ${rounds} times one after the other: reading the gates takes too long, or the clocks of workers differ`;
  return giveUp(state, visit, 'GatesTooSlow', why, now);
}

/**
 * Only a person lets it go on. Lock and node stay as they are, and the person is told how to go on without Holdfast: about the
 * node alone, where the lock is not ours.
 */
export function stop(state: CampaignState, visit: Visit, reason: string, message: string, now: number): CampaignState {
  // A step of its own, so that it is written to the lock and what comes late is not.
  const halted = { ...visit, step: visit.step + 1, stoppedFor: { reason, message } };
  const stopped = record(
    { ...state, visit: halted, stopped: { reason, message, at: now, inLock: 'not yet' } },
    now,
    'outcome',
    `${reason}: ${message}`,
  );
  const commands = state.holds ? handCommands({ run: state.run, visit: halted }) : handCommandsOfNode(halted);
  const text = commands.length === 0 ? message : `${message}. By hand: ${commands.join(' ')}`;
  return page(stopped, halted, reason, text, now);
}

/** A person is wanted now. Nothing goes on before the page is delivered. */
export function page(state: CampaignState, { node }: Visit, what: string, text: string, now: number): CampaignState {
  const told = notification(what, 'page', `NodeReboot/${state.name}, node ${node}`, text, `${node}/${now}`);
  return { ...state, pages: [...state.pages, told] };
}

/** Why a verdict does not pass, in words. */
export function whyNot(verdict: Verdict): string {
  if (verdict.kind === 'pass') return verdict.message ?? 'it passed';
  return verdict.kind === 'unmeasured' ? `unmeasured: ${verdict.message}` : verdict.message;
}
