import { appendEvidence } from '../core/evidence.ts';
import { canonicalJson } from '../core/plan-hash.ts';
import { redact } from '../core/redact.ts';
import { describeSpecChange } from '../core/spec-change.ts';
import type { ActionOf, KeycloakFlowAction } from './actions.ts';
import { approve, decider, reject } from './apply-approval.ts';
import { command } from './commands.ts';
import { accepted, refused, type ActionAnswer } from './action-answer.ts';
import type { KeycloakFlowState } from './state.ts';

/**
 * Carries an action out, as far as it is one of the workflow itself; what it wants of the realm is done by the run that
 * follows. What was accepted is kept as evidence.
 *
 * @param now epoch milliseconds
 */
export function applyAction(state: KeycloakFlowState, action: KeycloakFlowAction, now: number): ActionAnswer {
  const answer = applied(state, action, now);
  return answer.ok ? { ...answer, state: recorded(answer.state, action, answer.record, now) } : answer;
}

/** Why an action would be refused at this moment; null where it would not. For validators, which change nothing. */
export function whyRefused(state: KeycloakFlowState, action: KeycloakFlowAction, now: number): string | null {
  const answer = applied(state, action, now);
  return answer.ok ? null : answer.message;
}

function applied(state: KeycloakFlowState, action: KeycloakFlowAction, now: number): ActionAnswer {
  switch (action.action) {
    case 'approve':
      return approve(state, action, now);
    case 'reject':
      return reject(state, action, now);
    case 'rollback':
      return rollback(state, action, now);
    case 'liftHold':
      return liftHold(state, action, now);
    case 'pause':
      return pause(state, action, now);
    case 'resume':
      return resume(state);
    case 'retry':
      return retry(state, now);
    case 'setMode':
      return setMode(state, action);
    case 'applySpec':
      return applySpec(state, action);
    case 'releaseOwnership':
      return release(state);
    case 'runNow':
      return accepted(state, action.noBind ? 'runs now, and binds nothing' : 'runs now', {
        effect: 'run',
        noBind: action.noBind,
        callsOff: action.noBind,
      });
  }
}

/** The hold counts from this moment on, before the realm could be written; the run that follows does both in one PUT. */
function rollback(state: KeycloakFlowState, action: ActionOf<'rollback'>, now: number): ActionAnswer {
  if (state.spec.mode !== 'Enforce') {
    return refused(
      `mode ${state.spec.mode} writes nothing, a rollback neither: first ${command('set-mode', state.name, 'Enforce')}, or bind the previous flow in the admin console`,
    );
  }
  const mark = { by: action.by, reason: action.reason, at: now };
  const previous = previousOf(state);
  const to = previous === null ? 'the previous flow' : `"${previous}"`;
  return accepted(
    { ...state, hold: mark, rollback: mark, lift: null, approval: null },
    `holds binding and binds ${to} again`,
    { effect: 'run', callsOff: true },
  );
}

function previousOf({ observation }: KeycloakFlowState): string | null {
  const realm = observation?.realm;
  return realm?.kind === 'read' && realm.value.marks.kind === 'read' ? realm.value.marks.value.previous : null;
}

function liftHold(state: KeycloakFlowState, action: ActionOf<'liftHold'>, now: number): ActionAnswer {
  if (state.rollback !== null) {
    return refused(`the rollback of ${state.rollback.by} is still to be carried out; lift the hold afterwards`);
  }
  if (state.hold === null) return refused('binding is not held, so that there is nothing to lift');
  if (state.spec.mode !== 'Enforce') {
    return refused(
      `the hold stands in the realm, and mode ${state.spec.mode} writes nothing: first ${command('set-mode', state.name, 'Enforce')}`,
    );
  }
  const mark = { by: action.by, reason: action.reason, at: now };
  return accepted({ ...state, lift: mark }, `lifts the hold of ${state.hold.by} on binding`, { effect: 'run' });
}

function pause(state: KeycloakFlowState, action: ActionOf<'pause'>, now: number): ActionAnswer {
  if (state.paused !== null) return accepted(state, `is already paused by ${state.paused.by}`);
  const paused = { by: action.by, reason: action.reason, at: now };
  return accepted({ ...state, paused }, 'pauses: passes go on looking, and nothing is written until resume', {
    effect: 'run',
    callsOff: true,
  });
}

function resume(state: KeycloakFlowState): ActionAnswer {
  if (state.paused === null) return accepted(state, 'is not paused');
  return accepted({ ...state, paused: null }, `resumes; it was paused by ${state.paused.by}`, { effect: 'run' });
}

/** Takes back what stays by itself: proofs, candidates that were given up, a rejection, the stop of binding. */
function retry(state: KeycloakFlowState, now: number): ActionAnswer {
  const cleared = { ...state, proofs: {}, givenUp: {}, rejection: null, stopped: null, forgivenAt: now };
  const ended = [
    ...(state.stopped === null ? [] : ['binding goes on']),
    ...(Object.keys(state.proofs).length === 0 ? [] : ['the login proof is made again']),
    ...(Object.keys(state.givenUp).length === 0 ? [] : ['candidates that were given up are tried again']),
    ...(state.rejection === null ? [] : [`the rejection by ${state.rejection.by} is taken back`]),
  ];
  return accepted(cleared, ['tries again now', ...ended].join('; '), { effect: 'run' });
}

function setMode(state: KeycloakFlowState, action: ActionOf<'setMode'>): ActionAnswer {
  const before = state.spec.mode;
  if (before === action.mode)
    return accepted(state, `sets mode ${action.mode}, which it was already`, { effect: 'run' });
  const spec = { ...state.spec, mode: action.mode };
  return accepted({ ...state, spec, generation: state.generation + 1 }, `sets mode ${action.mode}, was ${before}`, {
    effect: 'run',
    callsOff: true,
  });
}

/** Ended now, a rollback that waits for Keycloak would be forgotten. */
function release(state: KeycloakFlowState): ActionAnswer {
  if (state.rollback !== null && state.spec.mode === 'Enforce') {
    return refused(
      `the rollback of ${state.rollback.by} is still to be carried out; release it afterwards, or give it up by ${command('set-mode', state.name, 'Shadow')} first`,
    );
  }
  return accepted(state, 'leaves the realm as it is and ends', { effect: 'release', callsOff: true });
}

function applySpec(state: KeycloakFlowState, { spec, noBind }: ActionOf<'applySpec'>): ActionAnswer {
  if (canonicalJson(state.spec) === canonicalJson(spec)) return accepted(state, 'applies the spec that it has already');
  if (state.spec.desired.realm !== spec.desired.realm || state.spec.server !== spec.server) {
    return refused(
      `this KeycloakFlow is of realm "${state.spec.desired.realm}" on server "${state.spec.server}"; what it knows is of that realm: give the other realm a KeycloakFlow of its own`,
    );
  }
  const changed = { ...state, spec, generation: state.generation + 1 };
  return accepted(changed, `applies a new spec: ${describeSpecChange(state.spec, spec, told)}`, {
    effect: 'run',
    noBind,
    callsOff: true,
  });
}

/** Fields that say what may happen without a person. */
const told = ['mode', 'suspend'] as const;

/** Keeps what a person decided: who, what, why and when. Binding what was not shown to work is an override. */
function recorded(
  state: KeycloakFlowState,
  action: KeycloakFlowAction,
  record: string,
  now: number,
): KeycloakFlowState {
  const message = redact(action.reason === '' ? record : `${record}: ${action.reason}`);
  const kind = action.action === 'approve' && action.withoutProof ? 'override' : 'decision';
  const details = { what: `keycloakflow/${state.name}`, by: action.action === 'approve' ? decider(action) : action.by };
  return { ...state, evidence: appendEvidence(state.evidence, now, kind, message, details) };
}
