import type { CampaignCommand, StepName, Waiting } from './command.ts';
import type { LockRecord } from './lock.ts';
import { nextVisit } from './next-visit.ts';
import type { CampaignState } from './state.ts';
import type { Visit } from './visit.ts';

/** What was read is read anew before a turn begins, and gates before a write, when it is older. */
export const freshMs = 60_000;

/**
 * What is to be done next. A pure function of state and time, asked again after every answer and every message.
 *
 * @param now epoch milliseconds
 */
export function nextCommand(state: CampaignState, now: number): CampaignCommand {
  const page = state.pages[0];
  const note = noteStop(state);
  // Before anybody is told, where the API server answers: whoever has nothing but the lock is to find there why it stopped.
  if (note !== null && state.stopped?.inLock === 'not yet') return note;
  // A node that hangs is watched on: its lock says so, and it may come back before anybody takes the page.
  if (page !== undefined && !isHanging(state)) return { do: 'page', page };
  if (note !== null) return note;
  if (state.stopped !== null) return waitFor({ kind: 'person', ...state.stopped }, now);
  if (state.visit !== null) return visitCommand(state, state.visit, now);
  if (state.cancel !== null) return { do: 'done' };
  if (state.spec.suspend || state.paused !== null) return waitFor({ kind: 'resume' }, now);
  if (state.observation === null) return { do: 'look' };
  return startOrWait(state, now);
}

/** Who is to be told of a stop waits so long for the lock to say it. */
const noteFirstMs = 20_000;

function noteStop(state: CampaignState): CampaignCommand | null {
  const { stopped, visit, holds } = state;
  if (stopped === null || visit === null || !holds || stopped.inLock === 'yes') return null;
  const deadline = stopped.inLock === 'tried' ? Number.MAX_SAFE_INTEGER : stopped.at + noteFirstMs;
  return { do: 'noteStop', record: lockRecord(state, visit), deadline };
}

function isHanging({ visit, stopped }: CampaignState): boolean {
  return stopped === null && visit !== null && visit.hungSince !== null && visit.phase === 'Returning';
}

/** The command of a phase, as long as it is this node's turn. */
function visitCommand(state: CampaignState, visit: Visit, now: number): CampaignCommand {
  const record = lockRecord(state, visit);
  if (!state.holds) return { do: 'takeLock', record, replaces: state.adopting };
  const { spec } = state;
  const step = (name: StepName, deadline = Number.MAX_SAFE_INTEGER): CampaignCommand => ({
    do: name,
    record,
    deadline,
  });
  switch (visit.phase) {
    case 'Locking':
    case 'Gating':
      return { do: 'gatesBefore', record };
    case 'Cordoning':
      return step('cordon', (visit.gatesAt ?? 0) + freshMs);
    case 'Moving':
      return step('movePrimaries', visit.since + spec.moveTimeout);
    case 'Draining':
      return step('drain', visit.since + spec.drain.timeout);
    case 'LastCheck':
      return { do: 'lastCheck', record };
    case 'Rebooting':
      return step('reboot', (visit.gatesAt ?? 0) + freshMs);
    case 'Returning':
      // A node that is known to hang is watched for as long as it takes.
      return step('awaitReturn', visit.hungSince === null ? visit.since + spec.returnTimeout : undefined);
    case 'Checking':
      return step('checkNode', visit.since + spec.settleDeadline);
    case 'Uncordoning':
      return step('uncordon');
    case 'Settling':
      return step('settle', visit.since + spec.settleDeadline);
    case 'Releasing':
      return step('releaseLock');
    case 'Restoring':
      return step('restore');
    case 'Restored':
      return waitFor({ kind: 'person', reason: 'Restored', message: visit.givingUp?.message ?? '' }, now);
  }
}

/** Between turns, when nothing could begin: what is waited for. */
function startOrWait(state: CampaignState, now: number): CampaignCommand {
  const { notBefore } = state;
  if (notBefore !== null && now < notBefore.at) {
    return { do: 'wait', for: notBefore.for, until: notBefore.at };
  }
  const begun = nextVisit(state, now);
  return 'visit' in begun ? { do: 'look' } : waitFor(begun.waiting, now);
}

function lockRecord({ name, run }: CampaignState, visit: Visit): LockRecord {
  return { campaign: name, run, visit, reason: reasonOf(visit) };
}

function reasonOf({ node, phase, givingUp, hungSince, stoppedFor }: Visit): string {
  if (stoppedFor !== null) return `${stoppedFor.reason}: ${stoppedFor.message}`;
  if (givingUp !== null) return `node ${node} is given back: ${givingUp.message}`;
  if (hungSince !== null) return `node ${node} hangs since ${new Date(hungSince).toISOString()}`;
  return `node ${node} is being rebooted (${phase})`;
}

/** A wait ends by itself now and then, so that what it knows is read anew. */
const longestWaitMs = 6 * 60 * 60 * 1_000;

function waitFor(waiting: Waiting, now: number): CampaignCommand {
  const until = now + longestWaitMs;
  return { do: 'wait', for: waiting, until: waiting.kind === 'window' ? Math.min(waiting.opensAt, until) : until };
}
