import { addressOf, type TargetAddress } from './address.ts';
import type { RolloutState, TargetRollout } from './rollout.ts';
import { targetName } from './spec.ts';

/** A Kubernetes event on a target's workload. */
export interface TargetEvent {
  readonly target: TargetAddress;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, such as RollingBack. */
  readonly reason: string;
  readonly message: string;
  /** Makes repeats of one event the same event. */
  readonly key: string;
}

/**
 * The events of what changed between two states of a rollout: one for each transition of a target.
 *
 * @param run tells this rollout's events from another's; part of each key.
 */
export function transitionEvents(before: RolloutState, after: RolloutState, run: string): TargetEvent[] {
  const events: TargetEvent[] = [];
  for (const [index, target] of after.targets.entries()) {
    const was = before.targets[index];
    if (was === undefined || was === target) continue;
    const spec = after.spec.targets.find((t) => targetName(t) === target.item.target);
    if (!spec) continue;
    const said = sayings(was, target);
    for (const [type, reason, message] of said) {
      events.push({
        target: addressOf(spec, after.spec),
        type,
        reason,
        message,
        key: `${run}/${target.item.target}/${reason}`,
      });
    }
  }
  return events;
}

type Saying = [type: TargetEvent['type'], reason: string, message: string];

function sayings(was: TargetRollout, is: TargetRollout): Saying[] {
  const { from, to, toLabel } = is.item;
  const said: Saying[] = [];
  if (was.step !== is.step) {
    if (isRestored(was, is)) {
      const agents = was.moved.map((placement) => placement.name).join(', ');
      said.push(['Normal', 'PlacementsRestored', `placements of ${agents} were written back as they were before`]);
    }
    if (is.step === 'Patching') said.push(['Normal', 'RollingOut', `rolling out ${toLabel} (${to}), from ${from}`]);
    if (is.step === 'Soaking') said.push(['Normal', 'Soaking', `${toLabel} passed the gate and soaks`]);
    if (is.step === 'RollingBack') {
      said.push([
        'Warning',
        'RollingBack',
        `rolling back to ${is.rollbackTo?.image ?? 'the image before'}: ${is.failure?.message ?? 'asked for by a person'}`,
      ]);
    }
  }
  if (was.outcome === null && is.outcome !== null) {
    const { phase, reason, message } = is.outcome;
    if (phase === 'Current') said.push(['Normal', 'Promoted', `${toLabel} passed its soak`]);
    else if (reason === 'PreflightFailed') said.push(['Warning', 'PreflightFailed', message]);
    else if (phase === 'RolledBack') said.push(['Warning', 'RolledBack', message]);
    else if (phase === 'Failed') said.push(['Warning', 'Failed', message]);
    else said.push(['Normal', reason === '' ? phase : reason, message]);
  }
  return said;
}

/** Only what was read back empties the list: a restoration that was aborted, refused or not measured leaves it. */
function isRestored(was: TargetRollout, is: TargetRollout): boolean {
  return was.step === 'Restoring' && was.moved.length > 0 && is.moved.length === 0;
}
