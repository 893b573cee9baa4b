import { advance, because, ended, stop, targetOf, withTarget } from './advance-rollout.ts';
import type { Abort, RolloutState, StepDecision } from './rollout.ts';

/*
 * What people change about a living rollout. None of it interrupts a write: what is under way is taken in when it
 * answers, and `nextCommand` then says how the target ends.
 */

/** Another mode in force. Anything but Enforce freezes the rollout where it is: nothing is written, watches go on. */
export function setMode(state: RolloutState, mode: RolloutState['mode'], now: number): RolloutState {
  return advance({ ...state, mode }, now);
}

/** Paused: nothing is begun and nothing written until resumed; what runs is still watched. An abort ends a pause. */
export function setPaused(state: RolloutState, paused: boolean, now: number): RolloutState {
  return advance({ ...state, paused }, now);
}

/** What is blocked now. A target that has not been written to yet is left alone where its image is among it. */
export function setBlocked(state: RolloutState, blocked: RolloutState['blocked'], now: number): RolloutState {
  return advance({ ...state, blocked }, now);
}

/**
 * Ends the rollout, in whatever state it is. Nothing is begun any more; the targets in progress stay where they are
 * (`stop`) or go back (`rollback`); a rollback under way finishes, unless `now`. A second abort outranks the first, but
 * never takes back a `now`.
 */
export function abortRollout(state: RolloutState, abort: Abort, now: number): RolloutState {
  const stopped = stop(state, {
    target: 'a person',
    reason: 'Aborted',
    message: `${abort.by} aborted it${because(abort.reason)}`,
    cause: 'person',
  });
  return advance({ ...stopped, abort: { ...abort, now: abort.now || state.abort?.now === true } }, now);
}

/**
 * Approves or rejects the step that a target waits with. A decision about a target that waits for nobody changes
 * nothing: it would be one about something that nobody has seen. A rejection stops the rollout; nothing is undone.
 */
export function decideStep(state: RolloutState, decision: StepDecision, now: number): RolloutState {
  const target = state.targets.find((t) => t.item.target === decision.target);
  if (target?.step !== 'Approval') return state;
  const decided: RolloutState = { ...state, decisions: [...state.decisions, decision] };
  if (decision.approved) {
    return advance(withTarget(decided, { ...targetOf(decided, decision.target), step: 'Waiting', since: now }), now);
  }
  const message = `${decision.by} rejected ${target.item.toLabel} on ${decision.target}${because(decision.reason)}`;
  const rejected = withTarget(decided, ended(target, { phase: 'Held', reason: 'Rejected', message }, now));
  return advance(stop(rejected, { target: decision.target, reason: 'Rejected', message, cause: 'person' }), now);
}

/** True once nothing is left to be done for any target. */
export function isFinished(state: RolloutState): boolean {
  return state.targets.every((target) => target.step === 'Done');
}

/** The targets of one wave; the first wave is the canary alone. */
export function targetsInWave(state: RolloutState, wave: number): readonly string[] {
  return state.waves[wave] ?? [];
}
