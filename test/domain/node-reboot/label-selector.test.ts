import { describe, expect, test } from 'vitest';
import { labelSelectorSchema, selects } from '../../../src/domain/node-reboot/label-selector.ts';

const labels = { app: 'web', tier: 'front' };

function selected(selector: object, of: Readonly<Record<string, string>> = labels): boolean {
  return selects(labelSelectorSchema.parse(selector), of);
}

function expression(key: string, operator: string, ...values: readonly string[]) {
  return { matchExpressions: [{ key, operator, values }] };
}

describe('a label selector', () => {
  test('selects everything where it is empty, and nothing where it is absent', () => {
    expect(selected({})).toBe(true);
    expect(selects(null, labels)).toBe(false);
  });

  test('wants all its labels', () => {
    expect(selected({ matchLabels: { app: 'web', tier: 'front' } })).toBe(true);
    expect(selected({ matchLabels: { app: 'web', tier: 'back' } })).toBe(false);
    expect(selected({ matchLabels: { constructor: 'web' } })).toBe(false);
  });

  test('wants all its expressions, beside its labels', () => {
    expect(selected(expression('app', 'In', 'web', 'api'))).toBe(true);
    expect(selected(expression('app', 'In', 'api'))).toBe(false);
    expect(selected(expression('zone', 'In', 'a'))).toBe(false);
    expect(selected(expression('app', 'NotIn', 'web'))).toBe(false);
    expect(selected(expression('zone', 'NotIn', 'a'))).toBe(true);
    expect(selected(expression('app', 'Exists'))).toBe(true);
    expect(selected(expression('zone', 'Exists'))).toBe(false);
    expect(selected(expression('zone', 'DoesNotExist'))).toBe(true);
    expect(selected(expression('app', 'DoesNotExist'))).toBe(false);
    expect(selected({ matchLabels: { app: 'web' }, ...expression('tier', 'In', 'back') })).toBe(false);
  });

  test('with an operator that nobody knows is no selector', () => {
    expect(labelSelectorSchema.safeParse(expression('app', 'Like', 'w')).success).toBe(false);
  });
});
