import { expect, test } from 'vitest';
import type { TargetRollout } from '../../../src/domain/release/rollout.ts';
import { underWay } from '../../../src/domain/release/under-way.ts';
import { rolling, rollout } from './rollout-world.ts';

const at = (...steps: TargetRollout['step'][]) =>
  underWay(rollout(steps.map((step, n) => rolling(`web-${n + 1}`, { step }))));

test('a write that is under way is named, since it cannot be called back', () => {
  expect(at('Patching')).toBe(
    '; a write to web-1 is under way: no further try of it is sent, but one that was sent may still take effect',
  );
  expect(at('Waiting', 'RollingBack', 'Done', 'Passing', 'Restoring')).toContain(
    'a write to web-2, web-4, web-5 is under way',
  );
});

test('a step that writes nothing is not named', () => {
  expect(at('Waiting', 'Preflight', 'Approval', 'Rolling', 'Soaking', 'Recovering', 'Done')).toBe('');
  expect(underWay(null)).toBe('');
});

test('five are named, and how many there are besides', () => {
  const many = (count: number) => at(...Array.from({ length: count }, () => 'Patching' as const));
  expect(many(5)).toContain('web-1, web-2, web-3, web-4, web-5 is');
  expect(many(7)).toContain('web-1, web-2, web-3, web-4, web-5 and 2 more is');
});
