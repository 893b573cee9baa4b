import type { RolloutState, TargetRollout } from './rollout.ts';

/**
 * Until when a write of the target's step is tried as long as nobody knows whether it is in effect, epoch milliseconds.
 * After it the rollout says so and stops.
 */
export function writeDeadline({ spec }: Pick<RolloutState, 'spec'>, { step, since }: TargetRollout): number {
  return since + (step === 'Patching' ? spec.rolloutTimeout : spec.rollbackTimeout);
}
