import type { Evaluation, TargetView } from './plan.ts';
import { awaitsApproval } from './may-start.ts';
import type { RolloutState } from './rollout.ts';
import type { ReleaseState } from './state.ts';

/**
 * One word for a whole release, the first that holds:
 * - `Suspended`: `spec.suspend`; nothing is evaluated.
 * - `AwaitingApproval`: the plan, or a rollout's next step, waits for a person.
 * - `RollingOut`: a rollout is under way, also while it is frozen by Shadow or pause.
 * - `Degraded`: a target is RolledBack or Failed.
 * - `Unknown`: nothing was evaluated yet, a target or the registry could not be read, or what is wanted is not there.
 * - `Pending`: there is a plan; Enforce starts it, Shadow shows it.
 * - `Held`: a target is Held, or drifted and may not be brought back now.
 * - `Current`: every target runs what is wanted.
 */
export const releasePhases = [
  'Suspended',
  'AwaitingApproval',
  'RollingOut',
  'Degraded',
  'Unknown',
  'Pending',
  'Held',
  'Current',
] as const;
export type ReleasePhase = (typeof releasePhases)[number];

/** The word for a release as it is now. @param rollout the living one; null where there is none */
export function phaseNow(state: ReleaseState, rollout: RolloutState | null): ReleasePhase {
  const { evaluation, spec } = state;
  return releasePhase(spec.suspend, evaluation, evaluation?.targets ?? [], rollout, awaitsApproval(state));
}

/** The word for a release. */
export function releasePhase(
  suspend: boolean,
  evaluation: Evaluation | null,
  targets: readonly TargetView[],
  rollout: RolloutState | null,
  awaitsApproval: boolean,
): ReleasePhase {
  if (suspend) return 'Suspended';
  if (rollout !== null) {
    const steps = rollout.targets.map((t) => t.step);
    const moving = steps.some((step) => step !== 'Waiting' && step !== 'Done' && step !== 'Approval');
    return !moving && steps.includes('Approval') ? 'AwaitingApproval' : 'RollingOut';
  }
  if (evaluation === null) return 'Unknown';
  if (awaitsApproval) return 'AwaitingApproval';
  const has = (...phases: readonly TargetView['phase'][]): boolean => targets.some((t) => phases.includes(t.phase));
  if (has('RolledBack', 'Failed')) return 'Degraded';
  const unresolved = targets.some((t) => t.reason === 'LineUnresolved');
  if (has('Unknown') || unresolved || !evaluation.registryReachable) return 'Unknown';
  if (evaluation.plan.items.length > 0) return 'Pending';
  if (has('Held', 'Drifted')) return evaluation.effectiveMode === 'Observe' && !has('Held') ? 'Pending' : 'Held';
  return has('Pending') ? 'Pending' : 'Current';
}
