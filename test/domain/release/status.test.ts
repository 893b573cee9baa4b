import { describe, expect, test } from 'vitest';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { unknownTarget } from '../../../src/domain/release/initial-state.ts';
import { heldReasons } from '../../../src/domain/release/plan.ts';
import type { RolloutState, TargetRollout } from '../../../src/domain/release/rollout.ts';
import type { ReleaseState } from '../../../src/domain/release/state.ts';
import { releaseStatus } from '../../../src/domain/release/status.ts';
import { noteWaiting } from '../../../src/domain/release/waiting-since.ts';
import { statusText } from '../../../src/domain/release/status-text.ts';
import { done, FROM, promoted, rolling, rollout, TO, TO_DIGEST, wentBack } from './rollout-world.ts';
import { fleet, HOUR, managed, MINUTE, NOW, observe, resolved, spec, start, target, unread } from './world.ts';

type SpecOverrides = Parameters<typeof spec>[0];

/** A release that was just evaluated; the fleet runs FROM and TO is wanted. */
function evaluated(
  overrides: SpecOverrides = {},
  found = fleet(managed(FROM)),
  state: Partial<ReleaseState> = {},
): ReleaseState {
  const of = spec(overrides);
  return evaluate(start(of, state), observe(of, resolved('b1'), found), NOW).state;
}

function statusOf(state: ReleaseState, living: RolloutState | null = null) {
  return releaseStatus(noteWaiting(state, living, NOW), living, NOW + MINUTE);
}

function targetOf(rolled: TargetRollout, overrides: Partial<RolloutState> = {}) {
  const status = statusOf(evaluated(), rollout([rolled], overrides));
  const found = status.targets.find((t) => t.name === rolled.item.target);
  if (!found) throw new Error('no such target');
  return found;
}

const SINCE = '2026-03-02T12:00:00Z';

describe('the status of a release', () => {
  test('has everything that programs read', () => {
    const pin = { by: 'ana', reason: 'calm', at: NOW, image: 'v6.0.0' };
    const state = {
      ...evaluated(),
      pin,
      paused: { by: 'bob', reason: 'lunch', at: NOW },
      blocked: [
        { image: TO_DIGEST, by: 'x', reason: 'y', at: NOW, cooldownUntil: NOW + HOUR, cooldownOnly: false },
        { image: 'v1', by: 'x', reason: 'y', at: NOW, cooldownUntil: NOW, cooldownOnly: false },
        { image: 'v2', by: 'x', reason: 'y', at: NOW, cooldownUntil: NOW + MINUTE, cooldownOnly: true },
        { image: 'v3', by: 'x', reason: 'y', at: NOW, cooldownUntil: NOW + MINUTE + 1, cooldownOnly: true },
      ],
      rolloutCount: 7,
      rollbacks: 2,
    };
    const status = statusOf(state);
    expect(status).toMatchObject({
      kind: 'Release',
      name: 'hive',
      mode: 'Enforce',
      effectiveMode: 'Enforce',
      modeReason: null,
      phase: 'Pending',
      generation: 1,
      planHash: state.evaluation?.planHash,
      plan: state.evaluation?.plan,
      pinned: { image: 'v6.0.0', by: 'ana', reason: 'calm', at: SINCE },
      paused: { by: 'bob', reason: 'lunch', at: SINCE },
      blocked: [
        {
          image: TO_DIGEST,
          by: 'x',
          reason: 'y',
          at: SINCE,
          cooldownUntil: '2026-03-02T13:00:00Z',
          cooldownOnly: false,
        },
        { image: 'v1', cooldownUntil: null, cooldownOnly: false },
        { image: 'v3', cooldownUntil: '2026-03-02T12:01:00Z', cooldownOnly: true },
      ],
      rollout: null,
      lastRollouts: [],
      rollouts: 7,
      rollbacks: 2,
      changesAt: null,
      asOf: '2026-03-02T12:01:00Z',
    });
    expect(status.blocked).toHaveLength(3);
    expect(status.conditions).toBe(state.conditions);
    expect(status.targets[0]).toEqual({
      name: 'web-1',
      cluster: 'default',
      workload: 'Deployment shop/web-1',
      phase: 'Pending',
      step: null,
      reason: 'Planned',
      message: 'v6-b1 is to be rolled',
      current: FROM,
      desired: TO,
      applied: FROM,
      rollbackTo: null,
      label: 'v6-b1',
    });
    // It is sent as JSON.
    expect(JSON.parse(JSON.stringify(status))).toEqual(status);
  });

  test('is Unknown before anything was evaluated', () => {
    const status = statusOf(start());
    expect(status).toMatchObject({
      phase: 'Unknown',
      effectiveMode: 'Observe',
      modeReason: 'nothing was evaluated yet',
      targets: [],
      plan: { release: 'hive', items: [] },
      planHash: '',
      pinned: null,
      paused: null,
      changesAt: null,
      waiting: {
        for: 'the first evaluation',
        since: SINCE,
        who: 'outside',
        next: 'everything is read again at the next poll',
      },
    });
    expect(status.conditions).toEqual([
      {
        type: 'Ready',
        status: 'Unknown',
        reason: 'Unknown',
        message: 'nothing was evaluated yet',
        lastTransitionTime: '2026-03-02T12:00:00.000Z',
        observedGeneration: 1,
      },
    ]);
    expect(releaseStatus(start(), null, NOW).waiting?.since).toBeNull();
  });

  test('tells finished rollouts and what is next', () => {
    const summary = {
      id: 'hive-1',
      startedAt: NOW,
      endedAt: NOW + HOUR,
      outcome: 'Promoted' as const,
      message: 'm',
      targets: [],
    };
    const aging = evaluated({ minimumAge: '1h' });
    const status = statusOf({ ...aging, rollouts: [summary] });
    expect(status.lastRollouts).toEqual([{ ...summary, startedAt: SINCE, endedAt: '2026-03-02T13:00:00Z' }]);
    expect(status.changesAt).toBe('2026-03-02T13:00:00Z');
  });

  test('tells a rollout that is under way, and why it has stopped', () => {
    expect(statusOf(evaluated(), rollout([rolling('web-1')])).rollout).toEqual({
      id: 'hive-1',
      planHash: `sha256:${'ab'.repeat(32)}`,
      stopped: null,
    });
    const stopped = { target: 'web-1', reason: 'x', message: 'crash loop', cause: 'measured' as const };
    expect(statusOf(evaluated(), rollout([rolling('web-1')], { stopped })).rollout?.stopped).toBe('crash loop');
  });
});

describe('a target in a rollout', () => {
  test.each([
    ['Preflight', 'Preflight', 'the running image is checked before v6-b1 is rolled'],
    ['Patching', 'Patching', 'v6-b1 is written'],
    ['Rolling', 'Rolling', 'v6-b1 rolls; its gate follows'],
    ['Restoring', 'Rolling', 'v6-b1 rolls; its gate follows'],
    ['Soaking', 'Soaking', 'v6-b1 passed its gate and soaks'],
    ['Passing', 'Soaking', 'v6-b1 passed its gate and soaks'],
  ] as const)('at %s is RollingOut (%s)', (step, shown, message) => {
    expect(targetOf(rolling('web-1', { step }))).toMatchObject({
      phase: 'RollingOut',
      step: shown,
      reason: shown,
      message,
      current: FROM,
      desired: TO,
      label: 'v6-b1',
      rollbackTo: null,
    });
  });

  test('shows the new image from the moment it may be there, with the way back', () => {
    const target = rolling('web-1', { step: 'Rolling', changed: true, rollbackTo: { image: FROM, version: null } });
    expect(targetOf(target)).toMatchObject({ current: TO, rollbackTo: FROM });
  });

  test.each(['RollingBack', 'Recovering'] as const)('on its way back (%s) says why', (step) => {
    const failure = { reason: 'CrashLoopBackOff', message: 'crash loop in app', block: true };
    expect(targetOf(rolling('web-1', { step, changed: true, failure }))).toMatchObject({
      phase: 'RollingOut',
      step,
      reason: 'CrashLoopBackOff',
      message: 'crash loop in app',
      current: TO,
    });
  });

  test('on its way back without a recorded reason says what is done', () => {
    expect(targetOf(rolling('web-1', { step: 'RollingBack' })).message).toBe('the way back is written');
    expect(targetOf(rolling('web-1', { step: 'Recovering' })).message).toBe(
      'waits until the image before is healthy again',
    );
  });

  test('that went back shows the image that was written back', () => {
    const back = { wentBack: true, changed: true, rollbackTo: { image: FROM, version: null } };
    expect(targetOf(rolling('web-1', { step: 'Restoring', ...back }))).toMatchObject({
      step: 'Recovering',
      current: FROM,
    });
    expect(targetOf({ ...rolling('web-1', { step: 'Recovering', ...back }), rollbackTo: null }).current).toBe(TO);
    expect(targetOf(wentBack('web-1'))).toMatchObject({
      phase: 'RolledBack',
      step: null,
      reason: 'CrashLoopBackOff',
      message: 'rolled back: crash loop',
      current: FROM,
      rollbackTo: FROM,
    });
  });

  test('that waits for a person is Pending', () => {
    expect(targetOf(rolling('web-1', { step: 'Approval' }))).toMatchObject({
      phase: 'Pending',
      step: 'Approval',
      reason: 'AwaitingApproval',
      message: 'v6-b1 waits for an approval',
    });
  });

  test('that waits for its turn is Pending, or says why it will not be started', () => {
    expect(targetOf(rolling('web-1'))).toMatchObject({
      phase: 'Pending',
      step: null,
      reason: 'Waiting',
      message: 'waits for the targets before it',
    });
    const stopped = { target: 'web-2', reason: 'x', message: 'crash loop', cause: 'measured' as const };
    expect(targetOf(rolling('web-1'), { stopped }).message).toBe('not started: crash loop');
  });

  test('that is done shows its outcome', () => {
    expect(targetOf(promoted('web-1'))).toMatchObject({ phase: 'Current', step: null, current: TO, rollbackTo: FROM });
    const held = done('web-1', { phase: 'Held', reason: 'PreflightFailed', message: 'm' });
    expect(targetOf(held)).toMatchObject({ phase: 'Held', reason: 'PreflightFailed', current: FROM, rollbackTo: null });
    const orphan = wentBack('web-1', { rollbackTo: null });
    expect(targetOf(orphan)).toMatchObject({ current: TO, rollbackTo: null });
  });

  test('keeps the way back that its marks name where the rollout has none yet', () => {
    const found = managed(FROM, { marks: { ...managed(FROM).marks, previousImage: 'older' } });
    const state = evaluated({}, fleet(found));
    expect(statusOf(state, rollout([rolling('web-1', { step: 'Preflight' })])).targets[0]?.rollbackTo).toBe('older');
    const held = done('web-1', { phase: 'Held', reason: 'x', message: '' });
    expect(statusOf(state, rollout([held])).targets[0]?.rollbackTo).toBe('older');
    expect(statusOf(state, rollout([rolling('web-9')])).targets[0]).toMatchObject({ phase: 'Pending' });
  });
});

describe('the phase of a release and what it waits for', () => {
  test('Suspended: the spec', () => {
    const state = { ...evaluated(), spec: spec({ suspend: true }) };
    expect(statusOf(state)).toMatchObject({
      phase: 'Suspended',
      waiting: { for: 'spec.suspend', since: SINCE, who: 'person', next: 'set suspend: false and apply the spec' },
    });
    expect(statusOf(state, rollout([rolling('web-1')])).phase).toBe('Suspended');
  });

  test('AwaitingApproval: a person, for the plan before the first target', () => {
    const state = evaluated({ approval: 'beforeFirst' });
    const hash = state.evaluation?.planHash;
    expect(statusOf(state)).toMatchObject({
      phase: 'AwaitingApproval',
      waiting: {
        for: `an approval of v6-b1 on 3 targets (plan ${hash})`,
        since: SINCE,
        who: 'person',
        next: `holdfast approve release/hive --plan ${hash}; or holdfast reject release/hive --plan ${hash}`,
      },
    });
  });

  test('AwaitingApproval: names every image of the plan', () => {
    const state = evaluated({ approval: 'beforeFirst' });
    const { evaluation } = state;
    if (evaluation === null) throw new Error('not evaluated');
    const items = evaluation.plan.items.map((item, index) => (index === 0 ? item : { ...item, toLabel: 'v7' }));
    const mixed = { ...state, evaluation: { ...evaluation, plan: { ...evaluation.plan, items } } };
    expect(statusOf(mixed).waiting?.for).toMatch(/^an approval of v6-b1, v7 on 3 targets /);
  });

  test('AwaitingApproval: a person, for a step of a rollout', () => {
    const living = rollout([
      promoted('web-1'),
      rolling('web-2', { step: 'Approval', since: NOW + 1_000 }),
      rolling('web-3', { step: 'Approval' }),
    ]);
    expect(statusOf(evaluated(), living)).toMatchObject({
      phase: 'AwaitingApproval',
      waiting: {
        for: `an approval of v6-b1 on web-2, web-3 (plan ${living.planHash})`,
        since: '2026-03-02T12:00:01Z',
        who: 'person',
        next: `holdfast approve release/hive --plan ${living.planHash}; or holdfast reject release/hive --plan ${living.planHash}`,
      },
    });
    // While another target moves, the release does.
    const moving = rollout([rolling('web-1', { step: 'Soaking' }), rolling('web-2', { step: 'Approval' })]);
    expect(statusOf(evaluated(), moving).phase).toBe('RollingOut');
  });

  test('RollingOut: the step that is under way, and what follows it', () => {
    const living = rollout([
      promoted('web-1'),
      rolling('web-2', { step: 'Soaking', since: NOW + 1_000 }),
      rolling('web-3'),
    ]);
    expect(statusOf(evaluated(), living)).toMatchObject({
      phase: 'RollingOut',
      waiting: { for: 'web-2: Soaking', since: '2026-03-02T12:00:01Z', who: 'rollout', next: 'web-3 follows' },
    });
    const second = rollout([rolling('web-1'), rolling('web-2', { step: 'Soaking' })]);
    expect(statusOf(evaluated(), second).waiting?.for).toBe('web-2: Soaking');
    const last = rollout([promoted('web-1'), rolling('web-2', { step: 'Rolling' })]);
    expect(statusOf(evaluated(), last).waiting).toMatchObject({ for: 'web-2: Rolling', next: 'the rollout ends' });
    const stopped = { target: 'web-1', reason: 'x', message: 'crash loop', cause: 'measured' as const };
    const ending = rollout([rolling('web-1', { step: 'Soaking' }), rolling('web-2')], { stopped });
    expect(statusOf(evaluated(), ending).waiting?.next).toBe('the rollout ends: crash loop');
    const failure = { reason: 'x', message: 'y', block: true };
    const back = rollout([rolling('web-1', { step: 'Recovering', failure }), rolling('web-2')]);
    expect(statusOf(evaluated(), back).waiting?.next).toBe('the rollout stops once the image before is healthy again');
    const begun = rollout([rolling('web-1'), rolling('web-2')]);
    expect(statusOf(evaluated(), begun)).toMatchObject({ phase: 'RollingOut', waiting: { for: 'web-1: Waiting' } });
    expect(statusOf(evaluated(), rollout([]))).toMatchObject({ phase: 'RollingOut', waiting: null });
  });

  test('RollingOut, frozen: a person', () => {
    const paused = rollout([rolling('web-1', { step: 'Soaking' })], { paused: true });
    expect(statusOf(evaluated(), paused)).toMatchObject({
      phase: 'RollingOut',
      waiting: {
        for: 'resume of rollout hive-1',
        since: SINCE,
        who: 'person',
        next: 'holdfast resume release/hive; or holdfast abort release/hive --stop (or --roll-back)',
      },
    });
    const shadow = rollout([rolling('web-1', { step: 'Soaking' })], { mode: 'Shadow' });
    expect(statusOf(evaluated(), shadow).waiting).toEqual({
      for: 'mode Enforce: rollout hive-1 is frozen where it is',
      since: SINCE,
      who: 'person',
      next: 'holdfast set-mode release/hive Enforce; or holdfast abort release/hive --stop (or --roll-back)',
    });
  });

  test('Degraded: a person, by the target that is worst off', () => {
    const stuck = {
      phase: 'RolledBack' as const,
      reason: 'x',
      message: 'crash loop',
      image: TO,
      wanted: TO,
      rollbackTo: FROM,
      at: NOW,
    };
    const blocked = [{ image: TO_DIGEST, by: 'x', reason: '', at: NOW, cooldownUntil: 0, cooldownOnly: false }];
    const rolledBack = { ...unknownTarget, applied: FROM, passed: FROM, stuck };
    const one = evaluated({}, fleet(managed(FROM)), { blocked, targets: { 'web-2': rolledBack } });
    expect(statusOf(one)).toMatchObject({
      phase: 'Degraded',
      waiting: {
        for: 'web-2, which is RolledBack: crash loop',
        since: SINCE,
        who: 'person',
        next: 'another image is rolled as soon as one is wanted; holdfast retry release/hive tries this one again',
      },
    });
    const failed = { ...rolledBack, stuck: { ...stuck, phase: 'Failed' as const, message: 'not measured' } };
    const two = evaluated({}, fleet(managed(FROM)), { blocked, targets: { 'web-2': rolledBack, 'web-3': failed } });
    expect(statusOf(two).waiting?.for).toBe('web-3, which is Failed: not measured');
    expect(statusOf(two, rollout([rolling('web-1')])).phase).toBe('RollingOut');
  });

  test('Unknown: whatever does not answer', () => {
    const state = evaluated({}, { 'web-1': managed(TO), 'web-2': managed(TO) });
    expect(statusOf(state)).toMatchObject({
      phase: 'Unknown',
      waiting: {
        for: 'web-3: the target was not read',
        who: 'outside',
        next: 'everything is read again at the next poll',
      },
    });
    const current = evaluated({}, fleet(managed(TO)));
    const down = evaluate(
      current,
      observe(spec(), unread('timeout', 'registry'), fleet(managed(TO))),
      NOW + HOUR,
    ).state;
    expect(statusOf(down)).toMatchObject({
      phase: 'Unknown',
      waiting: {
        for: 'web-1: registry could not be read: timeout; the phase is the last one known',
        since: SINCE,
        who: 'outside',
      },
    });
  });

  test('Pending: the rollout in Enforce, a person in Shadow', () => {
    expect(statusOf(evaluated())).toMatchObject({
      phase: 'Pending',
      waiting: { for: 'the rollout to start', since: SINCE, who: 'rollout', next: 'the canary is rolled first' },
    });
    expect(statusOf(evaluated({ mode: 'Shadow' })).waiting).toEqual({
      for: 'mode Enforce',
      since: SINCE,
      who: 'person',
      next: 'holdfast set-mode release/hive Enforce',
    });
    expect(statusOf(evaluated({ mode: 'Observe' }))).toMatchObject({ phase: 'Pending', waiting: { who: 'person' } });
    const paused = { by: 'bob', reason: '', at: NOW - MINUTE };
    expect(statusOf(evaluated({}, fleet(managed(FROM)), { paused })).waiting).toEqual({
      for: 'resume: paused by bob',
      since: '2026-03-02T11:59:00Z',
      who: 'person',
      next: 'holdfast resume release/hive',
    });
    const of = spec({ incumbents: [{ namespace: 'ops', name: 'nightly' }] });
    const observation = observe(of, resolved('b1'), fleet(managed(FROM)));
    const held = evaluate(start(of), { ...observation, incumbents: [] }, NOW).state;
    expect(statusOf(held).waiting).toMatchObject({
      for: 'mode Enforce: 1 of 1 incumbents were not read, which counts as active',
      who: 'person',
      next: 'the plan is rolled as soon as that is lifted',
    });
  });

  test('Held: whoever can lift what holds the first target', () => {
    const blocked = evaluated({ blocklist: [TO_DIGEST] });
    expect(statusOf(blocked)).toMatchObject({
      phase: 'Held',
      waiting: {
        for: expect.stringMatching(/^web-1 \(Blocked\): v6-b1 /) as string,
        since: SINCE,
        who: 'upstream',
        next: 'it is looked at again when anything changes',
      },
    });
    expect(statusOf(evaluated({ minimumAge: '1h' })).waiting).toMatchObject({
      who: 'time',
      next: 'it is looked at again at 2026-03-02T13:00:00Z',
    });
  });

  test.each(['Aborted', 'Rejected'] as const)('Held (%s): the command that lifts it', (reason) => {
    const { state } = evaluate(start(spec()), observe(spec(), resolved('b1'), fleet(managed(FROM))), NOW);
    const memory = state.targets['web-1'];
    if (memory === undefined) throw new Error('web-1 was read');
    const stuck = {
      phase: 'Held',
      reason,
      message: 'by ana',
      image: TO,
      wanted: TO,
      rollbackTo: null,
      at: NOW,
    } as const;
    const stopped = { ...state, targets: { ...state.targets, 'web-1': { ...memory, stuck } } };
    const after = evaluate(stopped, observe(spec(), resolved('b1'), fleet(managed(FROM))), NOW).state;
    expect(statusOf(after).waiting).toMatchObject({
      for: `web-1 (${reason}): by ana`,
      who: 'person',
      next: 'holdfast retry release/hive; another image is rolled as soon as one is wanted',
    });
  });

  test('Held: a target that drifted and may not be brought back now', () => {
    const of = { windows: [{ from: '22:00', to: '23:00', timeZone: 'UTC' }] };
    const drifted = { ...fleet(managed(TO)), 'web-2': managed(TO, { image: FROM }) };
    expect(statusOf(evaluated(of, drifted))).toMatchObject({
      phase: 'Held',
      waiting: { for: expect.stringMatching(/^web-2 \(OutsideWindow\): /) as string, who: 'time' },
    });
    expect(statusOf(evaluated({ mode: 'Observe' }, drifted)).phase).toBe('Pending');
    const mixed = { ...drifted, 'web-3': managed(FROM, { replicas: 0 }) };
    expect(statusOf(evaluated({ mode: 'Observe' }, mixed)).phase).toBe('Held');
  });

  test.each([
    ['Blocked', 'upstream'],
    ['Architecture', 'upstream'],
    ['ArchitectureUnknown', 'outside'],
    ['MarksUnread', 'outside'],
    ['Cooldown', 'time'],
    ['MinimumAge', 'time'],
    ['OutsideWindow', 'time'],
    ['Frozen', 'time'],
    ['PreflightFailed', 'time'],
    ['Changed', 'time'],
    ['ImageChanged', 'time'],
    ['anything else', 'person'],
  ])('Held for %s: %s', (reason, who) => {
    const state = evaluated({ blocklist: [TO_DIGEST] });
    const known = [
      'Blocked',
      'Architecture',
      'ArchitectureUnknown',
      'MarksUnread',
      'Cooldown',
      'MinimumAge',
      'OutsideWindow',
      'Frozen',
      'PreflightFailed',
      'Changed',
      'ImageChanged',
    ];
    const reasons = reason === 'anything else' ? [reason, ...heldReasons.filter((r) => !known.includes(r))] : [reason];
    for (const each of reasons) {
      const targets = state.evaluation?.targets.map((t) => ({ ...t, reason: each })) ?? [];
      const evaluation = state.evaluation === null ? null : { ...state.evaluation, targets };
      expect(statusOf({ ...state, evaluation }).waiting?.who).toBe(who);
    }
  });

  test('Current: nothing', () => {
    expect(statusOf(evaluated({}, fleet(managed(TO))))).toMatchObject({ phase: 'Current', waiting: null });
  });
});

describe('since when something is waited for', () => {
  const waits = (state: ReleaseState, at: number, living: RolloutState | null = null) => noteWaiting(state, living, at);

  test('is when that began, however often it is looked at and whatever instant its message names', () => {
    const closed = { windows: [{ from: '22:00', to: '23:00', timeZone: 'UTC' }] };
    const first = waits(evaluated(closed), NOW);
    expect(waits(first, NOW + HOUR).waits).toEqual(first.waits);
    const day = 24 * HOUR;
    const next = evaluate(first, observe(spec(closed), resolved('b1'), fleet(managed(FROM))), NOW + day).state;
    expect(waits(next, NOW + day).waits?.since).toBe(NOW);
  });

  test('begins anew with what is waited for, although the release was not ready before either', () => {
    const asked = waits(evaluated({ approval: 'beforeFirst' }), NOW);
    const paused = { ...asked, paused: { by: 'ann', reason: '', at: NOW + HOUR } };
    const { state } = evaluate(paused, observe(asked.spec, resolved('b1'), fleet(managed(FROM))), NOW + HOUR);
    expect(waits(state, NOW + HOUR).waits?.since).toBe(NOW + HOUR);
  });

  test('is forgotten once nothing is waited for', () => {
    expect(waits(evaluated({}, fleet(managed(TO)), waits(evaluated(), NOW)), NOW).waits).toBeNull();
  });

  test('of a rollout that a mode or a pause freezes is for that, not for the approval behind it', () => {
    const step = rolling('web-1', { step: 'Approval' });
    const waiting = (overrides: Partial<RolloutState>) => statusOf(evaluated(), rollout([step], overrides)).waiting;
    expect(waiting({})?.for).toMatch(/^an approval/);
    expect(waiting({ mode: 'Shadow' })).toMatchObject({
      for: 'mode Enforce: rollout hive-1 is frozen where it is',
      next: 'holdfast set-mode release/hive Enforce; or holdfast abort release/hive --stop (or --roll-back)',
    });
    expect(waiting({ paused: true })?.for).toBe('resume of rollout hive-1');
  });
});

test('a mode that was narrowed since the last evaluation holds at once', () => {
  const state = evaluated();
  expect(statusOf({ ...state, spec: { ...state.spec, mode: 'Shadow' } }).effectiveMode).toBe('Shadow');
});

describe('a release in the Temporal UI', () => {
  test('is told in a few lines, the targets first that are not well', () => {
    const state = evaluated({ mode: 'Shadow' }, { ...fleet(managed(TO)), 'web-3': managed(FROM) });
    expect(statusText(statusOf(state))).toBe(
      [
        '**Pending** in Shadow',
        '',
        'Waits for mode Enforce, since 2026-03-02T12:00:00Z (person); next: holdfast set-mode release/hive Enforce',
        '',
        '- web-3: Pending Planned, v6-b1 is to be rolled',
        '- web-1: Current, runs v6-b1',
        '- web-2: Current, runs v6-b1',
      ].join('\n'),
    );
  });

  test('tells a rollout, a pin and why the mode is lower', () => {
    const pin = { by: 'ana', reason: '', at: NOW, image: 'v6.0.0' };
    const paused = { by: 'bob', reason: '', at: NOW };
    const state = { ...evaluated({ targets: [target('web-1')] }, fleet(managed(FROM)), { paused }), pin };
    const living = rollout([rolling('web-1', { step: 'Soaking' })]);
    expect(statusText(statusOf(state, living))).toBe(
      [
        '**RollingOut** in Shadow (paused by bob; holdfast resume release/hive)',
        '',
        `Rollout hive-1, plan \`${living.planHash}\``,
        '',
        'Waits for web-1: Soaking, since 2026-03-02T12:00:00Z (rollout); next: the rollout ends',
        '',
        'Pinned to v6.0.0 by ana',
        '',
        '- web-1: RollingOut/Soaking Soaking, v6-b1 passed its gate and soaks',
      ].join('\n'),
    );
    expect(statusText(releaseStatus(start(), null, NOW))).toContain('Waits for the first evaluation (outside)');
    expect(statusText(statusOf(evaluated({}, fleet(managed(TO)))))).toMatch(/^\*\*Current\*\* in Enforce\n\n- web-1/);
  });

  test('stays within what Temporal keeps', () => {
    const names = Array.from({ length: 400 }, (_, n) => `target-${n}`);
    const state = evaluated({ targets: names.map((name) => target(name)) }, {});
    const long = state.evaluation?.targets.map((t) => ({ ...t, message: 'x'.repeat(5_000) })) ?? [];
    const evaluation = state.evaluation === null ? null : { ...state.evaluation, targets: long };
    const text = statusText(statusOf({ ...state, evaluation }));
    expect(text.length).toBeLessThan(15_000);
    expect(text).toContain(
      `- target-29: Unknown NotObserved, ${'x'.repeat(299)}…\n- and 370 more, all told by holdfast status`,
    );
    const exactly = evaluated({ targets: names.slice(0, 30).map((name) => target(name)) }, {});
    expect(statusText(statusOf(exactly))).not.toContain('more, all told');
  });
});
