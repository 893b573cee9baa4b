import { advanceRun } from './advance-run.ts';
import { initialState } from './initial-state.ts';
import type { BoundFacts, FlowObservation } from './observation.ts';
import { passNames, runOutcome, type PassOutcome, type PassResult } from './passes.ts';
import { newRun } from './run.ts';
import type { KeycloakFlowSpec } from './spec.ts';
import type { BoundStatus } from './status.ts';

/** What Enforce would do now, as `plan -o json` prints it. Fields are only ever added. Plain JSON. */
export interface FlowPlan {
  readonly realm: string;
  /** The mode that the spec asks for. */
  readonly mode: string;
  readonly outcome: PassOutcome;
  readonly passes: readonly PassResult[];
  /** Null where it could not be read. */
  readonly bound: Pick<BoundStatus, 'alias' | 'asDeclared' | 'diff'> | null;
}

/**
 * The passes of a spec that may not be applied yet, as Shadow would make them: one look, and nothing written. What
 * a KeycloakFlow that runs remembers (approvals, proofs) is not in it; what the realm itself says (a hold) is.
 *
 * @param now epoch milliseconds
 */
export function planFlow(name: string, spec: KeycloakFlowSpec, observation: FlowObservation, now: number): FlowPlan {
  const state = initialState(name, { ...spec, mode: 'Shadow', suspend: false }, now);
  const { run } = advanceRun(state, { ...newRun('plan', now), observation }, now);
  const passes = passNames.flatMap((pass) => run[pass] ?? []);
  return {
    realm: spec.desired.realm,
    mode: spec.mode,
    outcome: runOutcome(passes),
    passes,
    bound: observation.bound.kind === 'read' ? shown(observation.bound.value) : null,
  };
}

function shown({ alias, asDeclared, diff }: BoundFacts): FlowPlan['bound'] {
  return { alias, asDeclared, diff };
}
