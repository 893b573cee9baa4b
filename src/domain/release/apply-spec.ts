import { own } from '../core/own.ts';
import { canonicalJson } from '../core/plan-hash.ts';
import { accepted, acceptedAgain, type ActionAnswer } from './action-answer.ts';
import type { ActionOf } from './actions.ts';
import { placeOf } from './address.ts';
import { lineFor } from './line.ts';
import type { RolloutState } from './rollout.ts';
import { targetName, type ReleaseSpec, type TargetSpec } from './spec.ts';
import type { ReleaseState } from './state.ts';
import { underWay } from './under-way.ts';
import { changeMemories, fresh } from './unstick.ts';
import { describeSpecChange } from '../core/spec-change.ts';

/** Stops of targets that are gone from the spec; each is of one image, and old images are not wanted again. */
const STOPS_KEPT = 50;

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
 * Takes a new spec. A living rollout keeps how it goes about things from the spec that it was started with; what may be
 * started, and where, is that of the new one from now on (see `takeSpec`). A target whose line changed is no longer held
 * by what failed on its old one.
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
  const known = withoutOthers({ ...state, spec, generation: state.generation + 1 }, before);
  const changed = changeMemories(known, moved, fresh);
  const freezes = before.mode === spec.mode ? '' : frozen(spec.mode, rollout);
  const keeps =
    rollout === null
      ? ''
      : `; rollout ${rollout.id} goes on as its plan had it, within the new mode, windows, freezes and blocklist`;
  return accepted(
    changed,
    `applies a new spec: ${describeSpecChange(before, spec, told)}${freezes === '' ? keeps : freezes}`,
    {
      effect: 'evaluate',
      forward: rollout !== null,
    },
  );
}

/**
 * The state without what is remembered of a target that is another workload by now, or none: what was applied to one says
 * nothing of another under the same name. What failed on it still keeps its image from being started elsewhere.
 */
function withoutOthers(state: ReleaseState, before: ReleaseSpec): ReleaseState {
  const now = new Map(state.spec.targets.map((t) => [targetName(t), placeOf(t, state.spec)]));
  const gone = before.targets.filter((t) => now.get(targetName(t)) !== placeOf(t, before)).map(targetName);
  if (gone.length === 0) return state;
  const targets = Object.fromEntries(Object.entries(state.targets).filter(([name]) => !gone.includes(name)));
  const stops = gone.flatMap((target) => {
    const stuck = own(state.targets, target)?.stuck ?? null;
    return stuck === null ? [] : [{ target, stuck }];
  });
  return { ...state, targets, stops: [...(state.stops ?? []), ...stops].slice(-STOPS_KEPT) };
}

/** What becomes of a rollout that is under way. */
function frozen(mode: ReleaseSpec['mode'], rollout: RolloutState | null): string {
  return rollout !== null && mode !== 'Enforce'
    ? `; rollout ${rollout.id} is frozen where it is${underWay(rollout)}`
    : '';
}

/** Fields that say what may happen without a person. */
const told = ['mode', 'suspend', 'approval', 'onFailure', 'pin'] as const;
