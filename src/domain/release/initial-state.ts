import { setCondition } from '../core/conditions.ts';
import { emptyEvidence } from '../core/evidence.ts';
import type { ReleaseSpec } from './spec.ts';
import type { ReleaseState, TargetMemory } from './state.ts';

/**
 * A release that has seen nothing yet: on its first run, and after a terminate. What it must not forget (the applied
 * images, the blocked digests) it finds on the objects themselves at its first evaluation.
 *
 * @param name without `release/`
 * @param now epoch milliseconds
 */
export function initialState(name: string, spec: ReleaseSpec, now: number): ReleaseState {
  const notEvaluated = {
    type: 'Ready',
    status: 'Unknown',
    reason: 'Unknown',
    message: 'nothing was evaluated yet',
    observedGeneration: 1,
  } as const;
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
    freezes: [],
    conditions: setCondition([], notEvaluated, now),
    evidence: emptyEvidence,
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
  notBegun: null,
  drifts: null,
  skipPreflight: null,
};
