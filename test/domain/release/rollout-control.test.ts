import { describe, expect, test } from 'vitest';
import { unknownTarget } from '../../../src/domain/release/initial-state.ts';
import {
  abortRollout,
  decideStep,
  isFinished,
  setBlocked,
  setMode,
  setPaused,
} from '../../../src/domain/release/rollout-control.ts';
import type { Abort, RolloutState } from '../../../src/domain/release/rollout.ts';
import type { TargetMemory } from '../../../src/domain/release/state.ts';
import {
  begin,
  crash,
  FROM,
  gate,
  good,
  item,
  next,
  noMarks,
  of,
  outcomes,
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
  write,
} from './rollout-steps.ts';
import type { ReleaseSpecInput } from '../../../src/domain/release/spec.ts';
import { takeSpec } from '../../../src/domain/release/take-spec.ts';
import { digest, NOW, spec, target } from './world.ts';

const shadow = (state: RolloutState) => setMode(state, 'Shadow', NOW);
const enforce = (state: RolloutState) => setMode(state, 'Enforce', NOW + 60_000);
const paused = (state: RolloutState) => setPaused(state, true, NOW);
const abort = (state: RolloutState, how: Abort['how'], now = false) =>
  abortRollout(state, { how, now, by: 'ann', reason: 'wrong day' }, NOW + 90_000);

/** A rollout at each of its steps. */
const at = {
  preflight: () => begin(),
  patching: () => take(begin(), 'web-1', preflight()),
  patchingUnknown: () => take(begin(), 'web-1', preflight(), write('patch', unknownWrite)),
  rolling: () => take(begin(), 'web-1', preflight(), write('patch')),
  restoring: () => take(begin(), 'web-1', preflight(), write('patch'), gate(undefined, [scout])),
  soaking: () => take(begin(), 'web-1', preflight(), write('patch'), gate()),
  passing: () => take(begin(), 'web-1', ...good.slice(0, 4)),
  rollingBack: () => take(begin(), 'web-1', preflight(), write('patch'), gate(crash)),
  recovering: () => take(begin(), 'web-1', preflight(), write('patch'), gate(crash), write('rollBack')),
  restoringBack: () =>
    take(begin(), 'web-1', preflight(), write('patch'), gate(crash), write('rollBack'), recovery(undefined, [scout])),
};

describe('a rollout that starts', () => {
  test('in Shadow, Observe or paused begins nothing', () => {
    const evaluation = begin({ mode: 'Shadow' });
    expect(evaluation.mode).toBe('Shadow');
    expect(todo(evaluation)).toBe('web-1 wait enforce, web-2 wait wave, web-3 wait wave');
    expect(begin({}, undefined, { evaluation: null }).mode).toBe('Shadow');
    const later = begin({}, undefined, { paused: { by: 'ann', reason: '', at: NOW } });
    expect(later.paused).toBe(true);
    expect(todo(later)).toBe('web-1 wait resume, web-2 wait wave, web-3 wait wave');
    expect(begin({}, []).targets).toEqual([]);
    expect(isFinished(begin({}, []))).toBe(true);
  });

  test('remembers what the release knows of its targets', () => {
    const memory = { ...begin().targets[0]?.remembered };
    expect(memory).toEqual({ applied: FROM, version: 'v6-old', passed: FROM });
    expect(begin({}, undefined, { targets: {} }).targets[0]).toMatchObject({
      skipPreflight: false,
      remembered: { applied: null, version: null, passed: null },
    });
    const entry = { image: digest('77'), by: 'ann', reason: '', at: NOW, cooldownUntil: 0, cooldownOnly: false };
    expect(begin({}, undefined, { blocked: [entry] }).blocked).toEqual([entry]);
  });

  test('takes a recorded retry --skip-preflight for the target alone that it names', () => {
    const known = begin().targets.map((t) => t.item.target);
    const skipped = { ...unknownTarget, skipPreflight: { by: 'ann', reason: '', at: NOW } };
    expect(begin({}, undefined, { targets: { 'web-2': skipped } }).targets.map((t) => t.skipPreflight)).toEqual(
      known.map((n) => n === 'web-2'),
    );
  });
});

describe('a frozen rollout', () => {
  test.each([
    ['Shadow', shadow, 'enforce'],
    ['Observe', (state: RolloutState) => setMode(state, 'Observe', NOW), 'enforce'],
    ['a pause', paused, 'resume'],
    ['both', (state: RolloutState) => paused(shadow(state)), 'enforce'],
  ] as const)('by %s writes nothing, and goes on watching', (_, freeze, waits) => {
    const frozen = (state: RolloutState) => next(freeze(state));
    const wait = { do: 'wait', for: waits };
    expect(frozen(at.preflight()).do).toBe('preflight');
    expect(frozen(at.patching())).toEqual({ do: 'settle' });
    expect(frozen(at.patchingUnknown())).toEqual(wait);
    expect(frozen(at.rolling()).do).toBe('watchRollout');
    expect(frozen(at.restoring())).toEqual(wait);
    expect(frozen(at.soaking()).do).toBe('watchSoak');
    expect(frozen(at.passing())).toEqual(wait);
    expect(frozen(at.rollingBack())).toEqual(wait);
    expect(frozen(at.recovering()).do).toBe('watchRecovery');
    expect(frozen(at.restoringBack())).toEqual(wait);
    const stuck = take(at.recovering(), 'web-1', {
      of: 'watchRecovery',
      verdict: crash,
      moved: [],
      stuck: { name: 'p', uid: 'u' },
    });
    expect(frozen(stuck)).toEqual(wait);
  });

  test('goes on from where it was', () => {
    for (const step of ['patchingUnknown', 'restoring', 'passing', 'rollingBack', 'restoringBack'] as const) {
      const state = at[step]();
      expect(next(enforce(shadow(state)))).toEqual(next(state));
      expect(next(setPaused(paused(state), false, NOW))).toEqual(next(state));
    }
  });

  test('does the preflight anew before it writes: what was read before the freeze is old', () => {
    const settled = take(shadow(at.patching()), 'web-1', settle);
    expect(of(settled).step).toBe('Waiting');
    expect(next(settled)).toEqual({ do: 'wait', for: 'enforce' });
    const again = enforce(settled);
    expect(of(again)).toMatchObject({ step: 'Preflight', since: NOW + 60_000 });
    expect(next(again).do).toBe('preflight');
  });

  test('lets a failure that it sees wait for the write', () => {
    const state = take(shadow(at.soaking()), 'web-1', soak(crash));
    expect(next(state)).toEqual({ do: 'wait', for: 'enforce' });
    expect(next(enforce(state)).do).toBe('rollBack');
  });

  test('starts no next target', () => {
    const state = take(shadow(at.passing()), 'web-1', write('markPassed'));
    expect(todo(state)).toBe('web-1 done, web-2 wait enforce, web-3 wait wave');
    expect(todo(enforce(state))).toBe('web-1 done, web-2 preflight, web-3 wait wave');
  });

  test('settling a target that nobody holds changes nothing', () => {
    for (const make of Object.values(at)) {
      const state = make();
      expect(take(state, 'web-1', settle)).toEqual(state);
    }
  });
});

describe('approvals', () => {
  const ok = (state: RolloutState, name: string, approved = true) =>
    decideStep(state, { target: name, approved, by: 'ann', reason: approved ? '' : 'not today', at: NOW }, NOW + 5_000);

  test('after the canary are asked once, with the first of the next wave', () => {
    let state = begin({ approval: 'afterCanary', waves: [1, 1] });
    expect(todo(state)).toBe('web-1 preflight, web-2 wait wave, web-3 wait wave');
    state = take(state, 'web-1', ...good);
    expect(todo(state)).toBe('web-1 done, web-2 wait approval, web-3 wait wave');
    expect(of(state, 'web-2').step).toBe('Approval');
    state = ok(state, 'web-2');
    expect(of(state, 'web-2')).toMatchObject({ step: 'Preflight', since: NOW + 5_000 });
    state = take(state, 'web-2', ...good);
    expect(todo(state)).toBe('web-1 done, web-2 done, web-3 preflight');
  });

  test('after the canary hold all of the next wave', () => {
    let state = take(begin({ approval: 'afterCanary', waves: [2] }), 'web-1', ...good);
    expect(todo(state)).toBe('web-1 done, web-2 wait approval, web-3 wait approval');
    expect(of(state, 'web-3').step).toBe('Waiting');
    state = ok(state, 'web-2');
    expect(todo(state)).toBe('web-1 done, web-2 preflight, web-3 preflight');
  });

  describe('after the canary, where the rollout that proved the canary was lost before it asked', () => {
    const resumed = (canary: Partial<TargetMemory>, items = [item('web-2'), item('web-3')]) =>
      begin({ approval: 'afterCanary' }, items, {
        targets: { 'web-1': { ...unknownTarget, ...canary } },
      });

    test('are asked before the first target that is left', () => {
      const state = resumed({ applied: TO, passed: TO });
      expect(todo(state)).toBe('web-2 wait approval, web-3 wait wave');
      expect(todo(ok(state, 'web-2'))).toBe('web-2 preflight, web-3 wait wave');
      expect(todo(take(ok(state, 'web-2'), 'web-2', ...good))).toBe('web-2 done, web-3 preflight');
    });

    test('are not, where no other target has passed the image: the first that is left is the canary', () => {
      for (const canary of [{ applied: TO, passed: null }, { applied: FROM, passed: FROM }, {}]) {
        expect(todo(resumed(canary))).toBe('web-2 preflight, web-3 wait wave');
      }
    });

    test('are not for a target that goes back to what was applied there', () => {
      const knew = { ...unknownTarget, applied: TO, passed: TO };
      const state = begin({ approval: 'afterCanary' }, [item('web-2', { why: 'drift' })], {
        targets: { 'web-1': knew, 'web-2': knew },
      });
      expect(todo(state)).toBe('web-2 preflight');
    });
  });

  test('before each are asked with every target, the canary too', () => {
    let state = begin({ approval: 'beforeEach', waves: [2] });
    expect(todo(state)).toBe('web-1 wait approval, web-2 wait wave, web-3 wait wave');
    state = take(ok(state, 'web-1'), 'web-1', ...good);
    expect(todo(state)).toBe('web-1 done, web-2 wait approval, web-3 wait approval');
    expect(todo(ok(state, 'web-3'))).toBe('web-1 done, web-2 wait approval, web-3 preflight');
  });

  test('before the first are the release’s own, and none are asked here', () => {
    for (const approval of ['none', 'beforeFirst'] as const) {
      expect(todo(take(begin({ approval }), 'web-1', ...good))).toBe('web-1 done, web-2 preflight, web-3 wait wave');
    }
  });

  test('are not asked for a target that nothing is written to', () => {
    expect(todo(begin({ approval: 'beforeEach' }, [item('web-1', { action: 'verify', from: TO })]))).toBe(
      'web-1 preflight',
    );
    const mixed = [item('web-1'), item('web-2', { action: 'verify', from: TO }), item('web-3')];
    let state = take(begin({ approval: 'afterCanary' }, mixed), 'web-1', ...good);
    expect(todo(state)).toBe('web-1 done, web-2 preflight, web-3 wait wave');
    state = take(state, 'web-2', preflight(), gate(), soak(), write('markPassed'));
    expect(todo(state)).toBe('web-1 done, web-2 done, web-3 wait approval');
    expect(of(state, 'web-3').step).toBe('Approval');
    expect(todo(ok(state, 'web-3'))).toBe('web-1 done, web-2 done, web-3 preflight');
  });

  test('once given outlast a freeze', () => {
    let state = ok(begin({ approval: 'beforeEach' }), 'web-1');
    state = take(shadow(take(state, 'web-1', preflight())), 'web-1', settle);
    expect(todo(state)).toBe('web-1 wait enforce, web-2 wait wave, web-3 wait wave');
    expect(next(enforce(state)).do).toBe('preflight');
  });

  test('are asked for once a freeze is over', () => {
    const state = begin({ approval: 'beforeEach', mode: 'Shadow' });
    expect(todo(state)).toBe('web-1 wait enforce, web-2 wait wave, web-3 wait wave');
    expect(todo(enforce(state))).toBe('web-1 wait approval, web-2 wait wave, web-3 wait wave');
    expect(todo(shadow(enforce(state)))).toBe('web-1 wait approval, web-2 wait wave, web-3 wait wave');
  });

  test('turned down end the rollout, and nothing is undone', () => {
    const state = ok(take(begin({ approval: 'afterCanary', onFailure: 'undo' }), 'web-1', ...good), 'web-2', false);
    const message = 'ann rejected v6-b1 on web-2: not today';
    expect(of(state, 'web-2').outcome).toEqual({ phase: 'Held', reason: 'Rejected', message });
    expect(state.stopped).toEqual({ target: 'web-2', reason: 'Rejected', message, cause: 'person' });
    expect(outcomes(state)).toBe('web-1 Current, web-2 Held Rejected, web-3 Pending Rejected');
    expect(of(state, 'web-3').outcome?.message).toBe(`not started: web-2 stopped the rollout: ${message}`);
    expect(state.decisions).toEqual([{ target: 'web-2', approved: false, by: 'ann', reason: 'not today', at: NOW }]);
  });

  test('about a target that waits for nobody change nothing', () => {
    const state = begin({ approval: 'beforeEach' });
    expect(ok(state, 'web-2')).toBe(state);
    expect(ok(state, 'web-9')).toBe(state);
    expect(ok(begin(), 'web-1', false).stopped).toBeNull();
  });
});

describe('a block by a person during the rollout', () => {
  const entry = { image: digest('b1'), by: 'ann', reason: '', at: NOW, cooldownUntil: 0, cooldownOnly: false };

  test('keeps the image from being written, save where it is pinned', () => {
    const state = setBlocked(at.patching(), [entry], NOW);
    expect(next(state)).toEqual({ do: 'settle' });
    const held = take(state, 'web-1', settle);
    expect(outcomes(held)).toBe('web-1 Held Blocked, web-2 Pending Blocked, web-3 Pending Blocked');
    const pinned = take(begin({}, [item('web-1', { why: 'pin' })]), 'web-1', preflight());
    expect(next(setBlocked(pinned, [entry], NOW)).do).toBe('patch');
    expect(next(setBlocked(at.patching(), [{ ...entry, cooldownOnly: true }], NOW)).do).toBe('patch');
  });

  test('changes nothing for what is written already', () => {
    expect(next(setBlocked(at.patchingUnknown(), [entry], NOW)).do).toBe('patch');
    expect(next(setBlocked(at.soaking(), [entry], NOW)).do).toBe('watchSoak');
  });

  test('by label holds too', () => {
    expect(next(setBlocked(at.patching(), [{ ...entry, image: 'v6-b1' }], NOW)).do).toBe('settle');
    expect(next(setBlocked(at.patching(), [{ ...entry, image: 'v6-b2' }], NOW)).do).toBe('patch');
    const versioned = at.patching();
    const targets = versioned.targets.map((t) => ({ ...t, item: { ...t.item, toVersion: '6.1.0' } }));
    expect(next(setBlocked({ ...versioned, targets }, [{ ...entry, image: 'v6.1.0' }], NOW)).do).toBe('settle');
  });
});

describe('an abort', () => {
  test('begins nothing any more', () => {
    const state = abort(begin({ approval: 'beforeEach' }), 'stop');
    expect(outcomes(state)).toBe('web-1 Held Aborted, web-2 Held Aborted, web-3 Held Aborted');
    expect(of(state).outcome?.message).toBe('not started: ann aborted the rollout: wrong day');
    expect(state.stopped).toEqual({
      target: 'a person',
      reason: 'Aborted',
      message: 'ann aborted it: wrong day',
      cause: 'person',
    });
    expect(isFinished(state)).toBe(true);
  });

  test.each([
    ['preflight', 'stop'],
    ['preflight', 'rollback'],
    ['patching', 'stop'],
    ['patching', 'rollback'],
  ] as const)('at %s (%s) ends the target, to which nothing was written', (step, how) => {
    const state = abort(at[step](), how);
    expect(next(state)).toEqual({ do: 'settle' });
    const ended = take(state, 'web-1', settle);
    expect(outcomes(ended)).toBe('web-1 Held Aborted, web-2 Held Aborted, web-3 Held Aborted');
    expect(of(ended)).toMatchObject({ changed: false });
  });

  test('during the preflight takes its answer as too late', () => {
    expect(of(take(abort(at.preflight(), 'stop'), 'web-1', preflight())).outcome?.reason).toBe('Aborted');
  });

  test.each(['patchingUnknown', 'rolling', 'restoring', 'soaking', 'passing'] as const)(
    '(stop) at %s leaves the target where it is',
    (step) => {
      const state = abort(at[step](), 'stop');
      expect(next(state)).toEqual({ do: 'settle' });
      const ended = take(state, 'web-1', settle);
      const sure = step === 'patchingUnknown' ? `; it is not known whether ${TO} was written` : '';
      expect(of(ended).outcome).toEqual({
        phase: 'Held',
        reason: 'Aborted',
        message: `ann aborted the rollout: wrong day; left at ${of(at[step]()).step} on ${TO}, unproven${sure}; the way back is ${FROM}`,
      });
      expect(isFinished(ended)).toBe(true);
    },
  );

  test.each(['patchingUnknown', 'rolling', 'restoring', 'soaking', 'passing'] as const)(
    '(rollback) at %s brings the target back, without blocking',
    (step) => {
      let state = take(abort(at[step](), 'rollback'), 'web-1', settle);
      expect(of(state)).toMatchObject({
        step: 'RollingBack',
        failure: { reason: 'Aborted', message: 'ann aborted the rollout: wrong day', block: false },
      });
      expect(next(state)).toMatchObject({ do: 'rollBack', from: TO, to: FROM });
      expect(next(state)).not.toHaveProperty('marks.block');
      state = take(state, 'web-1', write('rollBack'), recovery());
      expect(of(state).outcome).toEqual({
        phase: 'RolledBack',
        reason: 'Aborted',
        message: `rolled back from v6-b1 to ${FROM}: ann aborted the rollout: wrong day`,
      });
    },
  );

  test('takes in what was under way', () => {
    const stopped = (state: RolloutState, result: Parameters<typeof take>[2]) =>
      of(take(abort(state, 'stop'), 'web-1', result));
    const back = (state: RolloutState, result: Parameters<typeof take>[2]) =>
      of(take(abort(state, 'rollback'), 'web-1', result));
    const cases = [
      [at.patching(), write('patch')],
      [at.patching(), write('patch', unknownWrite)],
      [at.rolling(), gate()],
      [at.rolling(), gate(undefined, [scout])],
      [at.rolling(), gate({ kind: 'unmeasured', what: 'x', from: 'y', why: 'denied', message: 'z' })],
      [at.restoring(), restore()],
      [at.soaking(), soak()],
    ] as const;
    for (const [state, result] of cases) {
      expect(stopped(state, result)).toMatchObject({ changed: true, outcome: { phase: 'Held', reason: 'Aborted' } });
      expect(back(state, result)).toMatchObject({ changed: true, step: 'RollingBack', failure: { reason: 'Aborted' } });
    }
    // What has passed, and was marked so, is done.
    expect(stopped(at.passing(), write('markPassed')).outcome?.phase).toBe('Current');
    expect(back(at.passing(), write('markPassed')).outcome?.phase).toBe('Current');
    // A failure that is measured at the same moment is why it goes back, or is left by the person's word.
    expect(back(at.rolling(), gate(crash))).toMatchObject({
      step: 'RollingBack',
      failure: { reason: 'CrashLoopBackOff', block: true },
    });
    expect(stopped(at.rolling(), gate(crash)).outcome?.reason).toBe('Aborted');
    expect(
      stopped(at.patching(), write('patch', { kind: 'refused', reason: 'Incumbent', message: 'x' })).outcome?.reason,
    ).toBe('Incumbent');
  });

  test('lets a rollback under way finish', () => {
    for (const how of ['stop', 'rollback'] as const) {
      for (const step of ['rollingBack', 'recovering', 'restoringBack'] as const) {
        expect(next(abort(at[step](), how))).toEqual(next(at[step]()));
      }
      const ended = take(abort(at.rollingBack(), how), 'web-1', write('rollBack'), recovery());
      expect(of(ended).outcome).toMatchObject({ phase: 'RolledBack', reason: 'CrashLoopBackOff' });
    }
  });

  test('with --now leaves even a rollback, and says what it left', () => {
    const left = (step: 'rollingBack' | 'recovering' | 'restoringBack') => {
      const state = abort(at[step](), 'stop', true);
      expect(next(state)).toEqual({ do: 'settle' });
      return of(take(state, 'web-1', settle)).outcome;
    };
    expect(left('rollingBack')).toMatchObject({
      phase: 'Failed',
      reason: 'Aborted',
      message: expect.stringContaining(
        `ann aborted with --now: wrong day: ${TO} was left in place although container app crashes; the way back is ${FROM}; look at it:\n  kubectl -n shop rollout status deployment/web-1`,
      ) as string,
    });
    for (const step of ['recovering', 'restoringBack'] as const) {
      expect(left(step)?.message).toContain(
        `ann aborted with --now: wrong day: ${FROM} was written back but is not known to be healthy; look at it:`,
      );
    }
  });

  test('with --now that asks for a rollback itself has it done, and a second abort leaves it', () => {
    const state = take(abort(at.soaking(), 'rollback', true), 'web-1', settle);
    expect(next(state).do).toBe('rollBack');
    expect(next(abort(state, 'rollback', true)).do).toBe('rollBack');
    const recovering = take(state, 'web-1', write('rollBack'));
    expect(next(recovering).do).toBe('watchRecovery');
    const restoring = take(recovering, 'web-1', recovery(undefined, [scout]));
    expect(next(restoring).do).toBe('restorePlacements');
    for (const under of [state, recovering, restoring]) {
      const left = abort(under, 'stop', true);
      expect(next(left)).toEqual({ do: 'settle' });
      expect(of(take(left, 'web-1', settle)).outcome).toMatchObject({ phase: 'Failed', reason: 'Aborted' });
    }
    // What had failed before is a rollback under way, whatever the abort asks for.
    expect(next(abort(at.rollingBack(), 'rollback', true)).do).toBe('settle');
  });

  test('with --now still takes in a rollback that was being written', () => {
    const state = take(abort(at.rollingBack(), 'stop', true), 'web-1', write('rollBack'));
    expect(of(state)).toMatchObject({ step: 'Recovering', wentBack: true });
    expect(next(state)).toEqual({ do: 'settle' });
  });

  test('again makes it stronger, never weaker', () => {
    const state = abort(abort(at.rollingBack(), 'rollback', true), 'stop');
    expect(state.abort).toEqual({ how: 'stop', now: true, by: 'ann', reason: 'wrong day' });
    expect(state.stopped?.cause).toBe('measured');
  });

  test('ends a pause, so that the way back is written; but in Shadow nothing is', () => {
    const back = (freeze: (state: RolloutState) => RolloutState) =>
      next(take(abort(freeze(at.soaking()), 'rollback'), 'web-1', settle));
    expect(back(paused).do).toBe('rollBack');
    expect(back(shadow)).toEqual({ do: 'wait', for: 'enforce' });
  });

  test('undoes nothing that was promoted', () => {
    const of4 = ['a', 'b', 'c'].map((name) => item(name));
    let state = take(begin({ onFailure: 'undo', targets: of4.map((i) => target(i.target)) }, of4), 'a', ...good);
    state = take(abort(take(state, 'b', preflight(), write('patch')), 'rollback'), 'b', settle);
    state = take(state, 'b', write('rollBack'), recovery());
    expect(outcomes(state)).toBe('a Current, b RolledBack Aborted, c Held Aborted');
    let failing = take(
      begin({ onFailure: 'undo', waves: [2], targets: of4.map((i) => target(i.target)) }, of4),
      'a',
      ...good,
    );
    failing = take(failing, 'b', preflight(), write('patch'));
    failing = take(abort(failing, 'rollback'), 'b', gate(crash));
    expect(of(failing, 'a').outcome?.phase).toBe('Current');
  });

  test('without a reason says none', () => {
    const state = abortRollout(begin(), { how: 'stop', now: false, by: 'ann', reason: '' }, NOW);
    expect(state.stopped?.message).toBe('ann aborted it');
  });

  test('of an item that only verifies without a way back says so', () => {
    const begun = begin({}, [item('web-1', { action: 'verify', from: TO })], { targets: {} });
    const nothing = preflight({ runningImage: TO, marks: { ...noMarks, applied: TO } });
    const state = take(abort(take(begun, 'web-1', nothing), 'rollback'), 'web-1', settle);
    expect(of(state).outcome).toMatchObject({
      phase: 'Failed',
      reason: 'NoRollbackTarget',
      message: expect.stringContaining('although ann aborted the rollout: wrong day') as string,
    });
  });
});

describe('a spec that is applied during a rollout', () => {
  const two = () => take(begin({ waves: [1] }), 'web-1', preflight(), write('patch'));
  const taken = (overrides: Partial<ReleaseSpecInput>, state = two()) => takeSpec(state, spec(overrides), NOW);
  const end = (state: RolloutState) => outcomes(take(state, 'web-1', gate(), soak(), write('markPassed')));

  const end2 = () => take(two(), 'web-1', gate(), soak(), write('markPassed'));

  test('blocks what is wanted no more, in a rollout that is under way', () => {
    const state = taken({ blocklist: [TO.slice(TO.indexOf('@') + 1)] });
    const promoted = take(state, 'web-1', gate(), soak(), write('markPassed'));
    const passed = take(promoted, 'web-2', preflight());
    expect(next(passed, 'web-2').do).not.toBe('patch');
    expect(of(passed, 'web-2')).toMatchObject({ changed: false });
    expect(next(take(end2(), 'web-2', preflight()), 'web-2').do).toBe('patch');
  });

  test('freezes it, and closes its windows', () => {
    const freeze = [{ from: '2026-01-01T00:00:00Z', until: '2027-01-01T00:00:00Z', reason: 'audit' }];
    expect(end(taken({ freeze }))).toContain('web-2 Pending Frozen');
    expect(end(taken({ windows: [{ from: '22:00', to: '23:00', timeZone: 'UTC' }] }))).toContain(
      'Pending OutsideWindow',
    );
    const closed = begin({ freeze: [{ from: '2026-03-02T12:00:30Z', until: '2027-01-01T00:00:00Z', reason: 'x' }] });
    expect(end(taken({}, take(closed, 'web-1', preflight(), write('patch'))))).not.toContain('Frozen');
  });

  test('is not stopped by a window while it is frozen: that is found out once it goes on', () => {
    const closed = { windows: [{ from: '22:00', to: '23:00', timeZone: 'UTC' }] };
    const frozen = takeSpec(begin({ mode: 'Shadow' }), spec({ ...closed, mode: 'Shadow' }), NOW);
    expect(outcomes(shadow(frozen))).toBe(outcomes(begin({ mode: 'Shadow' })));
    expect(outcomes(enforce(frozen))).toContain('Pending OutsideWindow');
  });

  test('lets a target that nothing is written to begin outside its windows', () => {
    const closed = { windows: [{ from: '22:00', to: '23:00', timeZone: 'UTC' }] };
    const verify = [item('web-1', { action: 'verify', from: TO })];
    expect(todo(begin(closed, verify))).toBe('web-1 preflight');
    expect(outcomes(begin(closed, [item('web-1')]))).toBe('web-1 Pending OutsideWindow');
  });

  test('suspends it where it is, and resumes it', () => {
    const state = take(taken({ suspend: true }), 'web-1', gate(), soak());
    expect(next(state)).toEqual({ do: 'wait', for: 'enforce' });
    expect(next(takeSpec(state, spec(), NOW)).do).toBe('markPassed');
  });

  test('starts no target that it does not have, and ends what was begun there', () => {
    const state = taken({ targets: [target('web-3')] });
    expect(outcomes(state)).toBe('web-1 Rolling, web-2 Pending LeftSpec, web-3 Waiting');
    const promoted = take(state, 'web-1', gate(), soak(), write('markPassed'));
    expect(outcomes(promoted)).toBe('web-1 Current, web-2 Pending LeftSpec, web-3 Preflight');
    const failed = take(state, 'web-1', gate(crash));
    expect(next(failed).do).toBe('rollBack');
  });

  test('starts no target that is another workload by now', () => {
    const targets = [target('web-1'), { ...target('web-2'), name: 'web-2', deployment: 'other' }, target('web-3')];
    expect(outcomes(taken({ targets }))).toContain('web-2 Pending LeftSpec');
  });
});

test('a block by the digest of one manifest of the index holds in a rollout too', () => {
  const state = at.patching();
  const targets = state.targets.map((t) => ({ ...t, item: { ...t.item, toManifests: [digest('ee')] } }));
  const entry = { image: digest('ee'), by: 'ann', reason: '', at: NOW, cooldownUntil: 0, cooldownOnly: false };
  expect(next(setBlocked({ ...state, targets }, [entry], NOW)).do).toBe('settle');
});
