import { setCondition } from '../core/conditions.ts';
import { emptyEvidence } from '../core/evidence.ts';
import type { KeycloakFlowSpec } from './spec.ts';
import type { KeycloakFlowState } from './state.ts';

/**
 * A KeycloakFlow that has seen nothing yet: on its first run, and after a terminate. What it must not forget (what was
 * bound, the way back, a hold) it finds in the realm at its first pass.
 *
 * @param name without `keycloakflow/`
 * @param now epoch milliseconds
 */
export function initialState(name: string, spec: KeycloakFlowSpec, now: number): KeycloakFlowState {
  const notRead = {
    type: 'Ready',
    status: 'Unknown',
    reason: 'Unknown',
    message: 'no pass was made yet',
    observedGeneration: 1,
  } as const;
  return {
    name,
    spec,
    generation: 1,
    paused: null,
    hold: null,
    rollback: null,
    lift: null,
    approval: null,
    rejection: null,
    pending: null,
    proofs: {},
    givenUp: {},
    stopped: null,
    forgivenAt: 0,
    observation: null,
    lastRun: null,
    runs: [],
    runCount: 0,
    binds: 0,
    rollbacks: 0,
    conditions: setCondition([], notRead, now),
    evidence: emptyEvidence,
    told: {},
  };
}
