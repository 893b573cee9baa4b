import { describe, expect, test } from 'vitest';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { rolloutNotifications, waitNotification } from '../../../src/domain/release/notifications.ts';
import type { TargetOutcome } from '../../../src/domain/release/rollout.ts';
import type { ReleaseState } from '../../../src/domain/release/state.ts';
import { done, promoted, rolling, rollout, wentBack } from './rollout-world.ts';
import { fleet, image, managed, NOW, observe, resolved, spec, start, unread, writer } from './world.ts';
import { unknownTarget } from '../../../src/domain/release/initial-state.ts';

const FROM = image('v6-latest', 'a0');
const OTHER = image('v6-latest', '55');
const failed = (reason: string): TargetOutcome => ({ phase: 'Failed', reason, message: 'as it says' });

describe('what a rollout tells people', () => {
  const before = rollout([rolling('web-1', { step: 'Recovering' }), rolling('web-2')]);
  const ends = (outcome: TargetOutcome) =>
    rolloutNotifications(before, rollout([done('web-1', outcome), rolling('web-2')]));

  test.each([
    [wentBack('web-1').outcome, 'RolledBack', 'warning'],
    [{ phase: 'RolledBack', reason: 'Aborted', message: 'as it says' }, 'RolledBack', 'info'],
    [failed('Unmeasured'), 'Failed', 'warning'],
    [failed('NoRollbackTarget'), 'Failed', 'page'],
    [failed('RollbackDidNotRecover'), 'RollbackDidNotRecover', 'page'],
  ] as const)('%j is told as %s, %s', (outcome, what, severity) => {
    if (outcome === null) throw new Error('no outcome');
    expect(ends(outcome)).toEqual([
      {
        what,
        severity,
        subject: 'release/hive, target web-1',
        text: outcome.message,
        dedupeKey: `${what}/release/hive, target web-1/hive-1`,
      },
    ]);
  });

  test('what went well, and what was not begun, is not told', () => {
    expect(rolloutNotifications(before, rollout([promoted('web-1'), rolling('web-2')]))).toEqual([]);
    expect(ends({ phase: 'Held', reason: 'PreflightFailed', message: 'sick' })).toEqual([]);
    expect(ends({ phase: 'Pending', reason: 'StoppedByFailure', message: 'not started' })).toEqual([]);
  });

  test('an end is told once, not again with each later step', () => {
    const after = rollout([wentBack('web-1'), rolling('web-2')]);
    const later = { ...after, targets: [after.targets[0] ?? wentBack('web-1'), promoted('web-2')] };
    expect(rolloutNotifications(after, later)).toEqual([]);
  });

  test('what is new of a target is told, and nothing else', () => {
    const ended = rollout([wentBack('web-1'), rolling('web-2', { step: 'Approval' })]);
    const touched = { ...ended, targets: ended.targets.map((target) => ({ ...target, since: target.since + 1 })) };
    expect(rolloutNotifications(ended, touched)).toEqual([]);
    const undone = rollout([rolling('web-1', { step: 'RollingBack' }), rolling('web-2')]);
    expect(rolloutNotifications(rollout([promoted('web-1'), rolling('web-2')]), undone)).toEqual([]);
    expect(rolloutNotifications(undone, rollout([wentBack('web-1'), rolling('web-2')]))).toHaveLength(1);
  });

  test('a step that waits for an approval is told once, for all targets that wait, with the command', () => {
    const waiting = rollout([promoted('web-1'), rolling('web-2'), rolling('web-3')]);
    const asks = rollout([
      waiting.targets[0] ?? promoted('web-1'),
      rolling('web-2', { step: 'Approval' }),
      rolling('web-3', { step: 'Approval' }),
    ]);
    const [said, ...more] = rolloutNotifications(waiting, asks);
    expect(more).toEqual([]);
    expect(said).toMatchObject({ what: 'WaitsForPerson', severity: 'warning', subject: 'release/hive' });
    expect(said?.text).toContain('waits for an approval of v6-b1 on web-2, web-3 (plan ');
    expect(said?.dedupeKey).toBe('WaitsForPerson/release/hive/hive-1/web-2, web-3');
    expect(said?.text).toContain(`holdfast approve release/hive --plan ${asks.planHash}`);
    expect(rolloutNotifications(asks, { ...asks, paused: true })).toEqual([]);
  });

  test('secrets in a message stay here', () => {
    const [said] = ends({ phase: 'Failed', reason: 'Unmeasured', message: 'GET https://a:hunter2@host failed' });
    expect(said?.text).not.toContain('hunter2');
  });
});

describe('what a release tells people between rollouts', () => {
  const of = spec({ approval: 'beforeFirst' });
  const planning = (state: ReleaseState = start(of), seed = 'b1'): ReleaseState =>
    evaluate(state, observe(state.spec, resolved(seed), fleet(managed(FROM))), NOW).state;
  const dark = (state: ReleaseState): ReleaseState =>
    evaluate(state, observe(state.spec, unread('unreachable', 'registry'), fleet(managed(FROM))), NOW).state;

  /** Tells, and remembers what was told, as the workflow does. */
  function told(state: ReleaseState): [ReleaseState, string | undefined] {
    const { told: about, notification } = waitNotification(state);
    return [{ ...state, told: about }, notification?.text];
  }

  test('a plan that waits for an approval is told once, also when the registry does not answer in between', () => {
    const [first, text] = told(planning());
    expect(text).toContain(`holdfast approve release/hive --plan ${first.evaluation?.planHash ?? ''}`);
    const [again, nothing] = told(planning(first));
    expect(nothing).toBeUndefined();
    const [unknown, silence] = told(dark(again));
    expect(silence).toBeUndefined();
    expect(told(planning(unknown))[1]).toBeUndefined();
  });

  test('another plan is another wait, and one that comes back after none is too', () => {
    const [first] = told(planning());
    const [second, text] = told(planning(first, 'c2'));
    expect(text).toContain(second.evaluation?.planHash ?? 'no hash');
    const [idle] = told(evaluate(second, observe(of, resolved('a0'), fleet(managed(FROM))), NOW).state);
    expect(idle.told).toBeNull();
    expect(told(planning(idle, 'c2'))[1]).toBeDefined();
  });

  test('what only a person lifts is told with its target, and what time or upstream lifts is not', () => {
    const zero = spec({});
    const sick = observe(zero, resolved('b1'), fleet({ ...managed(FROM), replicas: 0 }));
    const [held, text] = told(evaluate(start(zero), sick, NOW).state);
    expect(text).toMatch(/^web-1 is Held \(ZeroReplicas\): .*; and \d+ more$/);
    expect(told(evaluate(held, sick, NOW).state)[1]).toBeUndefined();
    const { notification: said } = waitNotification(evaluate(start(zero), sick, NOW).state);
    const about = `web-1/ZeroReplicas/${image('v6-latest', 'b1')}`;
    expect(said).toMatchObject({ subject: 'release/hive', dedupeKey: `WaitsForPerson/release/hive/${about}` });
    expect(held.told).toBe(about);
    const two = { 'web-1': managed(FROM), 'web-2': { ...managed(FROM), replicas: 0 }, 'web-3': managed(FROM) };
    const one = told(evaluate(start(zero), observe(zero, resolved('b1'), two), NOW).state)[1];
    expect(one).toMatch(/^web-2 is Held \(ZeroReplicas\): (?!.* more$)/);
    const aging = spec({ minimumAge: '1h' });
    const young = evaluate(start(aging), observe(aging, resolved('b1'), fleet(managed(FROM))), NOW).state;
    expect(young.evaluation?.targets[0]?.reason).toBe('MinimumAge');
    expect(told(young)[1]).toBeUndefined();
  });

  test('a target that another writer keeps changing is told, and in Shadow is not', () => {
    const memory = { ...unknownTarget, applied: FROM, drifts: { writer: 'argocd', count: 3, lastImage: OTHER } };
    const drifted = (mode: 'Enforce' | 'Shadow') => {
      const of = spec({ mode });
      const state = start(of, { targets: { 'web-1': memory } });
      const found = {
        ...fleet(managed(FROM)),
        'web-1': managed(FROM, { image: OTHER, imageWriter: writer('argocd') }),
      };
      return told(evaluate(state, observe(of, resolved('a0'), found), NOW).state)[1];
    };
    expect(drifted('Enforce')).toMatch(/^web-1 is Held \(SecondWriter\): argocd has put its own image back 3 times/);
    expect(drifted('Shadow')).toBeUndefined();
  });

  test('a drift that only a person can end is told as one', () => {
    const of = spec({});
    const state = start(of, { targets: { 'web-1': { ...unknownTarget, applied: FROM } } });
    const found = { ...fleet(managed(FROM)), 'web-1': managed(FROM, { image: OTHER, replicas: 0 }) };
    expect(told(evaluate(state, observe(of, resolved('a0'), found), NOW).state)[1]).toMatch(
      /^web-1 is Drifted \(ZeroReplicas\): /,
    );
  });

  test('nobody is told of Shadow, a pause or a rejection: a person chose those', () => {
    expect(told(planning(start(spec({ mode: 'Shadow', approval: 'beforeFirst' }))))[1]).toBeUndefined();
    const paused = { ...start(of), paused: { by: 'ana', reason: '', at: NOW } };
    expect(told(planning(paused))[1]).toBeUndefined();
    expect(told(start(of))[1]).toBeUndefined();
    const first = planning();
    const plan = first.evaluation?.planHash ?? '';
    const rejected = { planHash: plan, approved: false, by: 'ana', reason: '', at: NOW };
    const turnedDown = planning({ ...first, approval: rejected });
    expect(turnedDown.evaluation?.targets[0]?.reason).toBe('Rejected');
    expect(told(turnedDown)[1]).toBeUndefined();
  });
});
