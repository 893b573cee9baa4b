import type { Unmeasured } from '../core/verdict.ts';
import { deployedImage } from './deployed-image.ts';
import type { Hold } from './hold.ts';
import type { Line } from './line.ts';
import type { Observation, TargetObservation, WorkloadSnapshot } from './observation.ts';
import type { PlanItem, TargetPhase, TargetView } from './plan.ts';
import type { PlannedReason } from './reasons.ts';
import { desiredImage } from './settle-target.ts';
import { targetName, workloadOf, type TargetSpec } from './spec.ts';
import type { ReleaseState, TargetMemory } from './state.ts';
import type { Stops } from './stops.ts';
import { parseVersion, sameVersion } from './version.ts';
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

/** A target whose workload and line were read. */
export interface PlacedTarget extends TargetCase {
  readonly wanted: WantedImage;
  readonly seen: TargetObservation;
  readonly workload: WorkloadSnapshot;
  /** The image as the template has it. */
  readonly image: string;
  /** The image that the target is to get. */
  readonly desired: string;
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

/** Nothing is to be done for the target, or nothing may. */
export function settled(
  of: TargetCase,
  phase: TargetPhase,
  reason: string,
  message: string,
  until: number | null = null,
): Consideration {
  return { view: viewOf(of, phase, reason, message), item: null, until };
}

/** Something about the target holds it. */
export function held(of: TargetCase, against: Hold): Consideration {
  return settled(of, 'Held', against.reason, against.message, against.until);
}

/** The target wants to be rolled, or its image to be proven. */
export function wants(
  of: PlacedTarget,
  phase: 'Pending' | 'Drifted',
  item: Omit<PlanItem, 'target' | 'from'>,
  message: string,
): Consideration {
  const reason: PlannedReason = phase === 'Drifted' ? 'OutOfBand' : item.action === 'verify' ? 'Unproven' : 'Planned';
  return {
    view: viewOf(of, phase, reason, message),
    item: { target: targetName(of.spec), from: of.image, ...item, ...versionOf(of, item), ...manifestsOf(of, item) },
    until: null,
  };
}

function manifestsOf(
  { wanted, desired }: PlacedTarget,
  { to }: Pick<PlanItem, 'to'>,
): { toManifests?: readonly string[] } {
  const manifests = [...new Set(Object.values(wanted.resolved.platformDigests))].sort();
  const own = manifests.filter((digest) => digest !== wanted.resolved.digest);
  return to === desired && own.length > 0 ? { toManifests: own } : {};
}

function versionOf({ wanted, desired }: PlacedTarget, item: Pick<PlanItem, 'to' | 'toLabel'>): { toVersion?: string } {
  const { version } = wanted.resolved;
  if (item.to !== desired || version === null || parseVersion(version) === null) return {};
  return sameVersion(item.toLabel, version) ? {} : { toVersion: version };
}

/** A target that wants to be rolled, once something is found to hold it after all. One that drifted stays Drifted. */
export function heldAfterAll(of: Consideration, against: Hold): Consideration {
  const { view } = of;
  return {
    view:
      view.phase === 'Drifted'
        ? { ...view, reason: against.reason, message: `${view.message}; ${against.message}` }
        : { ...view, phase: 'Held', reason: against.reason, message: against.message },
    item: null,
    until: earliest(of.until, against.until),
  };
}

/** The earlier of two instants, where there is one. */
export function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

function viewOf(of: TargetCase, phase: TargetPhase, reason: string, message: string): TargetView {
  const { spec, memory, seen, wanted } = of;
  const address = workloadOf(spec);
  const workload = seen?.workload.kind === 'read' ? seen.workload.value : null;
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
    desired: 'kind' in wanted ? null : desiredOf(wanted, memory, image),
    desiredLabel: 'kind' in wanted ? null : wanted.resolved.label,
    applied: memory.applied,
    rollbackTo: memory.stuck?.rollbackTo ?? workload?.marks.previousImage ?? null,
  };
}

function desiredOf(wanted: WantedImage, memory: TargetMemory, image: string | null): string {
  return image === null ? deployedImage(wanted.resolved) : desiredImage(wanted, memory, image);
}
