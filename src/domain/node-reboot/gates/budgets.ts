import { z } from 'zod';
import { fail, pass, unmeasured, type Reading, type Verdict } from '../../core/verdict.ts';
import type { GateReading, GateStage } from '../gate.ts';
import type { GatesSpec } from '../gates-spec.ts';
import { labelSelectorSchema, type LabelSelector } from '../label-selector.ts';
import { readObjects, type RawObjects } from '../read-objects.ts';

export interface BudgetsFacts {
  readonly budgets: Reading<readonly Budget[]>;
}

/** A PodDisruptionBudget. */
export interface Budget {
  /** NAMESPACE/NAME. */
  readonly name: string;
  readonly namespace: string;
  readonly selector: LabelSelector | null;
  /** Pods that are not ready may be evicted whatever it allows. */
  readonly sparesUnready: boolean;
  /** Its controller has looked at the newest spec: before that the numbers say nothing. */
  readonly observed: boolean;
  readonly allowed: number;
  readonly expectedPods: number;
  readonly desiredHealthy: number;
}

const budgetSchema = z
  .object({
    metadata: z.object({ namespace: z.string(), name: z.string(), generation: z.number().default(1) }),
    spec: z.object({ selector: labelSelectorSchema.nullish(), unhealthyPodEvictionPolicy: z.string().nullish() }),
    status: z.object({
      observedGeneration: z.number().default(0),
      disruptionsAllowed: z.number(),
      expectedPods: z.number(),
      desiredHealthy: z.number(),
    }),
  })
  .transform(({ metadata, spec, status }): Budget => ({
    name: `${metadata.namespace}/${metadata.name}`,
    namespace: metadata.namespace,
    selector: spec.selector ?? null,
    sparesUnready: spec.unhealthyPodEvictionPolicy === 'AlwaysAllow',
    observed: status.observedGeneration >= metadata.generation,
    allowed: status.disruptionsAllowed,
    expectedPods: status.expectedPods,
    desiredHealthy: status.desiredHealthy,
  }));

/** @param budgets all of the cluster, as `policy/v1` lists them */
export function readBudgets(budgets: RawObjects): BudgetsFacts {
  return { budgets: readObjects(budgets, 'disruption budgets', budgetSchema) };
}

/**
 * No disruption budget allows nothing, apart from those that are expected to. One that has no pods forbids nothing, and an
 * expected one that allows an eviction now, or is gone, is no failure. Between drain and reboot nothing is evicted any
 * more, and budgets that the drain has used up hold nothing back.
 */
export function budgetsGate(
  { budgets }: BudgetsFacts,
  spec: Exclude<GatesSpec['budgets'], false>,
  stage: GateStage,
): GateReading {
  const lift = 'make the pods of the budget healthy, give it more of them, or name it in gates.budgets.expectedBlocked';
  return { gate: 'budgets', verdict: judge(budgets, spec.expectedBlocked, stage), lift };
}

function judge(budgets: Reading<readonly Budget[]>, expected: readonly string[], stage: GateStage): Verdict {
  if (budgets.kind === 'unmeasured') return budgets;
  if (stage === 'last') return pass('nothing more is evicted');
  const others = budgets.value.filter(({ name }) => !expected.includes(name));
  const blocked = others.filter(({ observed, allowed, expectedPods }) => observed && allowed < 1 && expectedPods > 0);
  if (blocked.length > 0) {
    return fail('BudgetBlocks', `no eviction is allowed by ${blocked.map(({ name }) => name).join(', ')}`);
  }
  const unseen = others.filter(({ observed }) => !observed).map(({ name }) => name);
  if (unseen.length > 0) {
    const message = `the controller has not looked at the newest spec of ${unseen.join(', ')}`;
    return unmeasured('disruption budgets', 'API server', 'not-ready', message);
  }
  return pass(`${budgets.value.length} disruption budgets, of which only expected ones allow nothing`);
}
