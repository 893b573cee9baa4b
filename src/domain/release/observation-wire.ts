import { pack, unpack, type Packed } from '../core/packed.ts';
import type { Observation, TargetObservation } from './observation.ts';

/** An observation as it goes through Temporal. */
export type ObservationOnTheWire = Packed<Observation>;

/**
 * An observation for the way through Temporal: what repeats stands once, and placements, which no evaluation looks at
 * and a preflight reads anew, stay behind.
 */
export function observationOnTheWire(observation: Observation): ObservationOnTheWire {
  const targets = Object.fromEntries(
    Object.entries(observation.targets).map(([name, target]) => [name, withoutPlacements(target)]),
  );
  return pack({ ...observation, targets });
}

/** The observation, after it has come through Temporal. */
export function observationOffTheWire(wire: ObservationOnTheWire): Observation {
  return unpack(wire);
}

function withoutPlacements(target: TargetObservation): TargetObservation {
  const { workload } = target;
  if (workload.kind === 'unmeasured' || workload.value.marks.placements === null) return target;
  const marks = { ...workload.value.marks, placements: null };
  return { ...target, workload: { ...workload, value: { ...workload.value, marks } } };
}
