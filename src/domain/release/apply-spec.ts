import { canonicalJson } from '../core/plan-hash.ts';
import { accepted, acceptedAgain, type ActionAnswer } from './action-answer.ts';
import type { ActionOf } from './actions.ts';
import { lineFor } from './line.ts';
import type { RolloutState } from './rollout.ts';
import { targetName, type ReleaseSpec, type TargetSpec } from './spec.ts';
import type { ReleaseState } from './state.ts';
import { changeMemories, fresh } from './unstick.ts';

/** Changes the mode alone, as if the spec had been applied with it. */
export function setMode(state: ReleaseState, action: ActionOf<'setMode'>, rollout: RolloutState | null): ActionAnswer {
  const options = { effect: 'evaluate', forward: rollout !== null } as const;
  const before = state.spec.mode;
  if (before === action.mode) return acceptedAgain(state, `sets mode ${action.mode}, which it was already`, options);
  const freezes = frozen(action.mode, rollout);
  return accepted(
    { ...state, spec: { ...state.spec, mode: action.mode }, generation: state.generation + 1 },
    `sets mode ${action.mode}, was ${before}${freezes}`,
    options,
  );
}

/**
 * Takes a new spec. A living rollout keeps the spec that it was started with, save the mode. A target whose line
 * changed is no longer held by what failed on its old one.
 */
export function applySpec(
  state: ReleaseState,
  action: ActionOf<'applySpec'>,
  rollout: RolloutState | null,
): ActionAnswer {
  const before = state.spec;
  const spec = action.spec;
  if (canonicalJson(before) === canonicalJson(spec))
    return acceptedAgain(state, 'applies the spec that it has already');
  const personPin = state.pin?.image ?? null;
  const lines = new Map(before.targets.map((t) => [targetName(t), lineFor(before, t, personPin).key]));
  const moved = (target: TargetSpec): boolean => lines.get(targetName(target)) !== lineFor(spec, target, personPin).key;
  const changed = changeMemories({ ...state, spec, generation: state.generation + 1 }, moved, fresh);
  const freezes = before.mode === spec.mode ? '' : frozen(spec.mode, rollout);
  return accepted(changed, `applies a new spec: ${whatChanged(before, spec)}${freezes}`, {
    effect: 'evaluate',
    forward: rollout !== null && before.mode !== spec.mode,
  });
}

/** What becomes of a rollout that is under way. */
function frozen(mode: ReleaseSpec['mode'], rollout: RolloutState | null): string {
  return rollout !== null && mode !== 'Enforce' ? `; rollout ${rollout.id} is frozen where it is` : '';
}

/** Fields that say what may happen without a person, which a file changes in silence where it does not name them. */
const told = ['mode', 'suspend', 'approval', 'onFailure', 'pin'] as const satisfies readonly (keyof ReleaseSpec)[];

function whatChanged(before: ReleaseSpec, after: ReleaseSpec): string {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const changed = keys.filter((key) => written(before, key) !== written(after, key));
  const values = told.filter((key) => changed.includes(key));
  const others = changed.filter((key) => !values.some((value) => value === key));
  return [
    ...values.map((key) => `${key} ${String(after[key] ?? 'none')}, was ${String(before[key] ?? 'none')}`),
    ...(others.length === 0 ? [] : [others.join(', ')]),
  ].join('; ');
}

function written(spec: ReleaseSpec, key: string): string {
  return canonicalJson(spec[key as keyof ReleaseSpec] ?? null);
}
