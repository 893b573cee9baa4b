import { setCondition, type Condition, type ConditionUpdate } from '../core/conditions.ts';
import { runOutcome, type PassOutcome, type PassResult } from './passes.ts';
import type { KeycloakFlowState } from './state.ts';

type Said = Omit<ConditionUpdate, 'observedGeneration'>;

/** What is only changed by a person. */
const needsPerson: readonly PassOutcome[] = ['Problem', 'Refused'];

/** The conditions after a run. Ready: everything is as declared. A candidate that waits is not ready, and not stuck. */
export function flowConditions(
  { conditions, generation }: KeycloakFlowState,
  passes: readonly PassResult[],
  now: number,
): readonly Condition[] {
  const outcome = runOutcome(passes);
  const worst = passes.find((pass) => pass.outcome === outcome);
  const all: readonly Said[] = [
    ready(outcome, worst),
    {
      type: 'Reconciling',
      status: 'False',
      reason: 'Idle',
      message: '',
    },
    stalled(outcome, worst),
    ...passes.map(ofPass),
  ];
  return all.reduce(
    (before, condition) => setCondition(before, { ...condition, observedGeneration: generation }, now),
    conditions,
  );
}

function ready(outcome: PassOutcome, worst: PassResult | undefined): Said {
  const good = outcome === 'Converged' || outcome === 'Bound';
  const message = worst?.message ?? 'no pass was made';
  return {
    type: 'Ready',
    status: good ? 'True' : outcome === 'Undetermined' ? 'Unknown' : 'False',
    reason: outcome,
    message: message.trim(),
  };
}

function stalled(outcome: PassOutcome, worst: PassResult | undefined): Said {
  const stuck = needsPerson.includes(outcome);
  return {
    type: 'Stalled',
    status: stuck ? 'True' : 'False',
    reason: stuck ? (worst?.reason ?? outcome) : 'NotStalled',
    message: stuck ? (worst?.message ?? '').trim() : '',
  };
}

const types = {
  policy: 'PolicyAsDeclared',
  requiredAction: 'RequiredActionAsDeclared',
  flow: 'FlowAsDeclared',
} as const;

function ofPass({ pass, outcome, reason, message }: PassResult): Said {
  const good = outcome === 'Converged' || outcome === 'Bound';
  return {
    type: types[pass],
    status: good ? 'True' : outcome === 'Undetermined' ? 'Unknown' : 'False',
    reason,
    message: message.trim(),
  };
}
