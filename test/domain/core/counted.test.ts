import { expect, test } from 'vitest';
import { counted } from '../../../src/domain/core/counted.ts';

test('one has another noun than many, and none is many', () => {
  expect([0, 1, 2].map((count) => counted(count, 'old pod is', 'old pods are'))).toEqual([
    '0 old pods are',
    '1 old pod is',
    '2 old pods are',
  ]);
  expect(counted(2, 'target')).toBe('2 targets');
});
