import { describe, expect, test } from 'vitest';
import { fail, type Verdict } from '../../../src/domain/core/verdict.ts';
import type { Marks } from '../../../src/domain/release/observation.ts';
import { abortRollout, decideStep, isFinished, targetsInWave } from '../../../src/domain/release/rollout-control.ts';
import { wavesOf } from '../../../src/domain/release/rollout-start.ts';
import { targetOf } from '../../../src/domain/release/advance-rollout.ts';
import {
  begin,
  crash,
  FROM,
  gate,
  good,
  item,
  next,
  of,
  outcomes,
  ownMarks,
  preflight,
  recovery,
  restore,
  scout,
  settle,
  soak,
  take,
  TO,
  todo,
  unknownWrite,
  unmeasuredGate,
  write,
} from './rollout-steps.ts';
import { digest, image, MINUTE, NOW, target } from './world.ts';

const iso = (ms: number) => new Date(ms).toISOString();
const five = ['a', 'b', 'c', 'd', 'e'];

describe('waves', () => {
  test('are the canary alone, then one target at a time', () => {
    expect(wavesOf(['a', 'b', 'c'], undefined)).toEqual([['a'], ['b'], ['c']]);
    expect(wavesOf([], undefined)).toEqual([]);
    expect(wavesOf(['a'], [3])).toEqual([['a']]);
  });

  test('take the sizes in order, and the last one repeats', () => {
    expect(wavesOf(five, [1, 2])).toEqual([['a'], ['b'], ['c', 'd'], ['e']]);
    expect(wavesOf(five, [2])).toEqual([['a'], ['b', 'c'], ['d', 'e']]);
    expect(wavesOf(five, [9])).toEqual([['a'], ['b', 'c', 'd', 'e']]);
    expect(wavesOf(['a', 'b'], [])).toEqual([['a'], ['b']]);
  });

  test('take percentages of all targets, rounded down, and at least one', () => {
    expect(wavesOf(five, ['50%'])).toEqual([['a'], ['b', 'c'], ['d', 'e']]);
    expect(wavesOf(five, ['10%'])).toEqual([['a'], ['b'], ['c'], ['d'], ['e']]);
    expect(wavesOf(five, ['100%'])).toEqual([['a'], ['b', 'c', 'd', 'e']]);
  });

  test('are told by their number', () => {
    expect([0, 1, 9].map((wave) => targetsInWave(begin({ waves: [2] }), wave))).toEqual([
      ['web-1'],
      ['web-2', 'web-3'],
      [],
    ]);
  });
});

describe('a good rollout', () => {
  test('goes through its steps, target by target', () => {
    let state = begin();
    expect(todo(state)).toBe('web-1 preflight, web-2 wait wave, web-3 wait wave');
    expect(of(state).step).toBe('Preflight');
    state = take(state, 'web-1', ...good.slice(0, 1));
    expect(todo(state)).toBe('web-1 patch, web-2 wait wave, web-3 wait wave');
    state = take(state, 'web-1', ...good.slice(1, 2));
    expect(todo(state)).toBe('web-1 watchRollout, web-2 wait wave, web-3 wait wave');
    state = take(state, 'web-1', ...good.slice(2, 3));
    expect(todo(state)).toBe('web-1 watchSoak, web-2 wait wave, web-3 wait wave');
    state = take(state, 'web-1', ...good.slice(3, 4));
    expect(todo(state)).toBe('web-1 markPassed, web-2 wait wave, web-3 wait wave');
    expect(isFinished(state)).toBe(false);
    state = take(state, 'web-1', ...good.slice(4));
    expect(todo(state)).toBe('web-1 done, web-2 preflight, web-3 wait wave');
    expect(of(state).outcome).toEqual({ phase: 'Current', reason: '', message: `v6-b1 (${TO}) passed gate and soak` });
    state = take(take(state, 'web-2', ...good), 'web-3', ...good);
    expect(outcomes(state)).toBe('web-1 Current, web-2 Current, web-3 Current');
    expect(isFinished(state)).toBe(true);
    expect(state.stopped).toBeNull();
  });

  test('patches image and way back in one write, with the instant at which the step began', () => {
    const state = take(begin(), 'web-1', preflight({ placements: [scout] }));
    expect(next(state)).toEqual({
      do: 'patch',
      // What the preflight read: a write of ours since then is another run's.
      lastWrite: { upgradedAt: '2026-01-01T00:00:00.000Z', rolledBackAt: null },
      from: FROM,
      to: TO,
      marks: {
        managedBy: 'release/hive',
        applied: TO,
        version: 'v6-b1',
        previousImage: FROM,
        previousVersion: 'v6-a0',
        upgradedAt: iso(NOW + 1_000),
        rolledBackFrom: null,
        rolledBackAt: null,
        placements: [scout],
      },
    });
    expect(of(state)).toMatchObject({
      changed: false,
      rollbackTo: { image: FROM, version: 'v6-a0' },
      placements: [scout],
    });
    expect(of(take(state, 'web-1', write('patch')))).toMatchObject({ changed: true, step: 'Rolling' });
  });

  test('waits with its own time-outs, from the beginning of each step', () => {
    let state = take(begin(), 'web-1', preflight(), write('patch'));
    expect(next(state)).toEqual({
      do: 'watchRollout',
      image: TO,
      deadline: NOW + 2_000 + 7 * MINUTE,
      gateTimeoutMs: 3 * MINUTE,
    });
    state = take(state, 'web-1', gate());
    expect(of(state).restarts).toEqual({ 'uid/app': 1 });
    expect(next(state)).toEqual({ do: 'watchSoak', image: TO, until: NOW + 1_000 + 10 * MINUTE });
    const own = begin({ targets: [target('web-1', { soak: '3m' }), target('web-2')] }, [item()]);
    expect(next(take(own, 'web-1', preflight(), write('patch'), gate()))).toMatchObject({
      until: NOW + 3_000 + 3 * MINUTE,
    });
  });

  test('writes placements back that the swap has moved, before it soaks', () => {
    const state = take(begin(), 'web-1', preflight({ placements: [scout] }), write('patch'), gate(undefined, [scout]));
    expect(of(state).step).toBe('Restoring');
    expect(next(state)).toEqual({ do: 'restorePlacements', placements: [scout] });
    const after = take(state, 'web-1', restore());
    expect(of(after)).toMatchObject({ step: 'Soaking', moved: [] });
  });

  test('marks what has passed', () => {
    const state = take(begin(), 'web-1', ...good.slice(0, 4));
    expect(next(state)).toEqual({ do: 'markPassed', marks: { passed: TO, placements: null } });
  });

  test('of a wave runs its targets side by side, and the next wave waits for all of them', () => {
    const items = ['a', 'b', 'c', 'd'].map((name) => item(name));
    const targets = ['a', 'b', 'c', 'd'].map((name) => target(name));
    let state = take(begin({ waves: [2], targets }, items), 'a', ...good);
    expect(todo(state)).toBe('a done, b preflight, c preflight, d wait wave');
    state = take(state, 'c', ...good);
    expect(todo(state)).toBe('a done, b preflight, c done, d wait wave');
    expect(todo(take(state, 'b', ...good))).toBe('a done, b done, c done, d preflight');
  });

  test('that could not be marked is promoted all the same, and says so', () => {
    const passed = take(begin(), 'web-1', ...good.slice(0, 4));
    const denied = write('markPassed', { kind: 'refused', reason: 'Denied', message: 'forbidden' });
    expect(of(take(passed, 'web-1', denied)).outcome).toEqual({
      phase: 'Current',
      reason: '',
      message: `v6-b1 (${TO}) passed gate and soak; it could not be marked as passed: forbidden`,
    });
  });

  test('whose mark may or may not be written tries again, for a bounded time', () => {
    const passed = begin({ rollbackTimeout: '10s' });
    const at = {
      ...passed,
      targets: passed.targets.map((t) => ({ ...t, step: 'Passing' as const, since: NOW - 9_000 })),
    };
    // One second later 10 s have gone by.
    expect(of(take(at, 'web-1', write('markPassed', unknownWrite))).outcome?.phase).toBe('Current');
    const later = { ...at, targets: at.targets.map((t) => ({ ...t, since: NOW - 8_999 })) };
    expect(of(take(later, 'web-1', write('markPassed', unknownWrite)))).toMatchObject({
      step: 'Passing',
      outcome: null,
    });
  });

  test('replaced by somebody at the very end is Drifted', () => {
    const passed = take(begin(), 'web-1', ...good.slice(0, 4));
    const state = take(
      passed,
      'web-1',
      write('markPassed', { kind: 'refused', reason: 'Changed', message: 'it has x' }),
    );
    expect(of(state).outcome).toEqual({
      phase: 'Drifted',
      reason: 'Changed',
      message: 'v6-b1 passed, but was replaced at the same time: it has x',
    });
    expect(state.stopped?.cause).toBe('held');
  });
});

describe('a preflight that does not pass changes nothing and stops the rollout', () => {
  test.each([
    [
      'a failure',
      preflight({}, fail('WorkloadPaused', 'it is paused')),
      'WorkloadPaused: it is paused; nothing was changed',
    ],
    [
      'what was not measured',
      preflight({}, unmeasuredGate),
      'not measured: health could not be read: denied; nothing was changed',
    ],
    [
      'nothing found',
      { of: 'preflight', verdict: { kind: 'pass' }, found: null } as const,
      'the preflight passed but read nothing; nothing was changed',
    ],
    [
      'another release',
      preflight({ marks: { ...ownMarks, managedBy: 'release/other' } }),
      'release/other manages this image by now; nothing was changed',
    ],
  ])('%s', (_, result, message) => {
    const state = take(begin(), 'web-1', result);
    expect(of(state)).toMatchObject({ changed: false, outcome: { phase: 'Held', reason: 'PreflightFailed', message } });
    expect(state.stopped).toEqual({ target: 'web-1', reason: 'PreflightFailed', message, cause: 'held' });
    expect(of(state, 'web-2').outcome).toEqual({
      phase: 'Pending',
      reason: 'PreflightFailed',
      message: `not started: web-1 stopped the rollout: ${message}`,
    });
    expect(isFinished(state)).toBe(true);
  });

  test('names what lets a cure through, where the target is sick and not merely held', () => {
    const said = (verdict: Verdict) => of(take(begin(), 'web-1', preflight({}, verdict))).outcome?.message;
    expect(said(fail('Unhealthy', 'GET /health answered 500'))).toBe(
      'Unhealthy: GET /health answered 500; nothing was changed; if the new image is the cure: holdfast retry release/hive --target web-1 --skip-preflight',
    );
    for (const verdict of [fail('ZeroReplicas', 'it has none'), unmeasuredGate]) {
      expect(said(verdict)).toMatch(/; nothing was changed$/);
    }
  });

  test('H-A10 a paused Deployment is never patched', () => {
    const state = take(begin(), 'web-1', preflight({}, fail('WorkloadPaused', 'Deployment shop/web-1 is paused')));
    expect(todo(state)).toBe('web-1 done, web-2 done, web-3 done');
    expect(of(state).outcome?.message).toContain('paused');
  });

  test('an image that is blocked by now, save by a pin', () => {
    const blocked = [{ image: digest('b1'), at: iso(NOW), reason: 'bad' }];
    const marked = preflight({ marks: { ...ownMarks, blocked } });
    expect(of(take(begin(), 'web-1', marked)).outcome).toEqual({
      phase: 'Held',
      reason: 'Blocked',
      message: `v6-b1 (${TO}) is blocked; nothing was changed`,
    });
    const pinned = begin({}, [item('web-1', { why: 'pin' })]);
    expect(of(take(pinned, 'web-1', marked)).step).toBe('Patching');
    const cooling = preflight({ marks: { ...ownMarks, blocked: [{ ...blocked[0]!, cooldownOnly: true }] } });
    expect(of(take(begin(), 'web-1', cooling)).step).toBe('Patching');
  });
});

describe('the patch', () => {
  const patching = () => take(begin(), 'web-1', preflight());

  test.each([
    ['Incumbent', 'Incumbent'],
    ['Changed', 'Changed'],
    ['Missing', 'WorkloadMissing'],
    ['Denied', 'AccessDenied'],
    ['Invalid', 'WriteInvalid'],
  ] as const)('refused as %s changes nothing and stops the rollout', (reason, expected) => {
    const state = take(patching(), 'web-1', write('patch', { kind: 'refused', reason, message: 'no' }));
    expect(of(state)).toMatchObject({
      changed: false,
      outcome: { phase: 'Held', reason: expected, message: 'no; nothing was changed' },
    });
    expect(outcomes(state)).toBe(`web-1 Held ${expected}, web-2 Pending ${expected}, web-3 Pending ${expected}`);
  });

  test.each([
    ['Changed', 'Held', 'Changed'],
    ['Missing', 'Held', 'WorkloadMissing'],
    ['Invalid', 'Held', 'WriteInvalid'],
    ['Denied', 'Failed', 'Unmeasured'],
  ] as const)(
    'refused as %s after a try that got lost never claims that nothing was changed',
    (reason, phase, said) => {
      const refused = { kind: 'refused', reason, message: 'no' } as const;
      const lost = take(patching(), 'web-1', write('patch', unknownWrite), write('patch', refused));
      const hidden = take(patching(), 'web-1', write('patch', { ...refused, afterUnknown: true }));
      for (const state of [lost, hidden]) {
        expect(of(state)).toMatchObject({ changed: true, outcome: { phase, reason: said } });
        expect(of(state).outcome?.message).not.toContain('nothing was changed');
        expect(of(state).outcome?.message).toContain(TO);
        expect(of(state).outcome?.message).toContain(`the way back is ${FROM}`);
      }
    },
  );

  test('that an incumbent refuses after a try that got lost has changed nothing: the image was read as it was', () => {
    const refused = { kind: 'refused', reason: 'Incumbent', message: 'no', afterUnknown: true } as const;
    const state = take(patching(), 'web-1', write('patch', unknownWrite), write('patch', refused));
    expect(of(state)).toMatchObject({ changed: false, outcome: { message: 'no; nothing was changed' } });
  });

  test('whose effect is not known is asked for again, the same, and counts as a change from then on', () => {
    const before = next(patching());
    const state = take(patching(), 'web-1', write('patch', unknownWrite));
    expect(of(state)).toMatchObject({ step: 'Patching', changed: true, outcome: null });
    expect(next(state)).toEqual(before);
    expect(of(take(state, 'web-1', write('patch')))).toMatchObject({ step: 'Rolling', changed: true });
  });

  test('whose effect could not be found out in time stays, unmeasured', () => {
    const of7 = begin({ rolloutTimeout: '1s' });
    const state = take(take(of7, 'web-1', preflight()), 'web-1', write('patch', unknownWrite));
    expect(of(state).step).toBe('Patching');
    const late = take(of7, 'web-1', preflight(), write('patch', unknownWrite));
    expect(of(late).outcome).toEqual({
      phase: 'Failed',
      reason: 'Unmeasured',
      message: `NOT rolled back — unmeasured is not unhealthy: it could not be found out whether ${TO} was written: the API server did not answer; the way back is ${FROM}`,
    });
    expect(late.stopped?.cause).toBe('unmeasured');
  });
});

describe('a measured failure', () => {
  const rolling = () => take(begin(), 'web-1', preflight({ placements: [scout] }), write('patch'));
  const rolledBack = (state = rolling()) => take(state, 'web-1', gate(crash));

  test('in the gate goes back with one write that blocks the digest and restores the annotations', () => {
    const state = rolledBack();
    expect(of(state)).toMatchObject({
      step: 'RollingBack',
      failure: { reason: 'CrashLoopBackOff', message: 'container app crashes', block: true },
    });
    expect(next(state)).toEqual({
      do: 'rollBack',
      from: TO,
      to: FROM,
      marks: {
        managedBy: 'release/hive',
        applied: FROM,
        version: 'v6-a0',
        previousImage: image('v6-latest', '99'),
        previousVersion: 'v6-99',
        upgradedAt: '2026-01-01T00:00:00.000Z',
        passed: FROM,
        rolledBackFrom: TO,
        rolledBackAt: iso(NOW + 1_000),
        block: [
          {
            image: digest('b1'),
            at: iso(NOW + 1_000),
            reason: 'v6-b1 on web-1: CrashLoopBackOff',
            cooldownUntil: iso(NOW + 1_000 + 20 * 60 * MINUTE),
          },
        ],
      },
    });
  });

  test('starts no other target', () => {
    const state = rolledBack();
    expect(outcomes(state)).toBe('web-1 RollingBack, web-2 Pending StoppedByFailure, web-3 Pending StoppedByFailure');
    expect(of(state, 'web-2').outcome?.message).toBe('not started: web-1 stopped the rollout: container app crashes');
    expect(state.stopped).toEqual({
      target: 'web-1',
      reason: 'CrashLoopBackOff',
      message: 'container app crashes',
      cause: 'measured',
    });
  });

  test('without proof against the image keeps its cooldown only, and none where there is none', () => {
    const state = take(rolling(), 'web-1', gate(crash, [], false));
    expect(next(state)).toMatchObject({ marks: { block: [{ image: digest('b1'), cooldownOnly: true }] } });
    const none = take(begin({ cooldown: '0s' }), 'web-1', preflight(), write('patch'), gate(crash, [], false));
    expect(next(none)).not.toHaveProperty('marks.block');
    const blocked = take(begin({ cooldown: '0s' }), 'web-1', preflight(), write('patch'), gate(crash));
    expect(next(blocked)).toMatchObject({
      marks: { block: [{ image: digest('b1'), at: iso(NOW + 3_000), reason: 'v6-b1 on web-1: CrashLoopBackOff' }] },
    });
    expect(next(blocked)).not.toHaveProperty('marks.block.0.cooldownUntil');
  });

  test('of a pinned image that is blocked already leaves it blocked', () => {
    const entry = { image: digest('b1'), by: 'ann', reason: '', at: NOW, cooldownUntil: 0, cooldownOnly: false };
    const pinned = begin({}, [item('web-1', { why: 'pin' })], { blocked: [entry] });
    const state = take(pinned, 'web-1', preflight(), write('patch'), gate(crash, [], false));
    expect(next(state)).not.toHaveProperty('marks.block.0.cooldownOnly');
    const another = begin({}, [item('web-1')], { blocked: [{ ...entry, image: digest('c2') }] });
    expect(next(take(another, 'web-1', preflight(), write('patch'), gate(crash, [], false)))).toMatchObject({
      marks: { block: [{ cooldownOnly: true }] },
    });
    const cooling = begin({}, [item('web-1')], { blocked: [{ ...entry, cooldownOnly: true }] });
    expect(next(take(cooling, 'web-1', preflight(), write('patch'), gate(crash, [], false)))).toMatchObject({
      marks: { block: [{ cooldownOnly: true }] },
    });
  });

  test('of a digest that ran here before under another name does not block it', () => {
    const same = image('other', 'b1');
    const state = take(begin(), 'web-1', preflight({ runningImage: same }), write('patch'), gate(crash));
    expect(of(state)).toMatchObject({ rollbackTo: { image: same }, failure: { block: false } });
  });

  test('in the soak, and of placements that cannot be written back, goes back too', () => {
    const soaking = take(rolling(), 'web-1', gate());
    expect(of(take(soaking, 'web-1', soak(crash)))).toMatchObject({ step: 'RollingBack', failure: { block: true } });
    expect(of(take(soaking, 'web-1', soak(crash, false)))).toMatchObject({ failure: { block: false } });
    const restoring = take(rolling(), 'web-1', gate(undefined, [scout]));
    expect(of(take(restoring, 'web-1', restore(fail('PlacementRefused', 'no'))))).toMatchObject({
      step: 'RollingBack',
      failure: { reason: 'PlacementRefused', block: true },
    });
  });

  test('waits until the rollback is healthy and writes placements back', () => {
    const recovering = take(rolledBack(), 'web-1', write('rollBack'));
    expect(of(recovering)).toMatchObject({ step: 'Recovering', wentBack: true });
    expect(next(recovering)).toEqual({ do: 'watchRecovery', image: FROM, deadline: NOW + 1_000 + 10 * MINUTE });
    const outcome = {
      phase: 'RolledBack',
      reason: 'CrashLoopBackOff',
      message: `rolled back from v6-b1 to ${FROM}: container app crashes`,
    };
    expect(of(take(recovering, 'web-1', recovery())).outcome).toEqual(outcome);
    const restoring = take(recovering, 'web-1', recovery(undefined, [scout]));
    expect(next(restoring)).toEqual({ do: 'restorePlacements', placements: [scout] });
    expect(of(take(restoring, 'web-1', restore())).outcome).toEqual(outcome);
    expect(of(take(restoring, 'web-1', restore(fail('PlacementRefused', 'no')))).outcome).toEqual({
      ...outcome,
      message: `${outcome.message}; placements could not all be written back: PlacementRefused: no`,
    });
    expect(of(take(restoring, 'web-1', restore(unmeasuredGate))).outcome?.phase).toBe('RolledBack');
  });

  test('whose rollback does not recover says so, with the commands to look at it', () => {
    const recovering = take(rolledBack(), 'web-1', write('rollBack'));
    const state = take(recovering, 'web-1', recovery(fail('RolloutTimeout', 'not ready in time')));
    expect(of(state).outcome).toEqual({
      phase: 'Failed',
      reason: 'RollbackDidNotRecover',
      message: [
        'ROLLBACK DID NOT RECOVER: RolloutTimeout: not ready in time; it was to go back because container app crashes; look at it:',
        '  kubectl -n shop rollout status deployment/web-1',
        '  kubectl -n shop describe deployment/web-1',
        '  kubectl -n shop get pods -o wide',
        '  kubectl -n shop logs deployment/web-1 -c app --previous',
        `  kubectl -n shop set image deployment/web-1 app=${FROM}`,
      ].join('\n'),
    });
    expect(of(take(recovering, 'web-1', recovery(unmeasuredGate))).outcome?.message).toMatch(
      /^ROLLBACK DID NOT RECOVER: not measured: health could not be read: denied; /,
    );
  });

  test('whose rollback cannot be written says so too', () => {
    const refused = write('rollBack', { kind: 'refused', reason: 'Denied', message: 'forbidden' });
    expect(of(take(rolledBack(), 'web-1', refused)).outcome).toMatchObject({
      phase: 'Failed',
      reason: 'RollbackDidNotRecover',
      message: expect.stringContaining(`ROLLBACK DID NOT RECOVER: writing ${FROM} was refused: forbidden`) as string,
    });
    expect(of(take(rolledBack(), 'web-1', write('rollBack', unknownWrite)))).toMatchObject({
      step: 'RollingBack',
      outcome: null,
    });
    const short = take(
      begin({ rollbackTimeout: '1s' }),
      'web-1',
      preflight(),
      write('patch'),
      gate(crash),
      write('rollBack', unknownWrite),
    );
    expect(of(short).outcome).toMatchObject({
      message: expect.stringContaining(
        `it could not be found out whether ${FROM} was written: the API server did not answer`,
      ) as string,
    });
  });

  test('is not rolled back over what somebody else wrote meanwhile', () => {
    const message = `not rolled back to ${FROM}: somebody else changed the image meanwhile, and that is left alone: it has x; it was to go back because container app crashes`;
    const refused = write('rollBack', { kind: 'refused', reason: 'Changed', message: 'it has x' });
    expect(of(take(rolledBack(), 'web-1', refused)).outcome).toEqual({ phase: 'Failed', reason: 'Changed', message });
    const recovering = take(rolledBack(), 'web-1', write('rollBack'));
    expect(of(take(recovering, 'web-1', recovery(fail('ImageChanged', 'it has x')))).outcome).toEqual({
      phase: 'Failed',
      reason: 'Changed',
      message,
    });
  });

  test('lets siblings of the wave finish gate and soak, and starts none of them', () => {
    const items = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => item(name));
    const targets = items.map((i) => target(i.target));
    let state = take(begin({ waves: [4, 1], targets }, items), 'a', ...good);
    state = take(state, 'b', preflight(), write('patch'));
    state = take(state, 'c', preflight());
    state = take(state, 'e', preflight(), write('patch', unknownWrite));
    state = take(state, 'b', gate(crash));
    expect(todo(state)).toBe('a done, b rollBack, c settle, d settle, e patch, f done');
    state = take(take(state, 'c', settle), 'd', settle);
    expect(outcomes(state)).toBe(
      'a Current, b RollingBack, c Pending StoppedByFailure, d Pending StoppedByFailure, e Patching, f Pending StoppedByFailure',
    );
    state = take(state, 'e', write('patch'), gate(), soak(), write('markPassed'));
    expect(of(state, 'e').outcome?.phase).toBe('Current');
  });

  test('takes a preflight that comes too late for a start as one', () => {
    const items = ['a', 'b', 'c'].map((name) => item(name));
    let state = take(begin({ waves: [2], targets: items.map((i) => target(i.target)) }, items), 'a', ...good);
    state = take(state, 'b', preflight(), write('patch'), gate(crash));
    expect(of(take(state, 'c', preflight()), 'c').outcome).toMatchObject({
      phase: 'Pending',
      reason: 'StoppedByFailure',
    });
  });

  test('with a patch in flight elsewhere takes its result in, and rolls on from there', () => {
    const items = ['a', 'b', 'c'].map((name) => item(name));
    let state = take(begin({ waves: [2], targets: items.map((i) => target(i.target)) }, items), 'a', ...good);
    state = take(state, 'c', preflight());
    state = take(state, 'b', preflight(), write('patch'), gate(crash));
    expect(todo(take(state, 'c', write('patch')))).toBe('a done, b rollBack, c watchRollout');
  });
});

describe('what stopped a rollout', () => {
  const begun = () => {
    const items = ['a', 'b', 'c'].map((name) => item(name));
    let state = take(begin({ waves: [2], targets: items.map((i) => target(i.target)) }, items), 'a', ...good);
    for (const name of ['b', 'c']) state = take(state, name, preflight(), write('patch'));
    return state;
  };
  const other = fail('HealthFailed', 'it answered 500');

  test('is the first failure, and a measured one before any other', () => {
    const cause = (first: Verdict, second: Verdict) => {
      const { stopped } = take(take(begun(), 'b', gate(first)), 'c', gate(second));
      return `${stopped?.target ?? ''} ${stopped?.cause ?? ''}`;
    };
    expect(cause(crash, other)).toBe('b measured');
    expect(cause(crash, unmeasuredGate)).toBe('b measured');
    expect(cause(unmeasuredGate, unmeasuredGate)).toBe('b unmeasured');
    expect(cause(unmeasuredGate, crash)).toBe('c measured');
  });

  test('is a way back that failed, even where it was a person who asked for it', () => {
    const back = abortRollout(
      take(begin(), 'web-1', preflight(), write('patch')),
      { how: 'rollback', now: false, by: 'ann', reason: '' },
      NOW,
    );
    const state = take(back, 'web-1', settle, write('rollBack'), recovery(crash));
    expect(state.stopped).toMatchObject({ target: 'web-1', reason: 'RollbackDidNotRecover', cause: 'measured' });
    const refused = take(
      back,
      'web-1',
      settle,
      write('rollBack', { kind: 'refused', reason: 'Changed', message: 'x' }),
    );
    expect(refused.stopped).toMatchObject({ reason: 'Changed', cause: 'measured' });
  });
});

describe('windows that close and freezes that begin during a rollout', () => {
  // It is 12:00 UTC, and each target's rollout takes five seconds.
  const closing = { windows: [{ from: '11:00', to: '12:00', timeZone: 'UTC' }] };
  const later = 'not started: outside its windows; the next one opens at 2026-03-03T11:00:00Z';
  const open = (overrides: Parameters<typeof begin>[0] = {}) => begin({ waves: [1], ...overrides });
  const closed = (state: ReturnType<typeof begin>) => ({ ...state, spec: { ...state.spec, ...closing } });

  test('let what has begun end, and start nothing more', () => {
    const begun = take(open(), 'web-1', preflight(), write('patch'));
    const state = take(closed(begun), 'web-1', gate(), soak(), write('markPassed'));
    expect(outcomes(state)).toBe('web-1 Current, web-2 Pending OutsideWindow, web-3 Pending OutsideWindow');
    expect(of(state, 'web-3').outcome?.message).toBe(later);
    expect(state.stopped).toMatchObject({ target: 'web-2', cause: 'time' });
    expect(isFinished(state)).toBe(true);
  });

  test('start no target of a plan that begins as they do', () => {
    const freezes = [{ from: '2026-03-02T12:00:00Z', until: '2026-03-05T00:00:00Z', reason: 'audit' }];
    const state = begin({}, undefined, { freezes });
    expect(outcomes(state)).toBe('web-1 Pending Frozen, web-2 Pending Frozen, web-3 Pending Frozen');
    expect(of(state).outcome?.message).toBe('not started: frozen until 2026-03-05T00:00:00Z: audit');
  });

  test('do not keep a bad image in place', () => {
    const begun = take(open(), 'web-1', preflight(), write('patch'));
    const state = take(closed(begun), 'web-1', gate(crash), write('rollBack'), recovery());
    expect(outcomes(state)).toMatch(/^web-1 RolledBack CrashLoopBackOff, web-2 Pending StoppedByFailure/);
  });

  test('do not take an approval: its step is asked for again', () => {
    const asked = take(open({ approval: 'afterCanary' }), 'web-1', ...good);
    expect(todo(asked)).toContain('web-2 wait approval');
    const yes = { target: 'web-2', approved: true, by: 'ann', reason: '', at: NOW };
    expect(outcomes(decideStep(closed(asked), yes, NOW))).toContain('web-2 Pending OutsideWindow');
  });

  test('hold nothing that writes nothing', () => {
    const verify = ['web-1', 'web-2'].map((name) => item(name, { action: 'verify', from: TO, why: 'unproven' }));
    expect(todo(closed(begin({}, verify)))).toBe('web-1 preflight, web-2 wait wave');
    const state = take(closed(begin({}, verify)), 'web-1', preflight({ runningImage: TO }));
    expect(state.stopped).toBeNull();
  });
});

describe('onFailure: undo', () => {
  const three = ['a', 'b', 'c', 'd'].map((name) => item(name));
  const begun = (overrides = {}) =>
    begin({ onFailure: 'undo', waves: [1, 2], targets: three.map((i) => target(i.target)), ...overrides }, three);

  test('keeps promoted targets within reach until the rollout ends', () => {
    expect(todo(take(begun(), 'a', ...good))).toBe('a wait rollout, b preflight, c wait wave, d wait wave');
    let state = begun();
    for (const name of ['a', 'b', 'c', 'd']) state = take(state, name, ...good);
    expect(todo(state)).toBe('a done, b done, c done, d done');
  });

  test('brings promoted targets and siblings back to their own images, without blocking', () => {
    let state = take(take(begun(), 'a', ...good), 'b', ...good);
    state = take(state, 'c', preflight(), write('patch'), gate());
    state = take(state, 'd', preflight(), write('patch'), gate(crash));
    expect(todo(state)).toBe('a rollBack, b rollBack, c watchSoak, d rollBack');
    expect(of(state, 'a')).toMatchObject({
      outcome: null,
      failure: { reason: 'Undone', message: 'd failed, and onFailure is undo: container app crashes', block: false },
    });
    expect(next(state, 'a')).toMatchObject({ from: TO, to: FROM, marks: { passed: FROM } });
    expect(next(state, 'a')).not.toHaveProperty('marks.block');
    state = take(state, 'c', soak(), write('markPassed'));
    expect(next(state, 'c')).toMatchObject({ do: 'rollBack', to: FROM });
    for (const name of ['a', 'b', 'c', 'd']) state = take(state, name, write('rollBack'), recovery());
    expect(outcomes(state)).toBe(
      'a RolledBack Undone, b RolledBack Undone, c RolledBack Undone, d RolledBack CrashLoopBackOff',
    );
    expect(isFinished(state)).toBe(true);
  });

  test('is for measured failures alone', () => {
    const state = take(take(begun(), 'a', ...good), 'b', preflight(), write('patch'), gate(unmeasuredGate));
    expect(outcomes(state)).toBe(
      'a Current, b Failed Unmeasured, c Pending StoppedByFailure, d Pending StoppedByFailure',
    );
    const held = take(take(begun(), 'a', ...good), 'b', preflight({}, fail('ZeroReplicas', 'no')));
    expect(of(held, 'a').outcome?.phase).toBe('Current');
  });

  test('follows a measured failure that comes after an unmeasured one', () => {
    let state = take(take(begun(), 'a', ...good), 'b', ...good);
    state = take(take(state, 'c', preflight(), write('patch')), 'd', preflight(), write('patch'));
    state = take(state, 'c', gate(unmeasuredGate));
    expect(state.stopped?.cause).toBe('unmeasured');
    state = take(state, 'd', gate(crash));
    expect(todo(state)).toBe('a rollBack, b rollBack, c done, d rollBack');
  });

  test('leaves alone what this rollout did not write', () => {
    const items = [item('a', { action: 'verify', from: TO }), item('b')];
    let state = begin({ onFailure: 'undo', targets: [target('a'), target('b')] }, items);
    const recorded = preflight({ marks: { ...ownMarks, applied: TO, previousImage: FROM } });
    state = take(state, 'a', recorded, gate(), soak(), write('markPassed'));
    expect(todo(state)).toBe('a done, b preflight');
    state = take(state, 'b', preflight(), write('patch'), gate(crash));
    expect(of(state, 'a').outcome?.phase).toBe('Current');
  });
});

describe('what was not measured', () => {
  test.each([
    ['in the gate', [gate(unmeasuredGate)]],
    ['in the soak', [gate(), soak(unmeasuredGate)]],
    ['of placements that were to be written back', [gate(undefined, [scout]), restore(unmeasuredGate)]],
  ])('%s stays on the new image, stops the rollout and blocks nothing', (_, results) => {
    const state = take(begin(), 'web-1', preflight(), write('patch'), ...results);
    const message = `NOT rolled back — unmeasured is not unhealthy: health could not be read: denied; it stays on ${TO}; the way back is ${FROM}`;
    expect(of(state)).toMatchObject({
      failure: null,
      wentBack: false,
      rollbackTo: { image: FROM },
      outcome: { phase: 'Failed', reason: 'Unmeasured', message },
    });
    expect(state.stopped).toEqual({ target: 'web-1', reason: 'Unmeasured', message, cause: 'unmeasured' });
    expect(outcomes(state)).toBe(
      'web-1 Failed Unmeasured, web-2 Pending StoppedByFailure, web-3 Pending StoppedByFailure',
    );
  });
});

describe('what somebody else does during the watch', () => {
  test('another image is Drifted, and nothing is written over it', () => {
    const state = take(begin(), 'web-1', preflight(), write('patch'), gate(fail('ImageChanged', 'it has x')));
    expect(of(state).outcome).toEqual({ phase: 'Drifted', reason: 'ImageChanged', message: 'it has x' });
    expect(outcomes(state)).toBe('web-1 Drifted ImageChanged, web-2 Pending ImageChanged, web-3 Pending ImageChanged');
    expect(state.stopped?.cause).toBe('held');
  });

  test('H-A10 a pause stops with that reason, and nothing is rolled back or unpaused', () => {
    const state = take(begin(), 'web-1', preflight(), write('patch'), gate(fail('WorkloadPaused', 'it is paused')));
    expect(of(state).outcome).toEqual({
      phase: 'Failed',
      reason: 'WorkloadPaused',
      message: `it is paused; NOT rolled back: nothing was measured about ${TO}, which is in the template; the way back is ${FROM}`,
    });
    expect(state.stopped?.cause).toBe('unmeasured');
  });
});

describe('an item that only verifies', () => {
  const verify = (
    marks: Marks = {
      ...ownMarks,
      applied: TO,
      version: 'v6-b1',
      passed: null,
      previousImage: FROM,
      previousVersion: 'v6-a0',
    },
    why: 'unproven' | 'drift' = 'unproven',
  ) =>
    take(
      begin({}, [item('web-1', { action: 'verify', from: TO, why })]),
      'web-1',
      preflight({ runningImage: TO, marks: { ...marks, placements: [scout] } }),
    );

  test('writes nothing, and keeps the recorded way back and placements', () => {
    expect(begin({}, [item('web-1', { action: 'verify' })]).targets[0]?.skipPreflight).toBe(true);
    const state = verify();
    expect(of(state)).toMatchObject({
      step: 'Rolling',
      changed: true,
      rollbackTo: { image: FROM, version: 'v6-a0' },
      placements: [scout],
      before: null,
    });
  });

  test('takes the placements of now where none are recorded', () => {
    const begun = begin({}, [item('web-1', { action: 'verify', from: TO })]);
    expect(of(take(begun, 'web-1', preflight({ placements: [scout] }))).placements).toEqual([scout]);
  });

  test('goes on where its image is blocked: it is there already', () => {
    const blocked = [{ image: digest('b1'), at: iso(NOW), reason: 'bad' }];
    const begun = begin({}, [item('web-1', { action: 'verify', from: TO })]);
    expect(of(take(begun, 'web-1', preflight({ marks: { ...ownMarks, blocked } }))).step).toBe('Rolling');
  });

  test('becomes ours once it has passed', () => {
    const state = take(verify(), 'web-1', gate(), soak());
    expect(next(state)).toEqual({
      do: 'markPassed',
      marks: {
        passed: TO,
        placements: null,
        managedBy: 'release/hive',
        applied: TO,
        version: 'v6-b1',
        previousImage: FROM,
        previousVersion: 'v6-a0',
        rolledBackFrom: null,
        rolledBackAt: null,
      },
    });
  });

  test('goes back to what was recorded, and to what was applied where somebody else wrote it', () => {
    expect(next(take(verify(), 'web-1', gate(crash)))).toMatchObject({
      do: 'rollBack',
      to: FROM,
      marks: { previousImage: null, previousVersion: null, upgradedAt: null, passed: null },
    });
    expect(of(verify(ownMarks, 'drift')).rollbackTo).toEqual({ image: FROM, version: 'v6-a0' });
  });

  test('without a recorded way back stays where it is when it fails, and says so', () => {
    const nothing = { ...ownMarks, applied: TO, previousImage: null, passed: null };
    const begun = begin({}, [item('web-1', { action: 'verify', from: TO })], { targets: {} });
    const state = take(begun, 'web-1', preflight({ runningImage: TO, marks: nothing }));
    expect(of(state).rollbackTo).toBeNull();
    const marked = next(take(state, 'web-1', gate(), soak()));
    expect(marked).not.toHaveProperty('marks.previousImage');
    expect(marked).not.toHaveProperty('marks.previousVersion');
    const failed = take(state, 'web-1', gate(crash));
    expect(of(failed).outcome).toEqual({
      phase: 'Failed',
      reason: 'NoRollbackTarget',
      message: [
        `NOT rolled back: no image to go back to is recorded here; it stays on ${TO} although container app crashes; look at it:`,
        '  kubectl -n shop rollout status deployment/web-1',
        '  kubectl -n shop describe deployment/web-1',
        '  kubectl -n shop get pods -o wide',
        '  kubectl -n shop logs deployment/web-1 -c app --previous',
      ].join('\n'),
    });
    expect(of(take(state, 'web-1', gate(unmeasuredGate))).outcome?.message).not.toContain('way back');
  });
});

describe('a StatefulSet that waits for a broken pod', () => {
  const recovering = () =>
    take(begin({ rollbackTimeout: '10s' }), 'web-1', preflight(), write('patch'), gate(crash), write('rollBack'));
  const stuck = {
    of: 'watchRecovery',
    verdict: unmeasuredGate,
    moved: [],
    stuck: { name: 'web-0', uid: 'u1' },
  } as const;

  test('has that pod deleted, by uid, and goes on watching', () => {
    const state = take(recovering(), 'web-1', stuck);
    expect(next(state)).toEqual({ do: 'deletePod', pod: 'web-0', uid: 'u1' });
    const after = take(state, 'web-1', write('deletePod'));
    expect(of(after)).toMatchObject({ step: 'Recovering', since: of(state).since, stuck: null, deletedPods: ['u1'] });
    expect(next(after).do).toBe('watchRecovery');
    expect(of(take(after, 'web-1', recovery())).outcome?.phase).toBe('RolledBack');
  });

  test('has no pod deleted twice', () => {
    const after = take(recovering(), 'web-1', stuck, write('deletePod'));
    expect(of(take(after, 'web-1', stuck)).outcome).toMatchObject({ reason: 'RollbackDidNotRecover' });
    const other = take(after, 'web-1', { ...stuck, stuck: { name: 'web-0', uid: 'u2' } });
    expect(next(other)).toMatchObject({ do: 'deletePod', uid: 'u2' });
  });

  test('whose pod may or may not be gone is asked again, until the rollback is too late', () => {
    const state = take(recovering(), 'web-1', stuck);
    const unknown = take(state, 'web-1', write('deletePod', unknownWrite));
    expect(next(unknown)).toEqual(next(state));
    const late = { ...state, targets: state.targets.map((t) => ({ ...t, since: NOW + 1_000 - 10_000 })) };
    expect(of(take(late, 'web-1', write('deletePod', unknownWrite))).outcome?.message).toMatch(
      /^ROLLBACK DID NOT RECOVER: pod web-0 keeps it from going back: the API server did not answer; /,
    );
    const refused = write('deletePod', { kind: 'refused', reason: 'Denied', message: 'no' });
    expect(next(take(state, 'web-1', refused)).do).toBe('watchRecovery');
  });

  test('takes the answer about a pod that nobody asked for as none', () => {
    const state = recovering();
    expect(take(state, 'web-1', write('deletePod'))).toEqual(state);
  });
});

describe('results that do not fit the step', () => {
  test('change nothing', () => {
    const all = [
      preflight(),
      write('patch'),
      gate(),
      restore(),
      soak(),
      write('markPassed'),
      write('rollBack'),
      recovery(),
      write('deletePod'),
      settle,
    ];
    const path = [preflight(), write('patch'), gate(undefined, [scout]), restore(), soak(), write('markPassed')];
    let state = begin();
    for (const fits of path) {
      for (const result of all.filter((r) => r.of !== fits.of)) expect(take(state, 'web-1', result)).toEqual(state);
      state = take(state, 'web-1', fits);
    }
    for (const result of all) expect(take(state, 'web-1', result)).toEqual(state);
    for (const result of all) expect(take(state, 'web-3', result)).toEqual(state);
    let back = take(begin(), 'web-1', preflight(), write('patch'), gate(crash));
    for (const fits of [write('rollBack'), recovery(undefined, [scout]), restore()]) {
      for (const result of all.filter((r) => r.of !== fits.of)) expect(take(back, 'web-1', result)).toEqual(back);
      back = take(back, 'web-1', fits);
    }
  });

  test('of a target that is not in the rollout are a fault of the caller', () => {
    expect(() => targetOf(begin(), 'web-9')).toThrow('rollout hive-1 has no target web-9');
  });
});
