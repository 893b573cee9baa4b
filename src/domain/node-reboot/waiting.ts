import { nextCommand } from './next-command.ts';
import { approveCommand, command } from './commands.ts';
import { handCommands } from './by-hand.ts';
import type { Waiting } from './command.ts';
import { remoteAccessWarning } from './remote-access.ts';
import type { CampaignState } from './state.ts';

/** What a NodeReboot waits for, since when, who can lift it, and what happens next. */
export interface CampaignWaiting {
  /** One CamelCase word. */
  readonly reason: string;
  readonly for: string;
  /** ISO instant; null where it is not known. */
  readonly since: string | null;
  /** `outside` is something that does not answer, or is not healthy. */
  readonly who: 'person' | 'time' | 'outside';
  readonly next: string;
}

/** Null where nothing is waited for. */
export function waitingOf(state: CampaignState, now: number): CampaignWaiting | null {
  const next = nextCommand(state, now);
  const { visit } = state;
  const since = state.observation === null ? null : iso(state.observation.at);
  const page = state.pages[0];
  const again = 'it is sent again until a receiver of the worker configuration (notify:) takes it';
  if (next.do === 'page') {
    const { what, text } = next.page;
    return {
      reason: 'PageUndelivered',
      for: `somebody to take the page ${what}: ${text}`,
      since,
      who: 'outside',
      next: again,
    };
  }
  if (next.do === 'awaitReturn' && visit !== null && visit.hungSince !== null) {
    return {
      reason: 'Hung',
      for: `node ${visit.node} to come back`,
      since: iso(visit.hungSince),
      who: 'person',
      next: `press its power button; it is watched on, and no other node is touched meanwhile${page === undefined ? '' : `. Nobody has taken the page ${page.what} yet; ${again}`}`,
    };
  }
  // An API server that is away may hold it up.
  if (next.do === 'noteStop' && state.stopped !== null) {
    return { since, ...inWords(state, { kind: 'person', ...state.stopped }) };
  }
  if (next.do !== 'wait') return null;
  return { since, ...inWords(state, next.for) };
}

function inWords(state: CampaignState, waiting: Waiting): Omit<CampaignWaiting, 'since'> & { readonly since?: string } {
  const { name, spec, paused, visit } = state;
  switch (waiting.kind) {
    case 'sentinel':
      return {
        reason: 'NoNodeWantsOne',
        for: 'a node that wants a reboot',
        who: 'person',
        next: 'it is looked for at each interval',
      };
    case 'approval': {
      const { offer, hash } = waiting;
      const to = offer.kernel === null ? '' : `, to come back with kernel ${offer.kernel}`;
      const warning = remoteAccessWarning(offer.node, spec);
      return {
        reason: 'AwaitingApproval',
        for: `an approval of the reboot of node ${offer.node} (${offer.packages.join(', ')})${to}${warning === null ? '' : `; ${warning}`}`,
        who: 'person',
        next: approveCommand(name, offer.node, hash, spec),
      };
    }
    case 'window':
      return {
        reason: 'OutsideWindow',
        for: `the window for node ${waiting.node}`,
        who: 'time',
        next: `it opens at ${iso(waiting.opensAt)}`,
      };
    case 'gates':
      return {
        reason: 'Gates',
        for: `the gates of node ${waiting.node}: ${waiting.message}`,
        who: 'outside',
        next: 'they are read again',
      };
    case 'lock':
      return { reason: 'LockHeld', for: waiting.message, who: 'outside', next: 'it is looked at again' };
    case 'enforce': {
      const why = waiting.reasons.length === 0 ? `mode ${spec.mode} writes nothing` : waiting.reasons.join('; ');
      const lift = waiting.reasons.length === 0 ? command('set-mode', name, 'Enforce') : 'it is looked at again';
      return { reason: 'Mode', for: `the reboot of node ${waiting.node}: ${why}`, who: 'person', next: lift };
    }
    case 'resume': {
      if (paused === null)
        return {
          reason: 'Suspended',
          for: 'spec.suspend',
          who: 'person',
          next: 'set suspend: false and apply the spec',
        };
      return {
        reason: 'Paused',
        for: `resume: paused by ${paused.by}`,
        since: iso(paused.at),
        who: 'person',
        next: command('resume', name),
      };
    }
    case 'refused':
      return { reason: waiting.reason, for: waiting.message, who: 'person', next: 'it is looked at again' };
    case 'unmeasured':
      return { reason: 'Unmeasured', for: waiting.message, who: 'outside', next: 'it is read again' };
    case 'person': {
      const at = state.stopped === null ? {} : { since: iso(state.stopped.at) };
      const byHand = visit === null ? '' : `; by hand: ${handCommands({ run: state.run, visit }).join(' ')}`;
      return {
        reason: waiting.reason,
        for: `${waiting.reason}: ${waiting.message}`,
        ...at,
        who: 'person',
        next: `${command('retry', name)}${byHand}`,
      };
    }
  }
}

/** An instant as people read it, in UTC to the second. */
export function iso(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}
