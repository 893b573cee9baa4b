import type { ActionOf, ReleaseAction } from './actions.ts';
import { decider } from './apply-approval.ts';
import type { Abort, RolloutState, StepDecision } from './rollout.ts';
import { abortRollout, decideStep, setBlocked, setMode, setPaused } from './rollout-control.ts';
import type { ReleaseSpec } from './spec.ts';
import type { ReleaseState } from './state.ts';
import { takeSpec } from './take-spec.ts';

/** What a release tells its living rollout. */
export type RolloutControl =
  | { readonly kind: 'mode'; readonly mode: RolloutState['mode'] }
  | { readonly kind: 'paused'; readonly paused: boolean }
  | { readonly kind: 'blocked'; readonly blocked: RolloutState['blocked'] }
  | { readonly kind: 'spec'; readonly spec: ReleaseSpec }
  | ({ readonly kind: 'abort' } & Abort)
  | ({ readonly kind: 'decide' } & Omit<StepDecision, 'at'>);

/**
 * What a living rollout is to be told after an accepted action.
 *
 * @param state after the action
 * @param decides the steps that the action decides, by target name
 */
export function controlsOf(action: ReleaseAction, state: ReleaseState, decides: readonly string[]): RolloutControl[] {
  switch (action.action) {
    case 'approve':
    case 'reject':
      return decides.map((target) => decision(action, target));
    case 'abort':
      return [{ kind: 'abort', how: action.how, now: action.now, by: action.by, reason: action.reason }];
    case 'pause':
    case 'resume':
      return [{ kind: 'paused', paused: state.paused !== null }];
    case 'block':
    case 'unblock':
      return [{ kind: 'blocked', blocked: state.blocked }];
    case 'setMode':
      return [{ kind: 'mode', mode: state.spec.mode }];
    case 'applySpec':
      return [{ kind: 'spec', spec: state.spec }];
    case 'pin':
    case 'unpin':
    case 'retry':
    case 'releaseOwnership':
    case 'runNow':
      return [];
  }
}

/** Takes a control into the rollout. */
export function applyControl(state: RolloutState, control: RolloutControl, now: number): RolloutState {
  switch (control.kind) {
    case 'mode':
      return setMode(state, control.mode, now);
    case 'paused':
      return setPaused(state, control.paused, now);
    case 'blocked':
      return setBlocked(state, control.blocked, now);
    case 'spec':
      return takeSpec(state, control.spec, now);
    case 'abort':
      return abortRollout(state, { how: control.how, now: control.now, by: control.by, reason: control.reason }, now);
    case 'decide': {
      const { target, approved, by, reason } = control;
      return decideStep(state, { target, approved, by, reason, at: now }, now);
    }
  }
}

function decision(action: ActionOf<'approve'> | ActionOf<'reject'>, target: string): RolloutControl {
  return { kind: 'decide', target, approved: action.action === 'approve', by: decider(action), reason: action.reason };
}
