import { plans } from '../core/mode.ts';
import { planHash } from '../core/plan-hash.ts';
import type { Unmeasured } from '../core/verdict.ts';
import { own } from '../core/own.ts';
import { withMarkedBlocks } from './block-list.ts';
import { considerTarget } from './consider-target.ts';
import type { Consideration } from './consideration.ts';
import { effectiveMode } from './effective-mode.ts';
import type { TargetEvent } from './events.ts';
import { changesAt, gatePlan } from './gate-plan.ts';
import { unknownTarget } from './initial-state.ts';
import { isOfOtherRelease } from './marks.ts';
import type { Observation } from './observation.ts';
import { phaseEvents } from './phase-events.ts';
import type { Evaluation } from './plan.ts';
import { planOf } from './plan-terms.ts';
import { releaseConditions } from './release-conditions.ts';
import { rememberTarget } from './remember-target.ts';
import { desiredImage, settleTarget } from './settle-target.ts';
import { targetName } from './spec.ts';
import type { ReleaseState, TargetMemory } from './state.ts';
import { stopsOf } from './stops.ts';
import { whatIsWanted, type Wanted } from './what-is-wanted.ts';
import type { WantedImage } from './wanted-image.ts';

/**
 * Decides what a release comes to: the phase of every target with its reason, and the plan. Pure, and idempotent: the
 * same observation again changes nothing.
 *
 * @param observation one reading of registry and clusters
 * @param now epoch milliseconds
 * @returns the evaluation, the state that remembers it, and the events of what changed (in Enforce alone: an event is
 *   a write)
 */
export function evaluate(
  state: ReleaseState,
  observation: Observation,
  now: number,
): { evaluation: Evaluation; state: ReleaseState; events: TargetEvent[] } {
  if (state.spec.suspend) return suspended(state, now);

  const blocked = withMarkedBlocks(state, observation, now);
  const found: ReleaseState = { ...state, blocked, freezes: observation.freezes };
  const remembered = rememberTargets(found, observation);
  const wanted = whatIsWanted({ state: found, memories: remembered, observation, now });
  const memories = settleTargets(found, observation, remembered, wanted, now);
  const considered = considerTargets(found, observation, memories, wanted, now);
  const gated = gatePlan(found, observation, considered, memories, now);

  const mode = effectiveMode(state, observation.incumbents);
  const items = plans(mode.mode) ? gated.items : [];
  const plan = planOf(state.name, state.spec, items);
  const evaluation: Evaluation = {
    at: observation.at,
    effectiveMode: mode.mode,
    modeReason: mode.reason,
    registryReachable: wanted.followers.every(({ image }) => !unreachable(image)),
    targets: gated.considered.map((c) => c.view),
    plan,
    planHash: planHash(plan),
    changesAt: changesAt(gated, found, now),
  };
  const after: ReleaseState = {
    ...found,
    targets: Object.fromEntries(memories),
    candidates: wanted.candidates,
    evaluation,
    conditions: releaseConditions(state.conditions, evaluation, observation, state, now),
  };
  const events = mode.mode === 'Enforce' ? phaseEvents(state.evaluation, evaluation, state.spec, now) : [];
  return { evaluation, state: after, events };
}

/** No evaluation takes place: what was seen last is kept, and nothing is planned. */
function suspended(
  state: ReleaseState,
  now: number,
): { evaluation: Evaluation; state: ReleaseState; events: TargetEvent[] } {
  const plan = planOf(state.name, state.spec, []);
  const at = state.evaluation?.at;
  const evaluation: Evaluation = {
    ...(at === undefined ? {} : { at }),
    effectiveMode: 'Observe',
    modeReason: 'suspended: spec.suspend is true, so nothing is evaluated',
    registryReachable: state.evaluation?.registryReachable ?? true,
    targets: state.evaluation?.targets ?? [],
    plan,
    planHash: planHash(plan),
    changesAt: null,
  };
  const conditions = releaseConditions(state.conditions, evaluation, null, state, now);
  return { evaluation, state: { ...state, evaluation, conditions }, events: [] };
}

/** What is remembered of each target before anything is decided; nothing of one that was never read. */
function rememberTargets(state: ReleaseState, observation: Observation): Map<string, TargetMemory> {
  const memories = new Map<string, TargetMemory>();
  for (const target of state.spec.targets) {
    const name = targetName(target);
    const memory = own(state.targets, name);
    const workload = own(observation.targets, name)?.workload;
    if (workload?.kind === 'read')
      memories.set(name, rememberTarget(memory, workload.value, state.name, target.image ?? state.spec.image));
    else if (memory !== undefined) memories.set(name, memory);
  }
  return memories;
}

function settleTargets(
  state: ReleaseState,
  observation: Observation,
  remembered: ReadonlyMap<string, TargetMemory>,
  { followers }: Wanted,
  now: number,
): Map<string, TargetMemory> {
  const memories = new Map<string, TargetMemory>();
  for (const { name, image: wanted } of followers) {
    const memory = remembered.get(name);
    if (memory === undefined) continue;
    const seen = own(observation.targets, name)?.workload;
    const workload = seen?.kind === 'read' ? seen.value : null;
    const image = workload?.image ?? null;
    if (workload === null || image === null || isOfOtherRelease(workload.marks, state.name)) {
      memories.set(name, memory);
      continue;
    }
    const desired = isUnmeasured(wanted) ? null : desiredImage(wanted, memory, image);
    memories.set(name, settleTarget(memory, workload, image, desired, state, now));
  }
  return memories;
}

function considerTargets(
  state: ReleaseState,
  observation: Observation,
  memories: ReadonlyMap<string, TargetMemory>,
  { followers }: Wanted,
  now: number,
): Consideration[] {
  const stops = stopsOf(state.name, memories, state.stops);
  return followers.map(({ name, spec, line, image }) =>
    considerTarget({
      state,
      spec,
      line,
      wanted: image,
      seen: own(observation.targets, name),
      memory: memories.get(name) ?? unknownTarget,
      images: observation.images,
      stops,
      now,
    }),
  );
}

/** A registry that answers "there is no such tag" was reached. */
function unreachable(image: WantedImage | Unmeasured): boolean {
  return isUnmeasured(image) && image.why !== 'missing' && image.why !== 'empty';
}

function isUnmeasured(image: WantedImage | Unmeasured): image is Unmeasured {
  return 'kind' in image;
}
