import { describe, expect, test } from 'vitest';
import { fail } from '../../../src/domain/core/verdict.ts';
import { transitionEvents } from '../../../src/domain/release/events.ts';
import { applyControl } from '../../../src/domain/release/controls.ts';
import type { RolloutState } from '../../../src/domain/release/rollout.ts';
import {
  begin,
  crash,
  FROM,
  gate,
  NOW,
  preflight,
  recovery,
  restore,
  scout,
  settle,
  soak,
  take,
  TO,
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

/** One line for each event between two states, of all targets: `web-1 Normal Soaking: …`. */
function said(before: RolloutState, after: RolloutState): string[] {
  return transitionEvents(before, after, 'run').map((e) => `${e.target.name} ${e.type} ${e.reason}: ${e.message}`);
}

describe('each transition of a target', () => {
  const start = begin();
  const patching = take(start, 'web-1', preflight());
  const rolling = take(patching, 'web-1', write('patch'));
  const soaking = take(rolling, 'web-1', gate());
  const failed = take(rolling, 'web-1', gate(crash));

  test('forward is an event, and a step without one for people is none', () => {
    expect(said(start, patching)).toEqual([`web-1 Normal RollingOut: rolling out v6-b1 (${TO}), from ${FROM}`]);
    expect(said(patching, rolling)).toEqual([]);
    expect(said(rolling, soaking)).toEqual(['web-1 Normal Soaking: v6-b1 passed the gate and soaks']);
    const passed = take(soaking, 'web-1', soak());
    expect(said(soaking, passed)).toEqual([]);
    expect(said(passed, take(passed, 'web-1', write('markPassed')))).toEqual([
      'web-1 Normal Promoted: v6-b1 passed its soak',
    ]);
  });

  test('back is a warning with why, and its end with where it went back from', () => {
    expect(said(rolling, failed)).toContain(
      `web-1 Warning RollingBack: rolling back to ${FROM}: container app crashes`,
    );
    const back = take(failed, 'web-1', write('rollBack'), recovery());
    expect(said(failed, back)).toEqual([
      `web-1 Warning RolledBack: rolled back from v6-b1 to ${FROM}: container app crashes`,
    ]);
  });

  test('that could not be begun, or not be measured, is a warning', () => {
    const sick = take(start, 'web-1', preflight({}, fail('Unhealthy', 'answers 500')));
    expect(said(start, sick)[0]).toMatch(/^web-1 Warning PreflightFailed: Unhealthy: answers 500; nothing was changed/);
    expect(said(rolling, take(rolling, 'web-1', gate(unmeasuredGate)))[0]).toMatch(
      /^web-1 Warning Failed: NOT rolled back/,
    );
  });

  test('that ends without a failure of its own is told by its reason, or by its phase where it has none', () => {
    expect(said(rolling, failed)).toContain(
      'web-2 Normal StoppedByFailure: not started: web-1 stopped the rollout: container app crashes',
    );
    const outcome = { phase: 'Held', reason: '', message: 'held' } as const;
    const [first, ...rest] = start.targets;
    if (first === undefined) throw new Error('no target');
    const held = { ...start, targets: [{ ...first, outcome }, ...rest] };
    expect(said(start, held)).toEqual(['web-1 Normal Held: held']);
    expect(said(held, { ...held, targets: [{ ...first, outcome, since: 1 }, ...rest] })).toEqual([]);
  });

  test('has a key of its own, the same each time it is told', () => {
    const keys = transitionEvents(rolling, failed, 'run').map((event) => event.key);
    expect(keys).toEqual(['run/web-1/RollingBack', 'run/web-2/StoppedByFailure', 'run/web-3/StoppedByFailure']);
  });

  test('names all agents whose placement was written back', () => {
    const two = [scout, { ...scout, name: 'writer' }];
    const restoringTwo = take(rolling, 'web-1', gate(undefined, two));
    expect(said(restoringTwo, take(restoringTwo, 'web-1', restore()))[0]).toBe(
      'web-1 Normal PlacementsRestored: placements of scout, writer were written back as they were before',
    );
  });
});

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
