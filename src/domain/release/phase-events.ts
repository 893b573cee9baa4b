import { addressOf } from './address.ts';
import type { TargetEvent } from './events.ts';
import type { Evaluation, TargetView } from './plan.ts';
import { targetName, type ReleaseSpec } from './spec.ts';

/**
 * One event for each target whose phase or reason changed between two evaluations; those of a rollout tell of
 * themselves. First sight is no change.
 */
export function phaseEvents(
  before: Evaluation | null,
  after: Evaluation,
  spec: ReleaseSpec,
  now: number,
): TargetEvent[] {
  if (before === null) return [];
  const was = new Map(before.targets.map((view) => [view.name, view]));
  const specs = new Map(spec.targets.map((target) => [targetName(target), target]));
  return after.targets.flatMap((view) => {
    const target = specs.get(view.name);
    const said = saying(was.get(view.name), view);
    if (target === undefined || said === null) return [];
    return {
      target: addressOf(target, spec),
      ...said,
      key: `${after.plan.release}/${view.name}/${said.reason}/${now}`,
    };
  });
}

function saying(was: TargetView | undefined, is: TargetView): Pick<TargetEvent, 'type' | 'reason' | 'message'> | null {
  if (was === undefined || (was.phase === is.phase && was.reason === is.reason)) return null;
  switch (is.phase) {
    case 'Drifted':
    case 'Unknown':
      return { type: 'Warning', reason: is.phase, message: is.message };
    case 'Held':
      return { type: 'Normal', reason: `Held${is.reason}`, message: is.message };
    default:
      return null;
  }
}
