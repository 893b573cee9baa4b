import { plans } from '../core/mode.ts';
import { planHash } from '../core/plan-hash.ts';
import { timeGate } from '../core/window.ts';
import type { Unmeasured } from '../core/verdict.ts';
import { withMarkedBlocks } from './block-list.ts';
import { considerTarget, heldAfterAll, type Consideration } from './consider-target.ts';
import { effectiveMode } from './effective-mode.ts';
import type { TargetEvent } from './events.ts';
import { hold, instant, type Hold } from './hold.ts';
import { unknownTarget } from './initial-state.ts';
import { isOfOtherRelease } from './marks.ts';
import type { Observation } from './observation.ts';
import { phaseEvents } from './phase-events.ts';
import { isHeldReason, type Evaluation, type Plan, type PlanItem } from './plan.ts';
import { releaseConditions } from './release-conditions.ts';
import { rememberTarget } from './remember-target.ts';
import { desiredImage, settleTarget } from './settle-target.ts';
import { targetName, type ReleaseSpec } from './spec.ts';
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
  const found: ReleaseState = { ...state, blocked };
  const remembered = rememberTargets(found, observation);
  const wanted = whatIsWanted({ state: found, memories: remembered, observation, now });
  const memories = settleTargets(found, observation, remembered, wanted, now);
  const considered = considerTargets(found, observation, memories, wanted, now);
  const gated = gatePlan(found, observation, considered, memories, now);

  const mode = effectiveMode(state, observation.incumbents);
  const items = plans(mode.mode) ? gated.items : [];
  const plan: Plan = { release: state.name, items };
  const evaluation: Evaluation = {
    effectiveMode: mode.mode,
    modeReason: mode.reason,
    registryReachable: [...wanted.images.values()].every((image) => !unreachable(image)),
    targets: gated.considered.map((c) => c.view),
    plan,
    planHash: planHash(plan),
    changesAt: changesAt(gated, state.spec, now),
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
  const plan: Plan = { release: state.name, items: [] };
  const evaluation: Evaluation = {
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

function rememberTargets(state: ReleaseState, observation: Observation): Map<string, TargetMemory> {
  const memories = new Map<string, TargetMemory>();
  for (const target of state.spec.targets) {
    const name = targetName(target);
    const memory = state.targets[name];
    const workload = observation.targets[name]?.workload;
    if (workload?.kind === 'read') memories.set(name, rememberTarget(memory, workload.value, state.name));
    else if (memory !== undefined) memories.set(name, memory);
  }
  return memories;
}

function settleTargets(
  state: ReleaseState,
  observation: Observation,
  remembered: ReadonlyMap<string, TargetMemory>,
  wanted: Wanted,
  now: number,
): Map<string, TargetMemory> {
  const memories = new Map<string, TargetMemory>();
  for (const [name, memory] of remembered) {
    const seen = observation.targets[name]?.workload;
    const workload = seen?.kind === 'read' ? seen.value : null;
    if (workload === null || workload.image === null || isOfOtherRelease(workload.marks, state.name)) {
      memories.set(name, memory);
      continue;
    }
    const image = wanted.images.get(wanted.lines.get(name)?.key ?? '');
    const desired = image === undefined || isUnmeasured(image) ? null : desiredImage(image, memory, workload.image);
    memories.set(name, settleTarget(memory, workload, workload.image, desired, state, now));
  }
  return memories;
}

function considerTargets(
  state: ReleaseState,
  observation: Observation,
  memories: ReadonlyMap<string, TargetMemory>,
  wanted: Wanted,
  now: number,
): Consideration[] {
  const stops = stopsOf(memories);
  return state.spec.targets.flatMap((spec) => {
    const name = targetName(spec);
    const line = wanted.lines.get(name);
    const image = wanted.images.get(line?.key ?? '');
    if (line === undefined || image === undefined) return [];
    return considerTarget({
      state,
      spec,
      line,
      wanted: image,
      seen: observation.targets[name],
      memory: memories.get(name) ?? unknownTarget,
      images: observation.images,
      stops,
      now,
    });
  });
}

interface Gated {
  readonly considered: readonly Consideration[];
  readonly items: readonly PlanItem[];
}

/** What holds the plan as a whole: blocks that are not known, a preflight that failed, a person who rejected it, the time. */
function gatePlan(
  state: ReleaseState,
  observation: Observation,
  considered: readonly Consideration[],
  memories: ReadonlyMap<string, TargetMemory>,
  now: number,
): Gated {
  const unread = unreadMarksHold(state, observation);
  const bypasses = (i: PlanItem): boolean => i.action === 'verify' || i.why === 'pin';
  const known = unread === null ? considered : considered.map((c) => holdItem(c, (i) => (bypasses(i) ? null : unread)));
  const waited = afterLastAttempts(known, memories, now);
  const asked = planOf(waited);
  const { approval } = state;
  const rejected =
    approval !== null &&
    !approval.approved &&
    approval.planHash === planHash({ release: state.name, items: asked } satisfies Plan);
  const decided = rejected ? waited.map((c) => holdItem(c, () => rejectedBy(approval))) : waited;
  const byTime = timeHold(state.spec, now);
  const timed =
    byTime === null ? decided : decided.map((c) => holdItem(c, (i) => (i.action === 'verify' ? null : byTime)));
  return { considered: timed, items: planOf(timed) };
}

/**
 * Until a run has read the marks of every target once, a digest that an earlier run blocked may be among those it does
 * not know: what was not read is not absent. A workload that does not exist has no marks.
 */
function unreadMarksHold(state: ReleaseState, observation: Observation): Hold | null {
  for (const target of state.spec.targets) {
    const name = targetName(target);
    const seen = observation.targets[name]?.workload;
    if (state.targets[name] !== undefined || seen?.kind === 'read') continue;
    if (seen?.why === 'missing') continue;
    const why = seen?.message ?? 'it was not observed';
    return hold('MarksUnread', `${name} may carry a block from an earlier run, and it has not been read yet: ${why}`);
  }
  return null;
}

/** The order of the spec is the order of the rollout, so what comes after a target that could not begin waits for it. */
function afterLastAttempts(
  considered: readonly Consideration[],
  memories: ReadonlyMap<string, TargetMemory>,
  now: number,
): Consideration[] {
  const waiting = new Map<string, Hold>();
  return considered.map((c) =>
    holdItem(c, (item) => {
      const first = waiting.get(item.to);
      if (first !== undefined) return first;
      const { notBefore = 0, notBegun = null } = memories.get(item.target) ?? {};
      if (notBefore <= now) return null;
      const why = notBegun?.reason ?? '';
      const common = { reason: isHeldReason(why) ? why : ('PreflightFailed' as const), until: notBefore };
      const next = `${notBegun?.message ?? 'it could not begin'}; the next attempt is at ${instant(notBefore)}`;
      waiting.set(item.to, { ...common, message: `waits for ${item.target}: ${next}` });
      return { ...common, message: next };
    }),
  );
}

function holdItem(of: Consideration, why: (item: PlanItem) => Hold | null): Consideration {
  const against = of.item === null ? null : why(of.item);
  return against === null ? of : heldAfterAll(of, against);
}

function planOf(considered: readonly Consideration[]): PlanItem[] {
  return considered.map((c) => c.item).filter((item) => item !== null);
}

function rejectedBy(approval: NonNullable<ReleaseState['approval']>): Hold {
  const why = approval.reason === '' ? '' : `: ${approval.reason}`;
  return hold('Rejected', `${approval.by} rejected this plan${why}; holdfast approve or retry takes that back`);
}

function timeHold(spec: ReleaseSpec, now: number): Hold | null {
  const gate = timeGate(spec.windows, spec.freeze, now);
  switch (gate.kind) {
    case 'open':
      return null;
    case 'closed':
      return {
        reason: 'OutsideWindow',
        message: `outside its windows; the next one opens at ${instant(gate.opensAt)}`,
        until: gate.opensAt,
      };
    case 'frozen':
      return {
        reason: 'Frozen',
        message: `frozen until ${instant(gate.until)}: ${gate.reason}`,
        until: gate.until,
      };
  }
}

/** The next instant at which time alone may change the answer; always later than `now`. */
function changesAt(gated: Gated, spec: ReleaseSpec, now: number): number | null {
  const instants = gated.considered.map((c) => c.until).filter((at) => at !== null && at > now);
  if (gated.items.length > 0) {
    const gate = timeGate(spec.windows, spec.freeze, now);
    if (gate.kind === 'open' && Number.isFinite(gate.remainingMs)) instants.push(now + gate.remainingMs);
  }
  return instants.reduce<number | null>(
    (first, at) => (at !== null && (first === null || at < first) ? at : first),
    null,
  );
}

/** A registry that answers "there is no such tag" was reached. */
function unreachable(image: WantedImage | Unmeasured): boolean {
  return isUnmeasured(image) && image.why !== 'missing' && image.why !== 'empty';
}

function isUnmeasured(image: WantedImage | Unmeasured): image is Unmeasured {
  return 'kind' in image;
}
