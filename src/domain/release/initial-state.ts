import type { ReleaseSpec } from './spec.ts';
import type { ReleaseState, TargetMemory } from './state.ts';

/**
 * A release that has seen nothing yet: on its first run, and after a terminate. What it must not forget (the applied
 * images, the blocked digests) it finds on the objects themselves at its first evaluation.
 */
export function initialState(name: string, spec: ReleaseSpec): ReleaseState {
  return {
    name,
    spec,
    generation: 1,
    paused: null,
    pin: null,
    blocked: [],
    unblocked: {},
    candidates: {},
    targets: {},
    approval: null,
    rollouts: [],
    rolloutCount: 0,
    rollbacks: 0,
    conditions: [],
    evidence: [] as never,
    evaluation: null,
  };
}

/** What is remembered of a target that was never seen. */
export const unknownTarget: TargetMemory = {
  applied: null,
  appliedVersion: null,
  adopted: null,
  passed: null,
  stuck: null,
  notBefore: 0,
  drifts: null,
  skipPreflight: null,
};
