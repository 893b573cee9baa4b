import { describe, expect, test } from 'vitest';
import { fail } from '../../../src/domain/core/verdict.ts';
import { transitionEvents } from '../../../src/domain/release/events.ts';
import { applyControl } from '../../../src/domain/release/controls.ts';
import type { RolloutState } from '../../../src/domain/release/rollout.ts';
import {
  begin,
  crash,
  gate,
  NOW,
  preflight,
  recovery,
  restore,
  scout,
  settle,
  take,
  unmeasuredGate,
  write,
} from './rollout-steps.ts';

const restoring = take(begin(), 'web-1', preflight({ placements: [scout] }), write('patch'), gate(undefined, [scout]));

function reasons(before: RolloutState, after: RolloutState): string[] {
  const events = transitionEvents(before, after, 'run').filter((event) => event.target.name === 'web-1');
  return events.map((event) => event.reason);
}

function goingBack(): RolloutState {
  const failed = take(begin(), 'web-1', preflight({ placements: [scout] }), write('patch'), gate(crash));
  return take(failed, 'web-1', write('rollBack'), recovery(undefined, [scout]));
}

describe('PlacementsRestored', () => {
  test('is told before what follows it, and names the agents', () => {
    const after = take(restoring, 'web-1', restore());
    expect(reasons(restoring, after)).toEqual(['PlacementsRestored', 'Soaking']);
    expect(transitionEvents(restoring, after, 'run')[0]?.message).toMatch(/placements of scout /);
  });

  test('is told of a way back, too', () => {
    const before = goingBack();
    expect(reasons(before, take(before, 'web-1', restore()))).toEqual(['PlacementsRestored', 'RolledBack']);
  });

  test('is not told where they could not be written back', () => {
    const before = goingBack();
    const refused = restore(fail('PlacementRefused', 'PUT answered 500'));
    expect(reasons(before, take(before, 'web-1', refused))).toEqual(['RolledBack']);
    expect(reasons(restoring, take(restoring, 'web-1', refused))).toEqual(['RollingBack']);
    expect(reasons(restoring, take(restoring, 'web-1', restore(unmeasuredGate)))).toEqual(['Failed']);
  });

  test('is not told where a person ended the rollout before', () => {
    const aborted = applyControl(restoring, { kind: 'abort', how: 'stop', now: false, by: 'ana', reason: '' }, NOW);
    expect(reasons(aborted, take(aborted, 'web-1', settle))).toEqual(['Aborted']);
  });
});
