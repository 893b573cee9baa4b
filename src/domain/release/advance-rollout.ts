import type { RolloutState, Stop, TargetOutcome, TargetRollout } from './rollout.ts';
import { timeHold } from './time-hold.ts';

/** Why a target was not begun that the spec has no more. */
export const LEFT_SPEC = 'LeftSpec';

/**
 * Takes in what follows by itself, without anything being read or written: windows that have closed and freezes stop the
 * rollout, a stopped rollout ends what has not begun, `onFailure: undo` sends promoted targets back, and an open wave
 * begins. Every change of a rollout ends with it.
 *
 * @param now epoch milliseconds
 */
export function advance(state: RolloutState, now: number): RolloutState {
  const timely = stopAtTime(state, now);
  return openWave(undoPromoted(endUnstarted(timely, now), now), now);
}

/** True while nothing may be written and nothing begun: any mode but Enforce, or a pause that no abort has ended. */
export function isFrozen(state: RolloutState): boolean {
  return state.mode !== 'Enforce' || (state.paused && state.abort === null);
}

/** True once a target that was not begun must not be. */
export function isStopping(state: RolloutState): boolean {
  return state.stopped !== null || state.abort !== null;
}

/** True where a person left a rollback that was under way (`--now`); the rollback that an abort itself asks for goes on. */
export function isCutShort({ abort }: Pick<RolloutState, 'abort'>, { failure }: TargetRollout): boolean {
  return abort?.now === true && !(abort.how === 'rollback' && failure?.reason === 'Aborted');
}

/** True for a target that was not begun because the spec has it no more: nothing waits for it. */
function hasLeft({ outcome }: TargetRollout): boolean {
  return outcome?.reason === LEFT_SPEC;
}

/** True where the target's wave is open: all targets of the waves before it were promoted. */
export function isWaveOpen(state: RolloutState, target: string): boolean {
  const index = state.waves.findIndex((wave) => wave.includes(target));
  const before = new Set(state.waves.slice(0, index).flat());
  return state.targets
    .filter((t) => before.has(t.item.target) && !hasLeft(t))
    .every((t) => t.outcome?.phase === 'Current');
}

/**
 * The name under which a target's step is asked for: its own under `beforeEach`; under `afterCanary` the first after the
 * canary, once for all. Null where nobody is asked, which is so for a target that nothing is written to.
 */
export function approvalFor(state: RolloutState, target: TargetRollout): string | null {
  if (target.item.action === 'verify') return null;
  if (state.spec.approval === 'beforeEach') return target.item.target;
  if (state.spec.approval !== 'afterCanary' || isCanary(state, target)) return null;
  const first = state.targets.find((t) => t.item.action === 'roll' && !isCanary(state, t));
  return first?.item.target ?? null;
}

function isCanary(state: RolloutState, target: TargetRollout): boolean {
  return !state.canaryBefore && state.waves[0]?.includes(target.item.target) === true;
}

/** True where a person let this step go on. */
export function isApproved(state: RolloutState, asked: string): boolean {
  return state.decisions.some((decision) => decision.target === asked && decision.approved);
}

/** One target's rollout. @throws Error where the rollout has no such target: the caller made its name up */
export function targetOf(state: RolloutState, name: string): TargetRollout {
  const target = state.targets.find((t) => t.item.target === name);
  if (target === undefined) throw new Error(`rollout ${state.id} has no target ${name}`);
  return target;
}

/** The state with one target replaced. */
export function withTarget(state: RolloutState, target: TargetRollout): RolloutState {
  return { ...state, targets: state.targets.map((t) => (t.item.target === target.item.target ? target : t)) };
}

/** The target at its end. */
export function ended(target: TargetRollout, outcome: TargetOutcome, now: number): TargetRollout {
  return { ...target, step: 'Done', since: now, outcome };
}

/** The target at another step. */
export function at(target: TargetRollout, step: TargetRollout['step'], now: number): TargetRollout {
  return { ...target, step, since: now };
}

/** The rollout stopped, unless it was already: the first reason counts. */
export function stop(state: RolloutState, why: Stop): RolloutState {
  // A measured failure outranks other reasons: `undo` depends on it.
  if (state.stopped !== null && (state.stopped.cause === 'measured' || why.cause !== 'measured')) return state;
  return { ...state, stopped: why };
}

function endUnstarted(state: RolloutState, now: number): RolloutState {
  if (!isStopping(state) || !state.targets.some(isUnstarted)) return state;
  const outcome = unstartedOutcome(state);
  return { ...state, targets: state.targets.map((t) => (isUnstarted(t) ? ended(t, outcome, now) : t)) };
}

/** True for a target that nothing was begun for yet. */
export function isUnstarted(target: TargetRollout): boolean {
  return target.step === 'Waiting' || target.step === 'Approval';
}

/** What becomes of a target that was not begun. */
export function unstartedOutcome(state: Pick<RolloutState, 'abort' | 'stopped'>): TargetOutcome {
  const { abort, stopped } = state;
  if (abort !== null) {
    return {
      phase: 'Held',
      reason: 'Aborted',
      message: `not started: ${abort.by} aborted the rollout${because(abort.reason)}`,
    };
  }
  if (stopped?.cause === 'time') {
    return { phase: 'Pending', reason: stopped.reason, message: `not started: ${stopped.message}` };
  }
  const message = `not started: ${stopped?.target ?? 'the rollout'} stopped the rollout: ${stopped?.message ?? ''}`;
  const failed = stopped?.cause === 'measured' || stopped?.cause === 'unmeasured';
  return { phase: 'Pending', reason: failed ? 'StoppedByFailure' : (stopped?.reason ?? ''), message };
}

/** `: REASON`, or nothing where none was given. */
export function because(reason: string): string {
  return reason === '' ? '' : `: ${reason}`;
}

function undoPromoted(state: RolloutState, now: number): RolloutState {
  const { stopped, spec, abort } = state;
  if (spec.onFailure !== 'undo' || stopped?.cause !== 'measured' || abort !== null) return state;
  if (!state.targets.some(isUndoable)) return state;
  const failure = {
    reason: 'Undone',
    message: `${stopped.target} failed, and onFailure is undo: ${stopped.message}`,
    block: false,
  };
  return {
    ...state,
    targets: state.targets.map((t) => (isUndoable(t) ? { ...at(t, 'RollingBack', now), outcome: null, failure } : t)),
  };
}

/** Promoted in this rollout, by a write of this rollout, with a recorded image to go back to. */
export function isUndoable(target: TargetRollout): boolean {
  return (
    target.outcome?.phase === 'Current' && target.item.action === 'roll' && target.changed && target.rollbackTo !== null
  );
}

/**
 * Nothing is started outside the windows or in a freeze, however long ago the rollout began: what has begun is finished,
 * and the rest is planned anew when the time has come, from what is wanted then. A target that nothing is written to may
 * begin at any time.
 */
function stopAtTime(state: RolloutState, now: number): RolloutState {
  if (isStopping(state) || isFrozen(state)) return state;
  const next = state.targets.find((t) => mayBegin(state, t) && t.item.action !== 'verify');
  const against = next === undefined ? null : timeHold(state, now);
  if (next === undefined || against === null) return state;
  const { reason, message } = against;
  return stop(state, { target: next.item.target, reason, message, cause: 'time' });
}

function mayBegin(state: RolloutState, target: TargetRollout): boolean {
  return target.step === 'Waiting' && isWaveOpen(state, target.item.target);
}

function openWave(state: RolloutState, now: number): RolloutState {
  if (isStopping(state) || isFrozen(state)) return state;
  if (!state.targets.some((t) => mayBegin(state, t))) return state;
  return {
    ...state,
    targets: state.targets.map((t) => (mayBegin(state, t) ? begin(state, t, now) : t)),
  };
}

function begin(state: RolloutState, target: TargetRollout, now: number): TargetRollout {
  const asked = approvalFor(state, target);
  if (asked === null || isApproved(state, asked)) return at(target, 'Preflight', now);
  return asked === target.item.target ? at(target, 'Approval', now) : target;
}
