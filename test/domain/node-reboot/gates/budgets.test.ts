import { describe, expect, test } from 'vitest';
import { read, unmeasured } from '../../../../src/domain/core/verdict.ts';
import { budgetsGate, readBudgets } from '../../../../src/domain/node-reboot/gates/budgets.ts';

interface Written {
  readonly name: string;
  readonly allowed: number;
  readonly expectedPods?: number;
  readonly generation?: number;
}

function listed(...budgets: readonly Written[]) {
  return read(
    budgets.map(({ name, allowed, expectedPods = 1, generation = 1 }) => ({
      metadata: { namespace: 'shop', name, generation },
      spec: { minAvailable: 1, selector: { matchLabels: { app: name } } },
      status: {
        observedGeneration: 1,
        disruptionsAllowed: allowed,
        currentHealthy: 1,
        desiredHealthy: 1,
        expectedPods,
      },
    })),
  );
}

function gate(budgets: ReturnType<typeof listed>, expectedBlocked: string[] = [], stage: 'before' | 'last' = 'before') {
  return budgetsGate(readBudgets(budgets), { expectedBlocked }, stage).verdict;
}

describe('disruption budgets', () => {
  test('NR-33 a budget that allows nothing holds the node back, by its name', () => {
    expect(gate(listed({ name: 'web', allowed: 0 }, { name: 'cart', allowed: 1 }))).toMatchObject({
      kind: 'fail',
      reason: 'BudgetBlocks',
      message: 'no eviction is allowed by shop/web',
    });
  });

  test('NR-33 those that are expected to allow nothing are no failure, whether they do, allow now, or are gone', () => {
    const expected = ['shop/web', 'shop/cart', 'shop/gone'];
    expect(gate(listed({ name: 'web', allowed: 0 }, { name: 'cart', allowed: 1 }), expected).kind).toBe('pass');
    expect(gate(listed(), expected).kind).toBe('pass');
  });

  test('an expected name covers no other namespace and no other budget', () => {
    expect(gate(listed({ name: 'web', allowed: 0 }), ['web', 'shop/we', 'other/web']).kind).toBe('fail');
  });

  test('a budget without pods forbids nothing', () => {
    expect(gate(listed({ name: 'web', allowed: 0, expectedPods: 0 })).kind).toBe('pass');
  });

  test('numbers of an older spec say nothing', () => {
    expect(gate(listed({ name: 'web', allowed: 1, generation: 2 }))).toMatchObject({
      kind: 'unmeasured',
      why: 'not-ready',
    });
  });

  test('what the drain has used up holds nothing back before the reboot', () => {
    expect(gate(listed({ name: 'web', allowed: 0 }), [], 'last').kind).toBe('pass');
  });

  test.each(['before', 'last', 'after'] as const)('a list that was denied stays denied (%s)', (stage) => {
    const denied = unmeasured('budgets', 'API server', 'denied', 'forbidden');
    expect(budgetsGate(readBudgets(denied), { expectedBlocked: [] }, stage).verdict).toBe(denied);
  });

  test('a budget that cannot be understood makes all unmeasured, and is named', () => {
    const odd = read([{ metadata: { namespace: 'shop', name: 'web' }, spec: {}, status: { disruptionsAllowed: '1' } }]);
    const { verdict } = budgetsGate(readBudgets(odd), { expectedBlocked: [] }, 'before');
    expect(verdict).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    expect(verdict.message).toContain('shop/web');
  });
});
