import { fail, pass, type Reading, type Verdict } from '../../core/verdict.ts';
import { neverEvicted, planDrain } from '../drain-plan.ts';
import type { GateReading } from '../gate.ts';
import type { PodReading } from '../pod.ts';
import type { NodeRebootSpec } from '../spec.ts';
import type { BudgetsFacts } from './budgets.ts';

export interface DrainFacts extends BudgetsFacts {
  /** Those on the node. */
  readonly pods: Reading<readonly PodReading[]>;
}

/** Every pod of the node can be moved: what blocks a drain is known, all of it, before the node is cordoned. */
export function drainGate({ pods, budgets }: DrainFacts, spec: Pick<NodeRebootSpec, 'drain' | 'gates'>): GateReading {
  const lift = 'move what blocks, loosen its budget, or allow the loss under spec.drain';
  return { gate: 'drain', verdict: judge(pods, budgets, spec), lift };
}

function judge(
  pods: DrainFacts['pods'],
  budgets: BudgetsFacts['budgets'],
  { drain, gates }: Pick<NodeRebootSpec, 'drain' | 'gates'>,
): Verdict {
  if (pods.kind === 'unmeasured') return pods;
  if (budgets.kind === 'unmeasured') return budgets;
  const plan = planDrain(pods.value, drain);
  const expected = gates.budgets === false ? [] : gates.budgets.expectedBlocked;
  const blockers = [...plan.blockers, ...neverEvicted(plan, budgets.value, expected)];
  const [first] = blockers;
  if (first !== undefined) return fail(first.why, blockers.map(({ message }) => message).join('; '));
  return pass(`${plan.evict.length} pods are to be moved`);
}
