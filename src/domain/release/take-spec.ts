import { advance, ended, isUnstarted, LEFT_SPEC } from './advance-rollout.ts';
import { placeOf } from './address.ts';
import type { RolloutState, TargetOutcome } from './rollout.ts';
import { targetName, type ReleaseSpec } from './spec.ts';

/**
 * Takes into a living rollout what a new spec says about what may be started: its mode, `suspend`, blocklist, windows and
 * freezes, and which targets there still are. How the rollout proves and goes about things stays as its plan had it, and
 * what it has begun it ends: also on a target that the spec has no more, whose way back must not be lost.
 *
 * @param now epoch milliseconds
 */
export function takeSpec(state: RolloutState, spec: ReleaseSpec, now: number): RolloutState {
  const { windows: _windows, freeze: _freeze, ...kept } = state.spec;
  const { windows, freeze, blocklist, mode, suspend } = spec;
  const places = new Set(spec.targets.map((target) => placeOf(target, spec)));
  const left = new Set(state.spec.targets.filter((target) => !places.has(placeOf(target, state.spec))).map(targetName));
  const taken: RolloutState = {
    ...state,
    // Suspended: nothing is evaluated, so nothing is begun or written either.
    mode: suspend ? 'Observe' : mode,
    spec: {
      ...kept,
      blocklist,
      ...(windows === undefined ? {} : { windows }),
      ...(freeze === undefined ? {} : { freeze }),
    },
    targets: state.targets.map((t) => (left.has(t.item.target) && isUnstarted(t) ? ended(t, GONE, now) : t)),
  };
  return advance(taken, now);
}

const GONE: TargetOutcome = {
  phase: 'Pending',
  reason: LEFT_SPEC,
  message: 'not started: the spec does not have it any more',
};
