import { describe, expect, test } from 'vitest';
import { absorbOutcome } from '../../../src/domain/release/absorb-outcome.ts';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { startRollout } from '../../../src/domain/release/rollout-start.ts';
import { unknownTarget } from '../../../src/domain/release/initial-state.ts';
import type { TargetView } from '../../../src/domain/release/plan.ts';
import type { TargetRollout } from '../../../src/domain/release/rollout.ts';
import type { ReleaseState, TargetMemory } from '../../../src/domain/release/state.ts';
import { done, FROM, promoted, rolling, rollout, TO, TO_DIGEST, wentBack } from './rollout-world.ts';
import {
  fleet,
  HOUR,
  image,
  managed,
  MINUTE,
  NOW,
  observe,
  planned,
  resolved,
  spec,
  start,
  unread,
  viewOf,
} from './world.ts';

const LATER = NOW + HOUR;

/** What a rollout changes about a target that is shown. */
function pick(view: TargetView | undefined) {
  if (view === undefined) throw new Error('no view');
  const { phase, step, reason, message, current, rollbackTo } = view;
  return { phase, step, reason, message, current, rollbackTo };
}

function never(): never {
  throw new Error('it has an outcome');
}

/** A release that has just planned to roll TO everywhere. */
function planning(overrides: Partial<ReleaseState> = {}): ReleaseState {
  const { state } = evaluate(start(), observe(spec(), resolved('b1'), fleet(managed(FROM))), NOW);
  return { ...state, ...overrides };
}

function absorbed(target: TargetRollout, memory: Partial<TargetMemory> = {}, before = planning()): TargetMemory {
  const known = { ...unknownTarget, applied: FROM, appliedVersion: 'v6-a0', passed: FROM, ...memory };
  const after = absorbOutcome({ ...before, targets: { 'web-1': known } }, rollout([target]), LATER);
  const result = after.targets['web-1'];
  if (!result) throw new Error('no memory');
  return result;
}

describe('a finished rollout', () => {
  test('that promoted a target leaves it applied and proven', () => {
    const before = {
      stuck: null,
      notBefore: 5,
      notBegun: { reason: 'x', message: 'y' },
      skipPreflight: { by: 'ana', reason: '', at: 1 },
      drifts: { writer: 'argocd', count: 2, lastImage: image('v5', '55') },
    };
    expect(absorbed(promoted('web-1'), before)).toEqual({
      ...unknownTarget,
      applied: TO,
      appliedVersion: 'v6-b1',
      passed: TO,
      // Brought back, so that the next swap counts anew.
      drifts: { writer: 'argocd', count: 2, lastImage: '' },
    });
  });

  test('leaves what a person has asked for after it had begun: it did not use that', () => {
    const given = { by: 'ana', reason: 'the cure', at: NOW + 1 };
    const outcome = { phase: 'Held', reason: 'PreflightFailed', message: 'answers 500' } as const;
    expect(absorbed(done('web-1', outcome), { skipPreflight: given }).skipPreflight).toEqual(given);
    expect(absorbed(done('web-1', outcome), { skipPreflight: { ...given, at: NOW } }).skipPreflight).toBeNull();
  });

  test('that only proved an image counts it as applied', () => {
    const item = { target: 'web-1', action: 'verify', from: TO, to: TO, toLabel: 'v6-b1', why: 'unproven' } as const;
    const verified = done('web-1', { phase: 'Current', reason: '', message: '' }, { item });
    expect(absorbed(verified)).toMatchObject({ applied: TO, passed: TO });
  });

  test('that rolled a target back leaves what it went back to, and what was wanted', () => {
    expect(absorbed(wentBack('web-1'))).toEqual({
      ...unknownTarget,
      applied: FROM,
      appliedVersion: 'v6-a0',
      passed: FROM,
      stuck: {
        phase: 'RolledBack',
        reason: 'CrashLoopBackOff',
        message: 'rolled back: crash loop',
        image: TO,
        wanted: TO,
        rollbackTo: FROM,
        at: LATER,
      },
    });
  });

  test('remembers what was wanted, which is another image where it went back to the applied one', () => {
    const item = { target: 'web-1', action: 'roll', from: TO, to: FROM, toLabel: 'v6-a0', why: 'drift' } as const;
    expect(absorbed(wentBack('web-1', { item })).stuck).toMatchObject({ image: FROM, wanted: TO });
    expect(absorbed(wentBack('web-1', { item }), {}, planning({ evaluation: null })).stuck).toMatchObject({
      image: FROM,
      wanted: FROM,
    });
  });

  test('remembers what was wanted of this very target', () => {
    const before = planning();
    const targets = before.evaluation?.targets.map((t) => ({ ...t, desired: `for ${t.name}` })) ?? [];
    const evaluation = before.evaluation === null ? null : { ...before.evaluation, targets };
    const after = absorbOutcome({ ...before, evaluation }, rollout([wentBack('web-1'), wentBack('web-2')]), LATER);
    expect(after.targets['web-1']?.stuck?.wanted).toBe('for web-1');
    expect(after.targets['web-2']?.stuck?.wanted).toBe('for web-2');
  });

  test('that could not be measured leaves the new image, Failed, with its way back', () => {
    const failed = done(
      'web-1',
      { phase: 'Failed', reason: 'Unmeasured', message: 'NOT rolled back' },
      { changed: true, rollbackTo: { image: FROM, version: null } },
    );
    expect(absorbed(failed)).toMatchObject({
      applied: TO,
      appliedVersion: 'v6-b1',
      passed: FROM,
      stuck: { phase: 'Failed', reason: 'Unmeasured', message: 'NOT rolled back', rollbackTo: FROM },
    });
    expect(absorbed({ ...failed, rollbackTo: null }).stuck?.rollbackTo).toBeNull();
  });

  test('whose rollback did not recover leaves what was written last', () => {
    const failed = (went: boolean) =>
      wentBack('web-1', {
        wentBack: went,
        outcome: { phase: 'Failed', reason: 'RollbackDidNotRecover', message: 'ROLLBACK DID NOT RECOVER' },
      });
    expect(absorbed(failed(true)).applied).toBe(FROM);
    expect(absorbed(failed(false)).applied).toBe(TO);
    expect(absorbed({ ...failed(true), rollbackTo: null }).applied).toBe(TO);
  });

  test.each(['Rejected', 'Aborted'])('that a person ended (%s) waits for a person', (reason) => {
    const held = done('web-1', { phase: 'Held', reason, message: 'by ana' });
    expect(absorbed(held)).toMatchObject({
      applied: FROM,
      notBefore: 0,
      stuck: { phase: 'Held', reason, message: 'by ana', image: TO },
    });
    // Aborted where it stood: what was written counts as applied.
    expect(absorbed({ ...held, changed: true })).toMatchObject({ applied: TO, stuck: { phase: 'Held' } });
  });

  test.each([
    ['Held', 'PreflightFailed'],
    ['Held', 'Changed'],
    ['Drifted', 'ImageChanged'],
    ['Unknown', 'Unread'],
  ] as const)('that ended %s (%s) is tried again after one poll interval', (phase, reason) => {
    const memory = absorbed(done('web-1', { phase, reason, message: 'why' }), {
      skipPreflight: { by: 'ana', reason: '', at: 1 },
    });
    expect(memory).toMatchObject({
      applied: FROM,
      stuck: null,
      notBefore: LATER + MINUTE,
      notBegun: { reason, message: 'why' },
      skipPreflight: null,
    });
  });

  test.each(['Pending', 'RollingOut'] as const)('leaves a target as it was that was not begun (%s)', (phase) => {
    const skipPreflight = { by: 'ana', reason: '', at: 1 };
    const memory = absorbed(done('web-1', { phase, reason: 'StoppedByFailure', message: '' }), {
      notBefore: 7,
      skipPreflight,
    });
    expect(memory).toMatchObject({ applied: FROM, stuck: null, notBefore: 7, skipPreflight });
  });

  test('says nothing of another workload that has the name by now', () => {
    const moved = spec({ targets: [{ namespace: 'shop', deployment: 'other', name: 'web-1', container: 'app' }] });
    const known = { ...unknownTarget, applied: FROM };
    const state = { ...planning(), spec: moved, targets: { 'web-1': known } };
    expect(absorbOutcome(state, rollout([promoted('web-1')]), LATER).targets).toEqual({ 'web-1': known });
  });

  test('leaves a target as it was for which nothing came out', () => {
    const after = absorbOutcome(planning({ targets: {} }), rollout([rolling('web-1')]), LATER);
    expect(after.targets).toEqual({});
  });

  test('makes a memory of a target that had none', () => {
    const after = absorbOutcome(planning({ targets: {} }), rollout([promoted('web-1')]), LATER);
    expect(after.targets['web-1']).toMatchObject({ applied: TO, passed: TO });
  });
});

describe('the digest that failed', () => {
  const entry = {
    image: TO_DIGEST,
    by: 'holdfast',
    reason: 'v6-b1 on web-1: CrashLoopBackOff',
    at: LATER,
    cooldownUntil: LATER + 20 * HOUR,
    cooldownOnly: false,
  };

  test('is blocked, in its cooldown, and counted', () => {
    const after = absorbOutcome(planning(), rollout([wentBack('web-1')]), LATER);
    expect(after.blocked).toEqual([entry]);
    expect(after.rollbacks).toBe(1);
    const observation = observe(spec(), resolved('b1'), fleet(managed(FROM)));
    const next = evaluate(after, observation, LATER);
    expect(planned(next)).toEqual([]);
    expect(viewOf(next)).toMatchObject({ phase: 'RolledBack' });
    expect(viewOf(next, 'web-2')).toMatchObject({ phase: 'Held', reason: 'Blocked' });
  });

  test('is only in its cooldown where the image is not proven bad', () => {
    const failure = { reason: 'ImagePullBackOff', message: '', block: false };
    const after = absorbOutcome(planning(), rollout([wentBack('web-1', { failure })]), LATER);
    expect(after.blocked).toEqual([{ ...entry, reason: 'v6-b1 on web-1: ImagePullBackOff', cooldownOnly: true }]);
  });

  test('is never tried again at once, whatever the cooldown', () => {
    const short = planning({ spec: spec({ cooldown: '0s' }) });
    const after = absorbOutcome(short, rollout([wentBack('web-1')]), LATER);
    expect(after.blocked[0]?.cooldownUntil).toBe(LATER + MINUTE);
  });

  test('stays blocked by whom it was', () => {
    const by = { image: TO_DIGEST, by: 'ana', reason: 'leaks', at: NOW, cooldownUntil: 0, cooldownOnly: false };
    const other = { ...by, image: 'v5.0.0' };
    const failure = { reason: 'NotReady', message: '', block: false };
    const after = absorbOutcome(planning({ blocked: [by, other] }), rollout([wentBack('web-1', { failure })]), LATER);
    expect(after.blocked).toEqual([
      other,
      { ...entry, by: 'ana', reason: 'v6-b1 on web-1: NotReady', cooldownOnly: false },
    ]);
    const unrelated = absorbOutcome(planning({ blocked: [other] }), rollout([wentBack('web-1', { failure })]), LATER);
    expect(unrelated.blocked[1]).toMatchObject({ by: 'holdfast', cooldownOnly: true });
    const cooling = { ...by, cooldownOnly: true };
    const again = absorbOutcome(planning({ blocked: [cooling] }), rollout([wentBack('web-1')]), LATER);
    expect(again.blocked).toEqual([entry]);
  });

  test('is blocked also where the rollback did not recover, which is no rollback', () => {
    const outcome = { phase: 'Failed', reason: 'RollbackDidNotRecover', message: '' } as const;
    const after = absorbOutcome(planning(), rollout([wentBack('web-1', { outcome })]), LATER);
    expect(after.blocked).toEqual([entry]);
    expect(after.rollbacks).toBe(0);
  });

  test.each(['Aborted', 'Undone'])('is not at fault where a target went back for another reason: %s', (reason) => {
    const target = wentBack('web-1', {
      failure: { reason, message: '', block: false },
      outcome: { phase: 'RolledBack', reason, message: '' },
    });
    const after = absorbOutcome(planning(), rollout([target]), LATER);
    expect(after.blocked).toEqual([]);
    expect(after.rollbacks).toBe(0);
  });

  test('is not at fault where nothing was measured, or nothing of it is known', () => {
    const unmeasured = done('web-1', { phase: 'Failed', reason: 'Unmeasured', message: '' }, { changed: true });
    expect(absorbOutcome(planning(), rollout([unmeasured]), LATER).blocked).toEqual([]);
    const held = wentBack('web-1', { outcome: { phase: 'Held', reason: 'Aborted', message: '' } });
    expect(absorbOutcome(planning(), rollout([held]), LATER).blocked).toEqual([]);
    const bare = wentBack('web-1', { item: { ...wentBack('web-1').item, to: 'app:v1' } });
    expect(absorbOutcome(planning(), rollout([bare]), LATER).blocked).toEqual([]);
  });

  test('no longer holds up the candidates that queue behind it', () => {
    const candidate = (id: string) => ({
      digest: resolved(id).digest,
      firstSeen: 0,
      resolved: resolved(id),
      tried: false,
      next: null,
    });
    const state = planning({ candidates: { a: candidate('b1'), b: candidate('c1') } });
    const after = absorbOutcome(state, rollout([wentBack('web-1')]), LATER);
    expect(after.candidates).toEqual({ a: { ...candidate('b1'), tried: true }, b: candidate('c1') });
    const good = absorbOutcome(state, rollout([promoted('web-1')]), LATER);
    expect(good.candidates).toEqual(state.candidates);
  });
});

describe('the approval of a plan', () => {
  const approval = { planHash: 'x', approved: true, by: 'ana', reason: '', at: NOW };

  test('is used up by a rollout that changed something', () => {
    expect(absorbOutcome(planning({ approval }), rollout([promoted('web-1')]), LATER).approval).toBeNull();
  });

  test('is used up as soon as one target was changed', () => {
    const held = done('web-2', { phase: 'Held', reason: 'PreflightFailed', message: '' });
    expect(absorbOutcome(planning({ approval }), rollout([promoted('web-1'), held]), LATER).approval).toBeNull();
  });

  test('stands where nothing of the plan was done', () => {
    const held = done('web-1', { phase: 'Held', reason: 'PreflightFailed', message: '' });
    expect(absorbOutcome(planning({ approval }), rollout([held]), LATER).approval).toEqual(approval);
  });

  test('stays a rejection', () => {
    const rejection = { ...approval, approved: false };
    expect(absorbOutcome(planning({ approval: rejection }), rollout([promoted('web-1')]), LATER).approval).toEqual(
      rejection,
    );
    expect(absorbOutcome(planning(), rollout([promoted('web-1')]), LATER).approval).toBeNull();
  });
});

describe('steps that people let go on', () => {
  const decision = { target: 'web-2', approved: true, by: 'ana', reason: '', at: NOW };
  const denied = done('web-2', { phase: 'Held', reason: 'AccessDenied', message: 'patch is forbidden' });
  const begin = (state: ReleaseState, planHash: string) =>
    startRollout({
      release: 'hive',
      id: 'hive-2',
      planHash,
      spec: spec({ approval: 'beforeEach' }),
      items: [rolling('web-2').item],
      state,
      now: LATER,
    });

  test('are not asked for again where the rollout of the same plan could write nothing', () => {
    const after = absorbOutcome(planning(), rollout([denied], { decisions: [decision] }), LATER);
    expect(begin(after, rollout([]).planHash).targets[0]?.step).toBe('Preflight');
    expect(begin(after, 'sha256:another').targets[0]?.step).toBe('Approval');
  });

  test('are kept by the hash of their plan, those alone that were approved', () => {
    const no = { ...decision, target: 'web-3', approved: false };
    const after = absorbOutcome(planning(), rollout([denied], { decisions: [decision, no] }), LATER);
    expect(after.approvedSteps).toEqual({ planHash: rollout([]).planHash, decisions: [decision] });
    expect(absorbOutcome(planning(), rollout([denied]), LATER).approvedSteps).toBeNull();
  });

  test('are asked for again once anything was written, and where they were rejected', () => {
    const written = absorbOutcome(planning(), rollout([promoted('web-1'), denied], { decisions: [decision] }), LATER);
    expect(begin(written, rollout([]).planHash).targets[0]?.step).toBe('Approval');
    const no = rollout([denied], { decisions: [{ ...decision, approved: false }] });
    expect(begin(absorbOutcome(planning(), no, LATER), no.planHash).targets[0]?.step).toBe('Approval');
  });
});

describe('what is kept of a rollout', () => {
  test('is one entry for tries that could not begin, so that they push nothing out', () => {
    const held = done('web-1', { phase: 'Held', reason: 'PreflightFailed', message: 'NotReady' });
    const first = absorbOutcome(planning(), rollout([promoted('web-1')]), LATER);
    const tried = Array.from({ length: 30 }, (_, n) => n + 2).reduce(
      (state, n) => absorbOutcome(state, rollout([held], { id: `hive-${n}`, startedAt: NOW + n }), LATER + n),
      first,
    );
    expect(tried.rollouts.map(({ id, outcome, attempts }) => [id, outcome, attempts])).toEqual([
      ['hive-1', 'Promoted', undefined],
      ['hive-31', 'Held', 30],
    ]);
    expect(tried.rollouts[1]).toMatchObject({ startedAt: NOW + 2, endedAt: LATER + 31 });
    expect(tried.evidence).toHaveLength(2);
    expect(tried.rolloutCount).toBe(31);
    const other = done('web-1', { phase: 'Held', reason: 'PreflightFailed', message: 'NotReady, otherwise' });
    expect(absorbOutcome(tried, rollout([other], { id: 'hive-32' }), LATER + 99).rollouts).toHaveLength(3);
    const half = rollout([promoted('web-1', { changed: false }), held], { id: 'hive-40' });
    const again = absorbOutcome(absorbOutcome(first, half, LATER), { ...half, id: 'hive-41' }, LATER);
    expect(again.rollouts.map(({ id }) => id)).toEqual(['hive-1', 'hive-40', 'hive-41']);
    const partly = rollout([held, done('web-2', held.outcome ?? never(), { changed: true })], { id: 'hive-50' });
    const twice = absorbOutcome(absorbOutcome(tried, partly, LATER), { ...partly, id: 'hive-51' }, LATER);
    expect(twice.rollouts.map(({ id }) => id)).toEqual(['hive-1', 'hive-31', 'hive-50', 'hive-51']);
    const wrote = rollout([done('web-1', held.outcome ?? never(), { changed: true })], { id: 'hive-33' });
    expect(absorbOutcome(tried, wrote, LATER + 99).rollouts).toHaveLength(3);
  });

  test('is one summary, taken in once', () => {
    const finished = rollout([
      promoted('web-1', { since: NOW + MINUTE }),
      promoted('web-2', { since: NOW + 2 * MINUTE }),
    ]);
    const after = absorbOutcome(planning(), finished, LATER);
    const summary = {
      id: 'hive-1',
      startedAt: NOW,
      endedAt: LATER,
      outcome: 'Promoted',
      message: '2 of 2 targets promoted',
      targets: [
        { name: 'web-1', phase: 'Current', from: FROM, to: TO, reason: '' },
        { name: 'web-2', phase: 'Current', from: FROM, to: TO, reason: '' },
      ],
    };
    expect(after.rollouts).toEqual([summary]);
    expect(after.evidence).toEqual([
      {
        at: LATER,
        kind: 'outcome',
        what: 'hive-1',
        outcome: 'Promoted',
        message: `rollout hive-1 (plan sha256:${'ab'.repeat(32)}) ended as Promoted: 2 of 2 targets promoted`,
      },
    ]);
    expect(absorbOutcome(after, finished, LATER + 1)).toBe(after);
  });

  test.each<[string, TargetRollout[], Parameters<typeof rollout>[1], string]>([
    ['RolledBack', [wentBack('web-1'), promoted('web-2')], {}, '1 of 2 targets promoted; rolled back: crash loop'],
    [
      'Failed',
      [wentBack('web-1'), done('web-2', { phase: 'Failed', reason: 'x', message: 'm' })],
      { stopped: { target: 'web-1', reason: 'x', message: 'why it stopped', cause: 'measured' } },
      '0 of 2 targets promoted; why it stopped',
    ],
    [
      'Aborted',
      [promoted('web-1'), done('web-2', { phase: 'Held', reason: 'Aborted', message: 'by ana' })],
      { abort: { how: 'stop', now: false, by: 'ana', reason: '' } },
      '1 of 2 targets promoted; by ana',
    ],
    ['Aborted', [wentBack('web-1')], { abort: { how: 'rollback', now: false, by: 'ana', reason: '' } }, '0 of 1'],
    [
      'Failed',
      [done('web-1', { phase: 'Failed', reason: 'Aborted', message: '' })],
      { abort: { how: 'rollback', now: true, by: 'ana', reason: '' } },
      '0 of 1',
    ],
    [
      'Held',
      [promoted('web-1'), done('web-2', { phase: 'Held', reason: 'PreflightFailed', message: 'p' })],
      {},
      '1 of 2',
    ],
    ['Held', [promoted('web-1'), rolling('web-2')], {}, '1 of 2 targets promoted'],
  ])('says how it ended: %s', (outcome, targets, overrides, message) => {
    const [summary] = absorbOutcome(planning(), rollout(targets, overrides), LATER).rollouts;
    expect(summary?.outcome).toBe(outcome);
    expect(summary?.message).toContain(message);
  });

  test('names twenty targets, those first that did not end well', () => {
    const many = Array.from({ length: 30 }, (_, n) => promoted(`web-${n}`));
    const after = absorbOutcome(planning(), rollout([...many, wentBack('bad')]), LATER);
    const names = after.rollouts[0]?.targets.map((t) => t.name) ?? [];
    expect(names).toHaveLength(20);
    expect(names.slice(0, 2)).toEqual(['bad', 'web-0']);
    expect(after.rollouts[0]?.message).toBe('30 of 31 targets promoted; rolled back: crash loop');
  });

  test('that an earlier run began leaves its number to it', () => {
    const count = (id: string, before: number) =>
      absorbOutcome(planning({ rolloutCount: before }), rollout([promoted('web-1')], { id }), LATER).rolloutCount;
    expect(count('hive-7', 0)).toBe(7);
    expect(count('hive-7', 9)).toBe(9);
    expect(count('release-2-12', 3)).toBe(12);
    expect(count('other', 3)).toBe(3);
  });

  test('is bounded to the last twenty', () => {
    let state = planning();
    for (let n = 1; n <= 25; n += 1) {
      state = absorbOutcome(state, rollout([promoted('web-1')], { id: `hive-${n}` }), LATER + n);
    }
    expect(state.rollouts.map((r) => r.id)).toEqual(Array.from({ length: 20 }, (_, n) => `hive-${n + 6}`));
  });
});

describe('before the next look at the world', () => {
  const left = () => absorbOutcome(planning(), rollout([wentBack('web-1')]), LATER);

  test('a target is shown as its rollout left it, and nothing is planned', () => {
    const ended = left();
    expect(ended.evaluation?.targets.find((t) => t.name === 'web-1')).toMatchObject({
      phase: 'RolledBack',
      reason: 'CrashLoopBackOff',
      message: 'rolled back: crash loop',
      current: FROM,
      rollbackTo: FROM,
    });
    expect(ended.evaluation?.plan.items).toEqual([]);
    expect(ended.evaluation?.planHash).not.toBe(planning().evaluation?.planHash);
  });

  test('what the rollout said nothing of stays as it was seen', () => {
    const ended = left();
    const [first, ...others] = planning().evaluation?.targets ?? [];
    const [shown, ...rest] = ended.evaluation?.targets ?? [];
    expect(shown).toEqual({ ...first, ...pick(shown), applied: FROM });
    expect(rest.map((view) => view.desired)).toEqual(others.map((view) => view.desired));
    expect(rest.map((view) => view.workload)).toEqual(['Deployment shop/web-2', 'Deployment shop/web-3']);
  });

  test('also where the registry does not answer that look: a failure is not hidden by it', () => {
    const looked = evaluate(left(), observe(spec(), unread('timeout'), fleet(managed(FROM))), LATER + 1);
    expect(viewOf(looked)).toMatchObject({ phase: 'RolledBack', reason: 'CrashLoopBackOff' });
  });
});
