import { decideFlow } from './decide-flow.ts';
import { effectiveMode } from './effective-mode.ts';
import { judgePolicy } from './judge-policy.ts';
import { judgeRequiredAction } from './judge-required-action.ts';
import { passNames, passResult, type PassResult } from './passes.ts';
import type { FlowObservation } from './observation.ts';
import type { FlowRun, RunCommand } from './run.ts';
import type { KeycloakFlowState } from './state.ts';

/** A run as far as it comes without the outside, and what is to be done next. */
export interface Advanced {
  readonly state: KeycloakFlowState;
  readonly run: FlowRun;
  readonly command: RunCommand;
}

/**
 * Takes a run as far as it comes by itself. Pure: asked again before anything has come of the command, it gives the same
 * one. The state may have changed since the last step, so that a hold, a pause or another mode holds at once.
 *
 * @param now epoch milliseconds
 */
export function advanceRun(state: KeycloakFlowState, run: FlowRun, now: number): Advanced {
  const asked = askedByPerson(state, run);
  if (asked !== null) return { state, run, command: asked };
  const { observation } = run;
  if (observation === null) return { state, run, command: state.spec.suspend ? { do: 'done' } : { do: 'observe' } };

  const mode = effectiveMode(state);
  const refused = refusedAll(run, observation);
  if (refused !== null) return { state, run: refused, command: { do: 'done' } };
  if (run.policy === null) {
    const judged = judgePolicy(observation, mode);
    if (judged.kind === 'write') return { state, run, command: { do: 'writePolicy', keys: judged.keys } };
    return advanceRun(state, { ...run, policy: judged.result }, now);
  }
  if (run.requiredAction === null) {
    const judged = judgeRequiredAction(state.spec.desired, observation, mode);
    if (judged.kind === 'write') return { state, run, command: { do: 'writeRequiredAction' } };
    return advanceRun(state, { ...run, requiredAction: judged.result }, now);
  }
  if (run.flow !== null) return { state, run, command: { do: 'done' } };
  const decision = decideFlow(state, run, observation, now);
  if (decision.kind === 'command') return { state, run, command: decision.command };
  const stopped = decision.stop === undefined ? state.stopped : (state.stopped ?? { message: decision.stop, at: now });
  const ended = { ...run, flow: decision.result, offer: decision.offer };
  return { state: { ...state, stopped }, run: ended, command: { do: 'done' } };
}

/** What a person asked for goes before everything, also while passes are paused or suspended. */
function askedByPerson({ spec, rollback, lift, hold }: KeycloakFlowState, { tried }: FlowRun): RunCommand | null {
  if (spec.mode !== 'Enforce') return null;
  if (rollback !== null && !tried.includes('rollBack')) return { do: 'rollBack', hold: hold ?? rollback };
  if (lift !== null && rollback === null && !tried.includes('liftHold')) return { do: 'liftHold', by: lift.by };
  return null;
}

/** A switch that says something else than true or false might mean either, so that nothing at all is done. */
function refusedAll(run: FlowRun, { bindSwitch }: FlowObservation): FlowRun | null {
  if (bindSwitch.kind === 'read') return null;
  const { message } = bindSwitch;
  const result = (pass: PassResult['pass']): PassResult =>
    bindSwitch.kind === 'invalid'
      ? passResult(pass, 'Refused', 'InvalidSwitch', message)
      : passResult(pass, 'Undetermined', 'SwitchUnread', `the bind switch could not be read: ${message}`);
  return { ...run, ...Object.fromEntries(passNames.map((name) => [name, run[name] ?? result(name)])) };
}
