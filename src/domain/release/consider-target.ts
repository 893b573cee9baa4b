import { blockOf } from './block-list.ts';
import { deployedImage, imageParts, sameContent } from './deployed-image.ts';
import { architectureHold, blockHold, hold, instant, workloadHold, type Hold } from './hold.ts';
import type { Line } from './line.ts';
import { isOfOtherRelease } from './marks.ts';
import type { Observation, TargetObservation, WorkloadSnapshot } from './observation.ts';
import type { PlanItem, TargetPhase, TargetView } from './plan.ts';
import { baselineOf, SECOND_WRITER_DRIFTS, writerOf } from './remember-target.ts';
import { desiredImage } from './settle-target.ts';
import { targetName, workloadOf, type TargetSpec } from './spec.ts';
import type { ReleaseState, TargetMemory } from './state.ts';
import type { Stops } from './stops.ts';
import type { Unmeasured, UnmeasuredCause } from '../core/verdict.ts';
import { versionHold, versionOfImage } from './version-guard.ts';
import type { WantedImage } from './wanted-image.ts';

/** One target with everything that its own decision depends on. */
export interface TargetCase {
  readonly state: ReleaseState;
  readonly spec: TargetSpec;
  readonly line: Line;
  readonly wanted: WantedImage | Unmeasured;
  readonly seen: TargetObservation | undefined;
  readonly memory: TargetMemory;
  readonly images: Observation['images'];
  /** What a failure elsewhere in the release keeps from being rolled. */
  readonly stops: Stops;
  readonly now: number;
}

/**
 * What one target comes to by itself: settled as it is, or wanting to be rolled, which the plan as a whole may still
 * hold.
 */
export interface Consideration {
  readonly view: TargetView;
  /** Null where nothing is to be done, or something about the target holds it. */
  readonly item: PlanItem | null;
  /** Epoch milliseconds at which time alone may change this; null where it does not. */
  readonly until: number | null;
}

/** Decides about one target. Reads nothing but its argument. */
export function considerTarget(of: TargetCase): Consideration {
  const { seen, wanted } = of;
  if (seen === undefined) return settled(of, 'Unknown', 'NotObserved', 'the target was not read', null);
  if (seen.workload.kind === 'unmeasured') {
    const { why, message } = seen.workload;
    return settled(of, 'Unknown', unreadReason(why), message, null);
  }
  const workload = seen.workload.value;
  if ('kind' in wanted) return asLastSeen(of, workload, wanted);
  if (workload.image === null) return noSuchContainer(of, workload);
  if (isOfOtherRelease(workload.marks, of.state.name)) return otherRelease(of, workload.marks.managedBy ?? '');

  const desired = desiredImage(wanted, of.memory, workload.image);
  const there: Placed = { ...of, wanted, seen, workload, image: workload.image, desired };
  const baseline = baselineOf(of.memory);
  if (baseline !== null && baseline !== workload.image) return drifted(there, baseline);
  return atBaseline(there);
}

function unreadReason(why: UnmeasuredCause): string {
  switch (why) {
    case 'denied':
      return 'AccessDenied';
    case 'missing':
      return 'WorkloadMissing';
    case 'unparsed':
      return 'MarksUnreadable';
    default:
      return 'WorkloadUnread';
  }
}

/** A target whose workload and line were read. */
interface Placed extends TargetCase {
  readonly wanted: WantedImage;
  readonly seen: TargetObservation;
  readonly workload: WorkloadSnapshot;
  readonly image: string;
  readonly desired: string;
}

/** The image is the one that was applied or adopted, or nothing was yet. */
function atBaseline(of: Placed): Consideration {
  const { memory, image, desired, wanted } = of;
  if (memory.stuck !== null) {
    const { phase, reason, message } = memory.stuck;
    return settled(of, phase, reason, message, cooldownEnd(of));
  }
  if (image === desired) {
    const blocked = blockHold(wanted);
    if (blocked !== null) return held(of, { ...blocked, message: `the target runs it, and ${blocked.message}` });
    if (memory.applied === null || memory.passed === memory.applied) {
      return settled(of, 'Current', '', `runs ${wanted.resolved.label}`, null);
    }
    const against = workloadHold(of.workload) ?? of.stops.holdFor(targetName(of.spec), image);
    if (against !== null) return held(of, against);
    return wants(of, 'Pending', item(of, 'verify', image, wanted.resolved.label, 'unproven'), [
      `${wanted.resolved.label} was written here but has not passed its gate and soak yet`,
    ]);
  }
  const against = holdOnDesired(of);
  if (against !== null) return held(of, against);
  const why = wanted.line.pin === null ? 'update' : 'pin';
  return wants(of, 'Pending', item(of, 'roll', desired, wanted.resolved.label, why), [
    `${wanted.resolved.label} is to be rolled`,
  ]);
}

/**
 * Somebody else's image is on the target. It goes to what is wanted, or, where that may not be rolled, back to what was
 * applied.
 */
function drifted(of: Placed, baseline: string): Consideration {
  const { memory, image, desired, wanted, workload, now } = of;
  const name = targetName(of.spec);
  const { drifts } = memory;
  if (drifts !== null && drifts.count >= SECOND_WRITER_DRIFTS && drifts.lastImage !== '') {
    return held(
      of,
      hold(
        'SecondWriter',
        `${drifts.writer} has put its own image back ${drifts.count} times (now ${image}); stop it from writing the image, then holdfast retry`,
      ),
    );
  }
  const what = `${writerOf(workload)} wrote ${image}; ${memory.applied === null ? 'the target had' : 'this release applied'} ${baseline}`;
  const onWorkload = workloadHold(workload);
  if (onWorkload !== null) return driftHeld(of, what, onWorkload);
  const onDesired = holdOnDesired(of);
  if (onDesired === null) {
    const action = image === desired ? 'verify' : 'roll';
    // A pin says so, since it may be rolled although it is blocked.
    const why = wanted.line.pin === null ? 'drift' : 'pin';
    return wants(of, 'Drifted', item(of, action, desired, wanted.resolved.label, why), [what]);
  }
  const onBaseline = desired === baseline ? onDesired : holdOnBaseline(of, baseline, name, now);
  if (onBaseline !== null) return driftHeld(of, what, desired === baseline ? onDesired : both(onDesired, onBaseline));
  const label = labelOfBaseline(of, baseline);
  return {
    ...wants(of, 'Drifted', item(of, 'roll', baseline, label, 'drift'), [what, `${onDesired.message}`]),
    until: onDesired.until,
  };
}

/** What keeps the wanted image from being rolled. What is there already by content needs none of the guards of a change. */
function holdOnDesired(of: Placed): Hold | null {
  const { wanted, memory, image, desired } = of;
  return (
    workloadHold(of.workload) ??
    blockHold(wanted) ??
    holdOnChange(of, baselineOf(memory) ?? image) ??
    of.stops.holdFor(targetName(of.spec), desired)
  );
}

function holdOnChange(of: Placed, from: string): Hold | null {
  if (sameContent(from, of.desired)) return null;
  const version = versionOfImage(from, of.images);
  return (
    versionHold(of.wanted, from, version, of.spec.allowMajorChange) ??
    architectureHold(of.wanted, of.seen) ??
    ageHold(of.wanted)
  );
}

function ageHold(wanted: WantedImage): Hold | null {
  if (wanted.agesAt === null) return null;
  return {
    reason: 'MinimumAge',
    message: `${wanted.resolved.label} is old enough at ${instant(wanted.agesAt)}`,
    until: wanted.agesAt,
  };
}

/** Going back to the applied image needs no guard but these: it ran here before. */
function holdOnBaseline(of: Placed, baseline: string, name: string, now: number): Hold | null {
  const { digest } = imageParts(baseline);
  const label = labelOfBaseline(of, baseline);
  const block = digest === null ? null : blockOf(of.state, { digest, label }, now);
  if (block !== null) return hold('Blocked', `${label}, which was applied before, is blocked by ${block.by}`);
  return of.stops.holdFor(name, baseline);
}

function both(desired: Hold, baseline: Hold): Hold {
  const until = [desired.until, baseline.until].filter((at) => at !== null);
  return {
    reason: desired.reason,
    message: `${desired.message}; and going back is not possible: ${baseline.message}`,
    until: until.length === 0 ? null : Math.min(...until),
  };
}

function labelOfBaseline(of: Placed, baseline: string): string {
  if (baseline === of.desired) return of.wanted.resolved.label;
  const facts = of.images[baseline];
  return facts?.kind === 'read'
    ? facts.value.label
    : (of.memory.appliedVersion ?? imageParts(baseline).tag ?? baseline);
}

/** The end of the cooldown that a RolledBack target waits for. */
function cooldownEnd(of: Placed): number | null {
  const { stuck } = of.memory;
  const digest = stuck === null ? null : imageParts(stuck.image).digest;
  const entry = digest === null ? undefined : of.state.blocked.find((b) => b.image === digest && b.cooldownOnly);
  return entry === undefined || entry.cooldownUntil <= of.now ? null : entry.cooldownUntil;
}

/** The registry did not answer: the phase stays what it was, and nothing is planned. */
function asLastSeen(of: TargetCase, workload: WorkloadSnapshot, line: Unmeasured): Consideration {
  const name = targetName(of.spec);
  const before = of.state.evaluation?.targets.find((t) => t.name === name);
  const reason = line.why === 'missing' || line.why === 'empty' ? 'LineUnresolved' : 'RegistryUnreachable';
  const view = viewOf(of, before?.phase ?? 'Unknown', reason, `${line.message}; the phase is the last one known`);
  return {
    view: {
      ...view,
      current: workload.image,
      desired: before?.desired ?? null,
      desiredLabel: before?.desiredLabel ?? null,
    },
    item: null,
    until: null,
  };
}

function noSuchContainer(of: TargetCase, workload: WorkloadSnapshot): Consideration {
  const there = workload.containers.length === 0 ? 'none' : workload.containers.join(', ');
  return held(
    of,
    hold('NoSuchContainer', `the ${workload.kind} has no container ${of.spec.container}; its containers: ${there}`),
  );
}

function otherRelease(of: TargetCase, owner: string): Consideration {
  return held(
    of,
    hold(
      'OtherRelease',
      `${owner} manages this image; remove the target there, or holdfast release-ownership ${owner}`,
    ),
  );
}

function item(of: Placed, action: PlanItem['action'], to: string, toLabel: string, why: PlanItem['why']): PlanItem {
  return { target: targetName(of.spec), action, from: of.image, to, toLabel, why };
}

function wants(of: TargetCase, phase: 'Pending' | 'Drifted', planned: PlanItem, sentences: string[]): Consideration {
  const reason = phase === 'Drifted' ? 'OutOfBand' : planned.action === 'verify' ? 'Unproven' : 'Planned';
  return { view: viewOf(of, phase, reason, sentences.join('; ')), item: planned, until: null };
}

/** A target that wants to be rolled, once something is found to hold it after all. */
export function heldAfterAll(of: Consideration, against: Hold): Consideration {
  const { view } = of;
  const until = [of.until, against.until].filter((at) => at !== null);
  return {
    view:
      view.phase === 'Drifted'
        ? { ...view, reason: against.reason, message: `${view.message}; ${against.message}` }
        : { ...view, phase: 'Held', reason: against.reason, message: against.message },
    item: null,
    until: until.length === 0 ? null : Math.min(...until),
  };
}

function held(of: TargetCase, against: Hold): Consideration {
  return settled(of, 'Held', against.reason, against.message, against.until);
}

function driftHeld(of: TargetCase, what: string, against: Hold): Consideration {
  return settled(of, 'Drifted', against.reason, `${what}; ${against.message}`, against.until);
}

function settled(
  of: TargetCase,
  phase: TargetPhase,
  reason: string,
  message: string,
  until: number | null,
): Consideration {
  return { view: viewOf(of, phase, reason, message), item: null, until };
}

function viewOf(of: TargetCase, phase: TargetPhase, reason: string, message: string): TargetView {
  const { spec, memory, seen, wanted } = of;
  const address = workloadOf(spec);
  const workload = seen?.workload.kind === 'read' ? seen.workload.value : null;
  const resolved = 'kind' in wanted ? null : wanted;
  const image = workload?.image ?? null;
  return {
    name: targetName(spec),
    cluster: spec.cluster ?? of.state.spec.cluster,
    workload: `${address.kind} ${spec.namespace}/${address.name}`,
    phase,
    step: null,
    reason,
    message,
    current: image,
    desired:
      resolved === null
        ? null
        : image === null
          ? deployedImage(resolved.resolved)
          : desiredImage(resolved, memory, image),
    desiredLabel: resolved?.resolved.label ?? null,
    applied: memory.applied,
    rollbackTo: memory.stuck?.rollbackTo ?? workload?.marks.previousImage ?? null,
  };
}
