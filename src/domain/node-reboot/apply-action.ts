import { formatDuration } from '../core/duration.ts';
import { appendEvidence } from '../core/evidence.ts';
import { canonicalJson } from '../core/plan-hash.ts';
import { redact } from '../core/redact.ts';
import { describeSpecChange } from '../core/spec-change.ts';
import { accepted, refused, type ActionAnswer } from './action-answer.ts';
import type { ActionOf, NodeRebootAction } from './actions.ts';
import { approve, decider } from './apply-approval.ts';
import { handCommands, nodeCommand } from './by-hand.ts';
import { command } from './commands.ts';
import { whyUnforcible } from './gate.ts';
import type { CampaignState, PersonMark } from './state.ts';
import { inPhase, type Visit, type VisitPhase } from './visit.ts';

/**
 * Carries an action out, as far as it is one of the campaign itself. What was accepted is kept as evidence.
 *
 * @param now epoch milliseconds
 */
export function applyAction(state: CampaignState, action: NodeRebootAction, now: number): ActionAnswer {
  const answer = applied(state, action, now);
  return answer.ok ? { ...answer, state: recorded(answer.state, action, answer.record, now) } : answer;
}

/** Why an action would be refused at this moment; null where it would not. For validators, which change nothing. */
export function whyRefused(state: CampaignState, action: NodeRebootAction, now: number): string | null {
  const answer = applied(state, action, now);
  return answer.ok ? null : answer.message;
}

function applied(state: CampaignState, action: NodeRebootAction, now: number): ActionAnswer {
  switch (action.action) {
    case 'approve':
      return approve(state, action, now);
    case 'force':
      return force(state, action, now);
    case 'cancel':
      return cancel(state, action, now);
    case 'releaseLock':
      return releaseLock(state, action, now);
    case 'pause':
      if (state.paused !== null) return accepted(state, `is already paused by ${state.paused.by}`);
      return accepted({ ...state, paused: mark(action, now) }, 'pauses: no further node is begun until resume');
    case 'resume':
      if (state.paused === null) return accepted(state, 'is not paused');
      return accepted({ ...state, paused: null }, `resumes; it was paused by ${state.paused.by}`);
    case 'retry':
      return retry(state, now);
    case 'setMode':
      return setMode(state, action);
    case 'applySpec':
      return applySpec(state, action);
    case 'runNow':
      return accepted({ ...state, observation: null, notBefore: null }, 'looks now');
  }
}

/** Sets one gate aside for one visit of one node. What the product promises cannot be set aside. */
function force(state: CampaignState, action: ActionOf<'force'>, now: number): ActionAnswer {
  const { gate, node, by, reason } = action;
  const never = whyUnforcible(gate);
  if (never !== null) return refused(`gate ${gate} cannot be set aside: ${never}`);
  const known = [...state.gates, ...(state.observation?.gates ?? [])].map((one) => one.gate);
  if (!known.includes(gate)) {
    const names = [...new Set(known)].filter((name) => whyUnforcible(name) === null).sort();
    return refused(`no gate "${gate}" was read; there are ${names.length === 0 ? 'none yet' : names.join(', ')}`);
  }
  const override = { gate, node, by, reason, at: now, expiresAt: now + action.for, usedFor: null };
  const others = state.overrides.filter(
    (one) => one.usedFor !== null || (now < one.expiresAt && (one.gate !== gate || one.node !== node)),
  );
  return accepted(
    { ...state, overrides: [...others, override], notBefore: null },
    `sets gate ${gate} aside for node ${node}, once and for ${formatDuration(action.for)} at most`,
  );
}

/** Ends the campaign: at once, or after the node that cannot be given back any more. */
function cancel(state: CampaignState, action: ActionOf<'cancel'>, now: number): ActionAnswer {
  const { visit, stopped, name, run } = state;
  const cancelled = { ...state, cancel: mark(action, now) };
  if (visit === null && stopped?.reason === 'LockLost') {
    return refused(
      `${stopped.message}: look at it, and at the lock; ${command('retry', name)} goes on, and cancel ends it then`,
    );
  }
  if (visit === null) return accepted({ ...cancelled, stopped: null }, 'ends the campaign');
  if (visit.phase === 'Restored') {
    return accepted(
      { ...cancelled, stopped: null, visit: inPhase(visit, 'Releasing', now) },
      'gives the lock back and ends',
    );
  }
  if (stopped !== null) {
    return refused(
      `node ${visit.node} is out (${stopped.reason}), and nothing but a person can give it back: ${handCommands({ run, visit }).join(' ')}; or ${command('retry', name)} to look again, or ${command('release-lock', name, '--node', visit.node)} to leave it as it is`,
    );
  }
  return accepted(
    cancelled,
    `ends the campaign; node ${visit.node} is ${visit.rebootAt === null ? 'given back' : 'finished'} first`,
  );
}

/** Gives the lock back and leaves the node as it is: a person answers for it from then on. */
function releaseLock(state: CampaignState, action: ActionOf<'releaseLock'>, now: number): ActionAnswer {
  const { visit, stopped } = state;
  if (visit === null) return refused('no node has its turn, so that there is no lock to release');
  if (visit.node !== action.node) return refused(`it is the turn of node ${visit.node}, not of ${action.node}`);
  if (stopped === null && visit.hungSince === null) {
    return refused(`node ${visit.node} is being worked on (${visit.phase}); first ${command('cancel', state.name)}`);
  }
  const message = `${action.by} took it over`;
  const givingUp = { reason: 'ReleasedByHand', message, keepLock: false };
  // It was told to reboot, and nobody has seen that it did: whatever the spec says, it is not told again unasked.
  const personNext = visit.rebootAt === null ? visit.personNext : `${action.by} took node ${visit.node} over`;
  const given = inPhase(visit, 'Releasing', now, { givingUp, personNext });
  const left = nodeCommand(visit);
  return accepted(
    { ...state, stopped: null, visit: given },
    `releases the lock and leaves node ${visit.node} as it is${left === '' ? '' : `; to give it back: ${left}`}`,
  );
}

/** Goes on from where it stopped: looks at the node again, or begins anew where the node was given back. */
function retry(state: CampaignState, now: number): ActionAnswer {
  const { visit, stopped } = state;
  if (visit === null) {
    return accepted(
      { ...state, stopped: null, notBefore: null, observation: null, done: {} },
      'looks again at every node',
    );
  }
  if (stopped === null) return accepted(state, `goes on with node ${visit.node} as it does already`);
  return accepted(
    { ...state, stopped: null, visit: again(visit, now) },
    `goes on with node ${visit.node} after ${stopped.reason}`,
  );
}

/** Where a visit that had stopped goes on. A person may have booted the node anew, so that it is looked for as after a reboot. */
function again(visit: Visit, now: number): Visit {
  switch (visit.phase) {
    case 'Restored':
      return inPhase(visit, 'Releasing', now);
    case 'Checking':
    case 'Uncordoning':
      return inPhase(visit, 'Returning', now, { bootedAs: null });
    default:
      return inPhase(visit, visit.phase, now);
  }
}

function setMode(state: CampaignState, { mode }: ActionOf<'setMode'>): ActionAnswer {
  const busy = whileOut(state);
  if (busy !== null && mode !== 'Enforce') return refused(busy);
  if (state.spec.mode === mode) return accepted(state, `sets mode ${mode}, which it was already`);
  const spec = { ...state.spec, mode };
  return accepted({ ...state, spec, generation: state.generation + 1 }, `sets mode ${mode}, was ${state.spec.mode}`);
}

/** Fields that say what may happen without a person. */
const told = ['mode', 'suspend', 'approval'] as const;

function applySpec(state: CampaignState, { spec }: ActionOf<'applySpec'>): ActionAnswer {
  if (canonicalJson(state.spec) === canonicalJson(spec)) return accepted(state, 'applies the spec that it has already');
  const { visit, holds } = state;
  const busy = whileOut(state);
  if (busy !== null && (spec.cluster !== state.spec.cluster || spec.mode !== 'Enforce')) return refused(busy);
  return accepted(
    {
      ...state,
      ...{ spec, generation: state.generation + 1 },
      ...{ observation: null, notBefore: null, visit: holds && visit !== null ? heard(visit) : visit },
    },
    `applies a new spec: ${describeSpecChange(state.spec, spec, told)}`,
  );
}

/** What reads or waits on and on, so that it can be begun anew; a write is never. */
const begunAnew: readonly VisitPhase[] = ['Gating', 'Draining', 'LastCheck', 'Returning', 'Checking', 'Settling'];

/** What is under way goes by the spec that it began with: it becomes another step, so that it is cut short and counts no more. */
function heard(visit: Visit): Visit {
  return begunAnew.includes(visit.phase) ? { ...visit, step: visit.step + 1 } : visit;
}

/** A node that is out is brought back first: in another mode nothing could be written. */
function whileOut({ visit, name }: CampaignState): string | null {
  if (visit === null) return null;
  return `node ${visit.node} has its turn (${visit.phase}) and must be brought back first; ${command('cancel', name)} does that and ends`;
}

/** Keeps what a person decided: who, what, why and when. */
function recorded(state: CampaignState, action: NodeRebootAction, record: string, now: number): CampaignState {
  const message = redact(action.reason === '' ? record : `${record}: ${action.reason}`);
  const kind = action.action === 'force' || action.action === 'releaseLock' ? 'override' : 'decision';
  const details = { what: `nodereboot/${state.name}`, by: action.action === 'approve' ? decider(action) : action.by };
  return { ...state, evidence: appendEvidence(state.evidence, now, kind, message, details) };
}

function mark({ by, reason }: { readonly by: string; readonly reason: string }, now: number): PersonMark {
  return { by, reason, at: now };
}
