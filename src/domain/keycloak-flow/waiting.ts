import { approveCommand, command, decideCommands } from './commands.ts';
import type { PassResult } from './passes.ts';
import type { KeycloakFlowState } from './state.ts';

/** What a KeycloakFlow waits for, since when, who can lift it, and what happens next. */
export interface Waiting {
  readonly for: string;
  /** ISO instant; null where it is not known. */
  readonly since: string | null;
  /** `outside` is a Keycloak or a source of the switch that does not answer. */
  readonly who: 'person' | 'time' | 'outside';
  readonly next: string;
}

/** Null where nothing is waited for: the realm is as declared. */
export function waitingOf(state: KeycloakFlowState): Waiting | null {
  const { name, spec, paused, rollback, lift, hold, lastRun } = state;
  if (rollback !== null && spec.mode !== 'Enforce')
    return forEnforce(state, `the rollback of ${rollback.by}`, rollback.at);
  if (lift !== null && spec.mode !== 'Enforce')
    return forEnforce(state, `the lifting of the hold by ${lift.by}`, lift.at);
  if (rollback !== null)
    return {
      for: `the rollback of ${rollback.by}`,
      since: iso(rollback.at),
      who: 'outside',
      next: 'it is tried at each pass, and those follow each other within a minute',
    };
  if (spec.suspend)
    return { for: 'spec.suspend', since: null, who: 'person', next: 'set suspend: false and apply the spec' };
  if (lastRun === null) return { for: 'the first pass', since: null, who: 'time', next: 'everything is read' };
  const worst = lastRun.passes.find((pass) => pass.outcome === lastRun.outcome);
  const since = readySince(state);
  switch (lastRun.outcome) {
    case 'Converged':
    case 'Bound':
      return null;
    case 'Undetermined':
      return {
        for: worst?.message ?? 'a reading',
        since,
        who: 'outside',
        next: 'everything is read again at the next pass',
      };
    case 'PendingBind':
      return pendingBind(state);
    case 'Refused':
      return {
        for: worst?.message ?? '',
        since,
        who: 'person',
        next: 'once it is put right, it is read at the next pass',
      };
    case 'Problem':
      if (paused !== null) {
        const next = command('resume', name);
        return { for: `resume: paused by ${paused.by}`, since: iso(paused.at), who: 'person', next };
      }
      if (worst?.reason === 'Drift') return forMode(state, named(worst), since);
      return { for: named(worst), since, who: 'person', next: afterProblem(name, worst, hold !== null) };
  }
}

function pendingBind(state: KeycloakFlowState): Waiting {
  const { pending, hold, name, lastRun } = state;
  const since = pending === null ? null : iso(pending.since);
  const message = lastRun?.passes.find((pass) => pass.outcome === 'PendingBind')?.message ?? '';
  switch (pending?.reason) {
    case 'Held':
      return {
        for: message,
        since: hold === null ? since : iso(hold.at),
        who: 'person',
        next: command('lift-hold', name),
      };
    case 'SwitchedOff':
      return { for: message, since, who: 'person', next: 'set the bind switch to "true", or remove it and approve' };
    case 'Mode':
      return forMode(state, message, since);
    case 'Rejected':
      return { for: message, since, who: 'person', next: `${approveCommand(state)}; or ${command('retry', name)}` };
    case 'NoBind':
      return { for: message, since, who: 'time', next: 'the next pass is not told so' };
    default:
      return { for: message, since, who: 'person', next: decideCommands(state) };
  }
}

/** What the mode in which the last run was made left undone. */
function forMode({ name, spec, paused }: KeycloakFlowState, what: string, since: string | null): Waiting {
  if (spec.mode !== 'Enforce') return { for: what, since, who: 'person', next: command('set-mode', name, 'Enforce') };
  if (paused !== null) return { for: what, since, who: 'person', next: command('resume', name) };
  return { for: what, since, who: 'time', next: 'the next pass is made in Enforce' };
}

function forEnforce({ name, spec }: KeycloakFlowState, what: string, at: number): Waiting {
  return {
    for: `${what}: mode ${spec.mode} writes nothing`,
    since: iso(at),
    who: 'person',
    next: command('set-mode', name, 'Enforce'),
  };
}

function afterProblem(name: string, worst: PassResult | undefined, held: boolean): string {
  switch (worst?.reason) {
    case 'HoldLost':
      return command('rollback', name);
    case 'BoundAway':
    case 'ProofFailed':
    case 'CandidateLeft':
      return `once the cause is gone: ${command('retry', name)}`;
    default:
      return held
        ? 'everything is read again at the next pass; binding is held'
        : 'everything is read again at the next pass';
  }
}

function named(worst: PassResult | undefined): string {
  return worst === undefined ? '' : `${worst.pass} (${worst.reason}): ${worst.message}`;
}

/** When Ready took its present status. */
function readySince({ conditions }: KeycloakFlowState): string | null {
  const ready = conditions.find((condition) => condition.type === 'Ready');
  return ready === undefined ? null : iso(Date.parse(ready.lastTransitionTime));
}

/** An instant as people read it, in UTC to the second. */
export function iso(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}
