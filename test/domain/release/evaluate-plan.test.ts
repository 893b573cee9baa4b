import { describe, expect, test } from 'vitest';
import { conditionFaults } from '../../../src/domain/core/conditions.ts';
import { planHash } from '../../../src/domain/core/plan-hash.ts';
import { planOf } from '../../../src/domain/release/plan-terms.ts';
import { read } from '../../../src/domain/core/verdict.ts';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { unknownTarget } from '../../../src/domain/release/initial-state.ts';
import { awaitsApproval, mayStart } from '../../../src/domain/release/may-start.ts';
import type { ReleaseState, TargetMemory } from '../../../src/domain/release/state.ts';
import type { workload } from './world.ts';
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
  target,
  unread,
  viewOf,
  writer,
} from './world.ts';

const OLD = image('v6-latest', 'a0');
const NEW = image('v6-latest', 'b1');

function stuck(overrides: Partial<NonNullable<TargetMemory['stuck']>> = {}): NonNullable<TargetMemory['stuck']> {
  return {
    phase: 'Failed',
    reason: 'Unmeasured',
    message: 'NOT rolled back — unmeasured is not unhealthy',
    image: NEW,
    wanted: NEW,
    rollbackTo: OLD,
    at: NOW - HOUR,
    ...overrides,
  };
}

/** A state in which some targets are remembered, the others as rolled to OLD. */
function remembering(memories: Record<string, Partial<TargetMemory>>, state: ReleaseState = start()): ReleaseState {
  const targets = Object.fromEntries(
    ['web-1', 'web-2', 'web-3'].map((name) => [
      name,
      { ...unknownTarget, applied: OLD, appliedVersion: 'v6-a0', passed: OLD, ...memories[name] },
    ]),
  );
  return { ...state, targets };
}

function at(state: ReleaseState, now = NOW, found: Record<string, ReturnType<typeof workload>> = fleet(managed(OLD))) {
  return evaluate(state, observe(state.spec, resolved('b1'), found), now);
}

describe('the modes', () => {
  test('Shadow plans what Enforce would do, by the same hash', () => {
    const shadow = at(start(spec({ mode: 'Shadow' })));
    const enforce = at(start());
    expect(shadow.evaluation.plan).toEqual(enforce.evaluation.plan);
    expect(shadow.evaluation.planHash).toBe(enforce.evaluation.planHash);
    expect(enforce.evaluation.planHash).toBe(planHash(enforce.evaluation.plan));
    expect(shadow.evaluation).toMatchObject({ effectiveMode: 'Shadow', modeReason: null });
    expect(mayStart(shadow.state)).toBe(false);
    expect(mayStart(enforce.state)).toBe(true);
  });

  test('Observe reports phases and plans nothing', () => {
    const result = at(start(spec({ mode: 'Observe' })));
    expect(viewOf(result)).toMatchObject({ phase: 'Pending', desired: NEW });
    expect(result.evaluation).toMatchObject({ effectiveMode: 'Observe', plan: { items: [] } });
    expect(mayStart(result.state)).toBe(false);
  });

  test('an active incumbent holds Enforce down to Shadow', () => {
    const of = spec({ incumbents: [{ namespace: 'ops', name: 'nightly-roll' }] });
    const observation = observe(of, resolved('b1'), fleet(managed(OLD)));
    const incumbent = (state: (typeof observation.incumbents)[number]['state']) =>
      evaluate(start(of), { ...observation, incumbents: [{ name: 'CronJob ops/nightly-roll', state }] }, NOW);
    const active = incumbent(read('active'));
    expect(active.evaluation).toMatchObject({
      effectiveMode: 'Shadow',
      modeReason: 'incumbent CronJob ops/nightly-roll is active; suspend or delete it',
    });
    expect(planned(active)).toHaveLength(3);
    expect(mayStart(active.state)).toBe(false);
    expect(active.state.conditions).toContainEqual(
      expect.objectContaining({
        type: 'IncumbentActive',
        status: 'True',
        reason: 'Active',
        message: 'incumbent CronJob ops/nightly-roll is active; suspend or delete it',
      }),
    );
    const denied = incumbent(unread('denied', 'CronJob ops/nightly-roll'));
    expect(denied.evaluation).toMatchObject({
      effectiveMode: 'Shadow',
      modeReason:
        'incumbent CronJob ops/nightly-roll may not be read, which counts as active; grant get on it: CronJob ops/nightly-roll could not be read: denied',
    });
    for (const state of ['suspended', 'absent'] as const) {
      const over = incumbent(read(state));
      expect(over.evaluation).toMatchObject({ effectiveMode: 'Enforce', modeReason: null });
      expect(over.state.conditions).toContainEqual(
        expect.objectContaining({ type: 'IncumbentActive', status: 'False', reason: 'NoneActive', message: '' }),
      );
    }
    expect(evaluate(start(of), { ...observation, incumbents: [] }, NOW).evaluation).toMatchObject({
      effectiveMode: 'Shadow',
      modeReason: '1 of 1 incumbents were not read, which counts as active',
    });
  });

  test('a lower mode of the spec is not raised, and needs no reason', () => {
    const of = spec({ mode: 'Observe', incumbents: [{ namespace: 'ops', name: 'nightly-roll' }] });
    const observation = observe(of, resolved('b1'), fleet(managed(OLD)));
    const result = evaluate(
      start(of),
      { ...observation, incumbents: [{ name: 'CronJob ops/nightly-roll', state: read('active' as const) }] },
      NOW,
    );
    expect(result.evaluation).toMatchObject({ effectiveMode: 'Observe', modeReason: null });
  });

  test('several reasons are all told', () => {
    const of = spec({
      incumbents: [
        { namespace: 'ops', name: 'a' },
        { namespace: 'ops', name: 'b' },
      ],
    });
    const observation = observe(of, resolved('b1'), fleet(managed(OLD)));
    const incumbents = ['a', 'b'].map((name) => ({ name: `CronJob ops/${name}`, state: read('active' as const) }));
    const result = evaluate(
      start(of, { paused: { by: 'ana', reason: '', at: NOW } }),
      { ...observation, incumbents },
      NOW,
    );
    const both =
      'incumbent CronJob ops/a is active; suspend or delete it; incumbent CronJob ops/b is active; suspend or delete it';
    expect(result.evaluation.modeReason).toBe(`paused by ana; holdfast resume release/hive; ${both}`);
    expect(result.state.conditions).toContainEqual(
      expect.objectContaining({ type: 'IncumbentActive', status: 'True', message: both }),
    );
  });

  test('a pause holds Enforce down to Shadow, and says who paused', () => {
    const paused = at(start(spec(), { paused: { by: 'ana', reason: 'on call', at: NOW } }));
    expect(paused.evaluation).toMatchObject({
      effectiveMode: 'Shadow',
      modeReason: 'paused by ana: on call; holdfast resume release/hive',
    });
    expect(at(start(spec(), { paused: { by: 'ana', reason: '', at: NOW } })).evaluation.modeReason).toBe(
      'paused by ana; holdfast resume release/hive',
    );
    expect(mayStart({ ...at(start()).state, paused: { by: 'ana', reason: '', at: NOW } })).toBe(false);
  });

  test('suspend stops all evaluation: what was seen last stays, and nothing is planned', () => {
    const before = at(start());
    const suspended = evaluate(
      { ...before.state, spec: { ...before.state.spec, suspend: true } },
      observe(spec(), resolved('c1'), fleet(managed(NEW))),
      NOW,
    );
    expect(suspended.evaluation).toEqual({
      at: NOW,
      effectiveMode: 'Observe',
      modeReason: 'suspended: spec.suspend is true, so nothing is evaluated',
      registryReachable: true,
      targets: before.evaluation.targets,
      plan: planOf('hive', spec(), []),
      planHash: planHash(planOf('hive', spec(), [])),
      changesAt: null,
    });
    expect(suspended.events).toEqual([]);
    expect(suspended.state.conditions).toContainEqual(
      expect.objectContaining({
        type: 'Ready',
        status: 'False',
        reason: 'Suspended',
        message: 'suspended: spec.suspend is true, so nothing is evaluated',
      }),
    );
    expect(conditionFaults(suspended.state.conditions, 1)).toEqual([]);
    expect(mayStart({ ...before.state, spec: suspended.state.spec })).toBe(false);
    const never = evaluate(start(spec({ suspend: true })), observe(spec(), resolved('b1'), {}), NOW);
    expect(never.evaluation).toMatchObject({ registryReachable: true, targets: [] });
    expect(mayStart(start())).toBe(false);
  });
});

describe('an approval before the first target', () => {
  const of = spec({ approval: 'beforeFirst' });
  const asked = at(start(of));
  const approval = { planHash: asked.evaluation.planHash, approved: true, by: 'ana', reason: '', at: NOW };

  test('is waited for by the plan, and is for that plan alone', () => {
    expect(planned(asked)).toHaveLength(3);
    expect([mayStart(asked.state), awaitsApproval(asked.state)]).toEqual([false, true]);
    const approved = { ...asked.state, approval };
    expect([mayStart(approved), awaitsApproval(approved)]).toEqual([true, false]);
    const rejected = { ...asked.state, approval: { ...approval, approved: false } };
    expect([mayStart(rejected), awaitsApproval(rejected)]).toEqual([false, true]);
    const other = evaluate(approved, observe(of, resolved('c1'), fleet(managed(OLD))), NOW).state;
    expect([mayStart(other), awaitsApproval(other)]).toEqual([false, true]);
  });

  test('is not asked where nothing is written', () => {
    const unproven = managed(NEW, { marks: { ...managed(NEW).marks, passed: OLD } });
    const { state } = at(start(of), NOW, fleet(unproven));
    expect([mayStart(state), awaitsApproval(state)]).toEqual([true, false]);
    const mixed = at(start(of), NOW, { ...fleet(unproven), 'web-3': managed(OLD) }).state;
    expect([mayStart(mixed), awaitsApproval(mixed)]).toEqual([false, true]);
  });

  test.each(['none', 'afterCanary', 'beforeEach'] as const)('is not asked by %s', (kind) => {
    const { state } = at(start(spec({ approval: kind })));
    expect([mayStart(state), awaitsApproval(state)]).toEqual([true, false]);
  });

  test('is not asked where nothing would start', () => {
    expect(awaitsApproval(start(of))).toBe(false);
    expect(awaitsApproval(at(start(spec({ approval: 'beforeFirst', mode: 'Shadow' }))).state)).toBe(false);
    expect(awaitsApproval(at(start(of), NOW, fleet(managed(NEW))).state)).toBe(false);
    expect(awaitsApproval({ ...asked.state, spec: { ...of, suspend: true } })).toBe(false);
  });
});

describe('the hash of a plan', () => {
  const hashOf = (overrides: Parameters<typeof spec>[0], of = at(start()).evaluation.plan.items) =>
    planHash(planOf('hive', spec(overrides), of));
  const moved = (change: Record<string, unknown>) => [
    { ...target('web-1'), ...change },
    target('web-2'),
    target('web-3'),
  ];

  test.each([
    ['another workload under the same name', { targets: moved({ name: 'web-1', deployment: 'web-9' }) }],
    ['another container', { targets: moved({ container: 'side' }) }],
    ['another cluster', { cluster: 'other' }],
    ['no health check', { targets: moved({ health: 'none' }) }],
    ['a shorter soak', { soak: '1s' }],
    ['larger waves', { waves: ['100%'] }],
  ])('covers how it is carried out: %s is another plan', (_, overrides) => {
    expect(hashOf(overrides)).not.toBe(hashOf({}));
  });

  test.each([
    ['the mode', { mode: 'Shadow' as const }],
    ['how often it looks', { pollInterval: '5m' }],
    ['a window', { windows: [{ from: '00:00', to: '24:00', timeZone: 'UTC' }] }],
    ['who may approve', { approval: 'beforeFirst' as const }],
    ['a target that is not in it', { targets: [target('web-1'), target('web-2'), target('web-3'), target('web-4')] }],
  ])('leaves out when it may be carried out: %s', (_, overrides) => {
    expect(hashOf(overrides)).toBe(hashOf({}));
  });
});

describe('windows and freezes', () => {
  test('hold the whole plan until a window opens', () => {
    const of = spec({ windows: [{ from: '22:00', to: '23:00', timeZone: 'UTC' }] });
    const result = at(start(of));
    expect(viewOf(result)).toMatchObject({
      phase: 'Held',
      reason: 'OutsideWindow',
      message: 'outside its windows; the next one opens at 2026-03-02T22:00:00Z',
    });
    expect(planned(result)).toEqual([]);
    expect(result.evaluation.changesAt).toBe(NOW + 10 * HOUR);
    const open = at(result.state, NOW + 10 * HOUR);
    expect(planned(open)).toHaveLength(3);
    // The plan is for this window: it is looked at again when that closes.
    expect(open.evaluation.changesAt).toBe(NOW + 11 * HOUR);
  });

  test('hold the whole plan while frozen, with the reason', () => {
    const freeze = [{ from: '2026-03-02T00:00:00Z', until: '2026-03-05T00:00:00Z', reason: 'audit' }];
    const result = at(start(spec({ freeze })));
    expect(viewOf(result)).toMatchObject({
      phase: 'Held',
      reason: 'Frozen',
      message: 'frozen until 2026-03-05T00:00:00Z: audit',
    });
    expect(result.evaluation.changesAt).toBe(Date.parse('2026-03-05T00:00:00Z'));
  });

  test('hold the whole plan where the worker freezes all releases, and are handed on to its rollouts', () => {
    const freezes = [{ from: '2026-03-02T00:00:00Z', until: '2026-03-05T00:00:00Z', reason: 'audit' }];
    const of = spec();
    const observation = observe(of, resolved('b1'), fleet(managed(OLD)), { freezes });
    const result = evaluate(start(of), observation, NOW);
    expect(viewOf(result)).toMatchObject({ phase: 'Held', reason: 'Frozen' });
    expect(planned(result)).toEqual([]);
    expect(result.evaluation.changesAt).toBe(Date.parse('2026-03-05T00:00:00Z'));
    expect(result.state.freezes).toEqual(freezes);
    // A worker without it lifts it.
    expect(planned(at(result.state))).toHaveLength(3);
  });

  test('leave a drifted target Drifted, and say when it is brought back', () => {
    const of = spec({ windows: [{ from: '22:00', to: '23:00', timeZone: 'UTC' }] });
    const drifted = managed(NEW, { image: OLD, imageWriter: writer('kubectl-set') });
    const result = at(start(of), NOW, fleet(drifted));
    expect(viewOf(result)).toMatchObject({
      phase: 'Drifted',
      reason: 'OutsideWindow',
      message: `kubectl-set wrote ${OLD}; this release applied ${NEW}; outside its windows; the next one opens at 2026-03-02T22:00:00Z`,
    });
    expect(planned(result)).toEqual([]);
  });

  test('the first of several instants is when it is looked at again', () => {
    const notBefore = (minutes: number) => ({ notBefore: NOW + minutes * MINUTE });
    const two = (first: number, second: number) => {
      const state = remembering({ 'web-1': { stuck: null }, 'web-2': notBefore(first), 'web-3': notBefore(second) });
      const edge = spec({
        targets: [target('web-1'), target('web-2'), target('web-3', { track: { tag: 'v6-edge' } })],
      });
      const observation = observe(edge, resolved('b1'), fleet(managed(OLD)));
      const lines = { ...observation.lines, [`${edge.image}:v6-edge`]: read(resolved('e1', { tag: 'v6-edge' })) };
      return evaluate({ ...state, spec: edge }, { ...observation, lines }, NOW).evaluation.changesAt;
    };
    expect(two(5, 3)).toBe(NOW + 3 * MINUTE);
    expect(two(3, 5)).toBe(NOW + 3 * MINUTE);
    // A window that closes before that comes first, where there is something to do.
    const of = spec({ windows: [{ from: '11:00', to: '12:02', timeZone: 'UTC' }] });
    const open = at(remembering({ 'web-2': notBefore(5) }, start(of)));
    expect(planned(open)).toEqual(['web-1']);
    expect(open.evaluation.changesAt).toBe(NOW + 2 * MINUTE);
  });

  test('a drifted target that goes back to what was applied waits for the first of both', () => {
    const of = spec({ minimumAge: '1h', windows: [{ from: '22:00', to: '23:00', timeZone: 'UTC' }] });
    const drifted = managed(OLD, { image: image('v5-latest', '55'), imageWriter: writer('kubectl-set') });
    const result = at(start(of), NOW, fleet(drifted));
    expect(planned(result)).toEqual([]);
    expect(viewOf(result)).toMatchObject({ phase: 'Drifted', reason: 'OutsideWindow' });
    expect(result.evaluation.changesAt).toBe(NOW + HOUR);
    const late = spec({ minimumAge: '20h', windows: [{ from: '22:00', to: '23:00', timeZone: 'UTC' }] });
    expect(at(start(late), NOW, fleet(drifted)).evaluation.changesAt).toBe(NOW + 10 * HOUR);
  });

  test('that close while there is nothing to do are nothing to wait for', () => {
    const of = spec({ windows: [{ from: '10:00', to: '14:00', timeZone: 'UTC' }] });
    expect(at(start(of), NOW, fleet(managed(NEW))).evaluation.changesAt).toBeNull();
    expect(at(start(of)).evaluation.changesAt).toBe(NOW + 2 * HOUR);
  });

  test('change nothing where there is nothing to do', () => {
    const of = spec({ windows: [{ from: '22:00', to: '23:00', timeZone: 'UTC' }] });
    const result = at(start(of), NOW, fleet(managed(NEW)));
    expect(viewOf(result).phase).toBe('Current');
    expect(result.evaluation.changesAt).toBeNull();
  });

  test('always open, never change the answer', () => {
    expect(at(start()).evaluation.changesAt).toBeNull();
  });
});

describe('a failed preflight', () => {
  test('holds its target and what comes after it until the next attempt', () => {
    const notBegun = { reason: 'AccessDenied', message: 'no right to patch' };
    const state = remembering({ 'web-2': { notBefore: NOW + MINUTE, notBegun } });
    const result = at(state);
    expect(planned(result)).toEqual(['web-1']);
    expect(viewOf(result, 'web-2')).toMatchObject({
      phase: 'Held',
      reason: 'AccessDenied',
      message: 'no right to patch; the next attempt is at 2026-03-02T12:01:00Z',
    });
    expect(viewOf(result, 'web-3')).toMatchObject({
      phase: 'Held',
      reason: 'AccessDenied',
      message: 'waits for web-2: no right to patch; the next attempt is at 2026-03-02T12:01:00Z',
    });
    expect(result.evaluation.changesAt).toBe(NOW + MINUTE);
    expect(planned(at(result.state, NOW + MINUTE - 1))).toEqual(['web-1']);
    expect(planned(at(result.state, NOW + MINUTE))).toEqual(['web-1', 'web-2', 'web-3']);
  });

  test.each([
    [null, 'it could not begin; the next attempt'],
    [{ reason: 'SomethingNew', message: 'what it said' }, 'what it said; the next attempt'],
  ])('is called that where its reason is no stable word: %j', (notBegun, message) => {
    const result = at(remembering({ 'web-1': { notBefore: NOW + MINUTE, notBegun } }));
    expect(viewOf(result)).toMatchObject({
      phase: 'Held',
      reason: 'PreflightFailed',
      message: expect.stringContaining(message) as string,
    });
  });

  test('holds nothing that is about another image', () => {
    const of = spec({ targets: [target('web-1'), target('web-2', { track: { tag: 'v6-edge' } })] });
    const observation = observe(of, resolved('b1'), { 'web-1': managed(OLD), 'web-2': managed(OLD) });
    const edge = read(resolved('e1', { tag: 'v6-edge' }));
    const lines = { ...observation.lines, [`${of.image}:v6-edge`]: edge };
    const state = start(of, {
      targets: { 'web-1': { ...unknownTarget, applied: OLD, passed: OLD, notBefore: NOW + 1 } },
    });
    expect(planned(evaluate(state, { ...observation, lines }, NOW))).toEqual(['web-2']);
  });
});

describe('a target that failed', () => {
  test('stays as it ended while the same is wanted, and no target is started', () => {
    const failed = remembering({ 'web-1': { applied: NEW, stuck: stuck() } });
    const found = { ...fleet(managed(OLD)), 'web-1': managed(NEW) };
    const result = at(failed, NOW, found);
    expect(viewOf(result)).toMatchObject({
      phase: 'Failed',
      reason: 'Unmeasured',
      message: 'NOT rolled back — unmeasured is not unhealthy',
      rollbackTo: OLD,
      applied: NEW,
    });
    expect(viewOf(result, 'web-2')).toMatchObject({
      phase: 'Held',
      reason: 'StoppedByFailure',
      message: `${NEW} ended as Failed on web-1: NOT rolled back — unmeasured is not unhealthy; no target is started until holdfast retry release/hive, or until another image is wanted`,
    });
    expect(planned(result)).toEqual([]);
    expect(result.state.targets['web-1']?.stuck).toEqual(stuck());
  });

  test('is over when something else is wanted', () => {
    const failed = remembering({ 'web-1': { applied: NEW, stuck: stuck() } });
    const found = { ...fleet(managed(OLD)), 'web-1': managed(NEW) };
    const result = evaluate(failed, observe(failed.spec, resolved('c1'), found), NOW);
    expect(result.state.targets['web-1']?.stuck).toBeNull();
    expect(planned(result)).toEqual(['web-1', 'web-2', 'web-3']);
  });

  test('lasts while the registry is down', () => {
    const failed = remembering({ 'web-1': { applied: NEW, stuck: stuck() } });
    const found = { ...fleet(managed(OLD)), 'web-1': managed(NEW) };
    const before = at(failed, NOW, found);
    const result = evaluate(before.state, observe(failed.spec, unread(), found), NOW);
    expect(viewOf(result).phase).toBe('Failed');
    expect(result.state.targets['web-1']?.stuck).toEqual(stuck());
  });

  test('keeps its own image from being brought back by the drift rule', () => {
    // A person cured the target by hand; it is not given the image again on which it failed.
    const failed = remembering({ 'web-1': { applied: NEW, stuck: stuck() } });
    const cured = managed(NEW, { image: OLD, imageWriter: writer('kubectl-set') });
    const result = at(failed, NOW, { ...fleet(managed(OLD)), 'web-1': cured });
    expect(viewOf(result)).toMatchObject({ phase: 'Drifted', reason: 'StoppedByFailure' });
    expect(viewOf(result).message).toContain(`${NEW} ended as Failed here: `);
    expect(planned(result)).toEqual([]);
  });

  test('holds an image that is to be verified elsewhere', () => {
    const unproven = managed(NEW, { marks: { ...managed(NEW).marks, passed: OLD } });
    const state = start(spec(), {
      targets: { 'web-2': { ...unknownTarget, applied: NEW, stuck: stuck() } },
    });
    const result = at(state, NOW, { ...fleet(managed(NEW)), 'web-1': unproven });
    expect(viewOf(result, 'web-1')).toMatchObject({ phase: 'Held', reason: 'StoppedByFailure' });
  });

  test.each([
    ['Rejected', 'Rejected'],
    ['Aborted', 'Aborted'],
  ])('by a person (%s) holds the others with that reason', (reason, expected) => {
    const state = remembering({
      'web-2': { stuck: stuck({ phase: 'Held', reason, message: 'by ana' }) },
    });
    const result = at(state);
    expect(viewOf(result, 'web-2')).toMatchObject({ phase: 'Held', reason, message: 'by ana' });
    expect(viewOf(result, 'web-1')).toMatchObject({
      phase: 'Held',
      reason: expected,
      message: 'by ana (on web-2); holdfast retry release/hive tries it again',
    });
    expect(planned(result)).toEqual([]);
  });
});

describe('a target that was rolled back', () => {
  const rolledBack = stuck({ phase: 'RolledBack', reason: 'CrashLoopBackOff', message: 'crash loop' });
  const block = {
    image: resolved('b1').digest,
    by: 'holdfast',
    reason: 'CrashLoopBackOff',
    at: NOW,
    cooldownUntil: NOW + HOUR,
    cooldownOnly: false,
  };

  test('stays RolledBack while its image is blocked, however long', () => {
    const state = remembering({ 'web-1': { stuck: rolledBack } }, start(spec(), { blocked: [block] }));
    const result = at(state, NOW + 100 * HOUR);
    expect(viewOf(result)).toMatchObject({ phase: 'RolledBack', reason: 'CrashLoopBackOff', rollbackTo: OLD });
    expect(viewOf(result, 'web-2')).toMatchObject({ phase: 'Held', reason: 'Blocked' });
    expect(result.evaluation.changesAt).toBeNull();
  });

  test('is tried again when its cooldown is over, where nothing is blocked', () => {
    const state = remembering(
      { 'web-1': { stuck: rolledBack } },
      start(spec(), { blocked: [{ ...block, cooldownOnly: true }] }),
    );
    const during = at(state, NOW + HOUR - 1);
    expect(viewOf(during).phase).toBe('RolledBack');
    expect(viewOf(during, 'web-2').reason).toBe('Cooldown');
    expect(during.evaluation.changesAt).toBe(NOW + HOUR);
    expect(planned(at(during.state, NOW + HOUR))).toEqual(['web-1', 'web-2', 'web-3']);
  });

  test('tells by itself when its cooldown is over', () => {
    const one = spec({ targets: [target('web-1')] });
    const entry = { ...block, cooldownOnly: true };
    const waiting = (blocked: ReleaseState['blocked']) =>
      at(start(one, { blocked, targets: { 'web-1': { ...unknownTarget, applied: OLD, stuck: rolledBack } } }), NOW, {
        'web-1': managed(OLD),
      });
    expect(waiting([{ ...entry, image: 'v1' }, entry]).evaluation.changesAt).toBe(NOW + HOUR);
    expect(viewOf(waiting([block])).phase).toBe('RolledBack');
    expect(waiting([block]).evaluation.changesAt).toBeNull();
    // Under a pin the image is not held by its block, but by what became of it.
    const pinned = { ...one, pin: 'v6-latest' };
    const state = start(pinned, {
      blocked: [entry],
      targets: { 'web-1': { ...unknownTarget, applied: OLD, stuck: rolledBack } },
    });
    expect(viewOf(at(state, NOW, { 'web-1': managed(OLD) })).phase).toBe('RolledBack');
  });

  test('on the word of a person waits for a person', () => {
    const aborted = { ...rolledBack, reason: 'Aborted' };
    const result = at(remembering({ 'web-1': { stuck: aborted } }), NOW + 100 * HOUR);
    expect(viewOf(result).phase).toBe('RolledBack');
    expect(planned(result)).toEqual([]);
  });

  test('is known to be so after a terminate, from the object', () => {
    const found = managed(OLD, {
      marks: {
        ...managed(OLD).marks,
        rolledBackFrom: NEW,
        rolledBackAt: '2026-03-02T11:00:00Z',
        blocked: [{ image: resolved('b1').digest, at: '2026-03-02T11:00:00Z', reason: 'CrashLoopBackOff' }],
      },
    });
    const result = at(start(), NOW, { ...fleet(managed(OLD)), 'web-1': found });
    expect(viewOf(result)).toMatchObject({
      phase: 'RolledBack',
      reason: 'RolledBack',
      message: `rolled back from ${NEW} at 2026-03-02T11:00:00Z`,
      rollbackTo: OLD,
    });
    expect(result.state.targets['web-1']?.stuck).toMatchObject({
      image: NEW,
      wanted: NEW,
      at: Date.parse('2026-03-02T11:00:00Z'),
    });
    const undated = managed(OLD, { marks: { ...found.marks, rolledBackAt: null } });
    const second = at(start(), NOW, { ...fleet(managed(OLD)), 'web-1': undated });
    expect(second.state.targets['web-1']?.stuck).toMatchObject({ message: `rolled back from ${NEW}`, at: 0 });
    // What is remembered is not overwritten by it.
    const remembered = at(remembering({ 'web-1': { applied: null } }), NOW, { ...fleet(managed(OLD)), 'web-1': found });
    expect(remembered.state.targets['web-1']).toMatchObject({ applied: OLD, stuck: null });
  });
});

describe('a rejected plan', () => {
  const asked = at(start());
  const rejected = {
    planHash: asked.evaluation.planHash,
    approved: false,
    by: 'ana',
    reason: 'not today',
    at: NOW,
  };
  const takesBack = `holdfast retry release/hive takes that back, and so does holdfast approve release/hive --plan ${rejected.planHash}`;

  test('is held, and comes to the same again', () => {
    const result = at({ ...asked.state, approval: rejected });
    expect(planned(result)).toEqual([]);
    expect(viewOf(result)).toMatchObject({
      phase: 'Held',
      reason: 'Rejected',
      message: `ana rejected this plan: not today; ${takesBack}`,
    });
    expect(planned(at(result.state))).toEqual([]);
    expect(viewOf(at({ ...asked.state, approval: { ...rejected, reason: '' } })).message).toBe(
      `ana rejected this plan; ${takesBack}`,
    );
  });

  test('does not hold another plan, nor one that was approved', () => {
    const state = { ...asked.state, approval: rejected };
    const other = evaluate(state, observe(spec(), resolved('c1'), fleet(managed(OLD))), NOW);
    expect(planned(other)).toHaveLength(3);
    expect(planned(at({ ...asked.state, approval: { ...rejected, approved: true } }))).toHaveLength(3);
  });
});

describe('the conditions of a release', () => {
  function conditionOf(result: ReturnType<typeof evaluate>, type: string) {
    return result.state.conditions.find((c) => c.type === type);
  }

  test('say Ready where every target runs what is wanted', () => {
    const result = at(start(), NOW + HOUR, fleet(managed(NEW)));
    expect(conditionFaults(result.state.conditions, 1)).toEqual([]);
    expect(result.state.conditions.map((c) => [c.type, c.status, c.reason, c.message])).toEqual([
      ['Ready', 'True', 'Current', '3 targets run what is wanted'],
      ['Reconciling', 'False', 'Idle', ''],
      ['Stalled', 'False', 'NotStalled', ''],
      ['RegistryReachable', 'True', 'Resolved', ''],
      ['Degraded', 'False', 'AsExpected', ''],
      ['IncumbentActive', 'False', 'NoneActive', ''],
    ]);
    expect(conditionOf(result, 'Ready')).toMatchObject({
      lastTransitionTime: '2026-03-02T13:00:00.000Z',
      observedGeneration: 1,
    });
  });

  test('say Reconciling only where Enforce goes on', () => {
    const enforce = at(start());
    expect(conditionFaults(enforce.state.conditions, 1)).toEqual([]);
    expect(conditionOf(enforce, 'Reconciling')).toMatchObject({
      status: 'True',
      reason: 'Progressing',
      message: '3 targets to v6-b1',
    });
    expect(conditionOf(enforce, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'Pending',
      message: 'web-1 is Pending: v6-b1 is to be rolled',
    });
    expect(conditionOf(at(start(spec({ mode: 'Shadow' }))), 'Reconciling')).toMatchObject({ status: 'False' });
  });

  test.each([
    ['Failed', 'ROLLBACK DID NOT RECOVER'],
    ['RolledBack', 'crash loop'],
  ] as const)('say Degraded and Stalled for a target that is %s', (phase, message) => {
    const memory = { 'web-2': { stuck: stuck({ phase, reason: '', message }) } };
    const blocked = [
      { image: resolved('b1').digest, by: 'x', reason: '', at: NOW, cooldownUntil: 0, cooldownOnly: false },
    ];
    const result = at(remembering(memory, start(spec(), { blocked })));
    expect(conditionFaults(result.state.conditions, 1)).toEqual([]);
    expect(conditionOf(result, 'Degraded')).toMatchObject({
      status: 'True',
      reason: phase,
      message: `web-2 is ${phase}: ${message}`,
    });
    expect(conditionOf(result, 'Stalled')).toMatchObject({
      status: 'True',
      reason: phase,
      message: `web-2 is ${phase}: ${message}`,
    });
    expect(conditionOf(result, 'Ready')).toMatchObject({ status: 'False', reason: 'Degraded' });
  });

  test('do not say Stalled while other targets go on', () => {
    const of = spec({ targets: [target('web-1'), target('web-2', { track: { tag: 'v6-edge' } })] });
    const observation = observe(of, resolved('b1'), { 'web-1': managed(NEW), 'web-2': managed(OLD) });
    const lines = { ...observation.lines, [`${of.image}:v6-edge`]: read(resolved('e1', { tag: 'v6-edge' })) };
    const state = start(of, {
      targets: { 'web-1': { ...unknownTarget, applied: NEW, stuck: stuck() } },
    });
    const result = evaluate(state, { ...observation, lines }, NOW);
    expect(planned(result)).toEqual(['web-2']);
    expect(conditionFaults(result.state.conditions, 1)).toEqual([]);
    expect(conditionOf(result, 'Stalled')).toMatchObject({ status: 'False' });
    expect(conditionOf(result, 'Degraded')).toMatchObject({ status: 'True', reason: 'Unmeasured' });
  });

  test('say Stalled for a second writer', () => {
    const found = managed(NEW, { image: OLD, imageWriter: writer('argocd') });
    const state = remembering({
      'web-1': { applied: NEW, passed: NEW, drifts: { writer: 'argocd', count: 3, lastImage: OLD } },
    });
    const result = at(state, NOW, { ...fleet(managed(NEW)), 'web-1': found });
    expect(conditionOf(result, 'Stalled')).toMatchObject({ status: 'True', reason: 'SecondWriter' });
    expect(conditionOf(at(start(spec({ blocklist: ['v6-b1'] }))), 'Stalled')).toMatchObject({ status: 'False' });
  });

  test('say Unknown where something could not be read', () => {
    const result = at(start(), NOW, { 'web-1': managed(NEW), 'web-2': managed(NEW) });
    expect(conditionOf(result, 'Ready')).toMatchObject({
      status: 'Unknown',
      reason: 'Unknown',
      message: 'web-3 is Unknown: the target was not read',
    });
    const current = at(start(), NOW, fleet(managed(NEW)));
    const down = evaluate(current.state, observe(spec(), unread(), fleet(managed(NEW))), NOW);
    expect(down.evaluation.targets.map((t) => t.phase)).toEqual(['Current', 'Current', 'Current']);
    expect(conditionFaults(down.state.conditions, 1)).toEqual([]);
    expect(conditionOf(down, 'Ready')).toMatchObject({ status: 'Unknown' });
    expect(conditionOf(down, 'RegistryReachable')).toMatchObject({
      status: 'False',
      reason: 'Unreachable',
      message: expect.stringMatching(/^web-1 is Current: /) as string,
    });
    expect(conditionOf(down, 'Ready')?.message).toMatch(/^web-1 is Current: .* could not be read/);
    const mixed = spec({ targets: [target('web-1', { track: { tag: 'v6-edge' } }), target('web-2')] });
    const observation = observe(mixed, unread('timeout', 'registry'), fleet(managed(NEW)));
    const lines = { ...observation.lines, [`${mixed.image}:v6-edge`]: read(resolved('b1', { tag: 'v6-edge' })) };
    const known = evaluate(start(mixed), observe(mixed, resolved('b1'), fleet(managed(NEW))), NOW).state;
    const half = evaluate(known, { ...observation, lines }, NOW);
    expect(conditionOf(half, 'RegistryReachable')?.message).toMatch(/^web-2 is Current: /);
    expect(conditionOf(half, 'Ready')?.message).toMatch(/^web-2 is Current: /);
  });
});

describe('the events of an evaluation', () => {
  test('tell of a target that drifted, in Enforce alone: an event is a write', () => {
    const before = at(start(), NOW, fleet(managed(NEW)));
    expect(before.events).toEqual([]);
    const drifted = {
      ...fleet(managed(NEW)),
      'web-2': managed(NEW, { image: OLD, imageWriter: writer('kubectl-set') }),
    };
    const after = at(before.state, NOW + 5, drifted);
    expect(after.events).toEqual([
      {
        target: {
          name: 'web-2',
          cluster: 'default',
          namespace: 'shop',
          kind: 'Deployment',
          workload: 'web-2',
          container: 'app',
        },
        type: 'Warning',
        reason: 'Drifted',
        message: `kubectl-set wrote ${OLD}; this release applied ${NEW}`,
        key: `hive/web-2/Drifted/${NOW + 5}`,
      },
    ]);
    expect(at(after.state, NOW + 6, drifted).events).toEqual([]);
    const shadow = { ...before.state, spec: { ...before.state.spec, mode: 'Shadow' as const } };
    expect(at(shadow, NOW, drifted).events).toEqual([]);
  });

  test('tell of a target that is held or can no longer be read, and of each new reason', () => {
    const before = at(start(), NOW, fleet(managed(NEW)));
    const held = evaluate(
      before.state,
      observe(spec(), resolved('c1'), { 'web-1': managed(NEW, { replicas: 0 }), 'web-2': managed(NEW) }),
      NOW,
    );
    expect(held.events.map((e) => [e.target.name, e.type, e.reason])).toEqual([
      ['web-1', 'Normal', 'HeldZeroReplicas'],
      ['web-3', 'Warning', 'Unknown'],
    ]);
    const other = evaluate(
      held.state,
      observe(spec(), resolved('c1'), { 'web-1': managed(NEW, { paused: true }), 'web-2': managed(NEW) }),
      NOW,
    );
    expect(other.events.map((e) => [e.target.name, e.reason])).toEqual([['web-1', 'HeldWorkloadPaused']]);
  });

  test('are none at first sight, also of a target that the spec has just gained', () => {
    expect(at(start(), NOW, { 'web-1': managed(OLD, { replicas: 0 }) }).events).toEqual([]);
    const one = spec({ targets: [target('web-1')] });
    const first = at(start(one), NOW, fleet(managed(NEW)));
    const second = at({ ...first.state, spec: spec() }, NOW, { 'web-1': managed(NEW) });
    expect(second.evaluation.targets.map((t) => t.phase)).toEqual(['Current', 'Unknown', 'Unknown']);
    expect(second.events).toEqual([]);
  });
});

describe('an evaluation', () => {
  test('forgets the targets that the spec no longer has', () => {
    const before = at(start());
    const one = spec({ targets: [target('web-1')] });
    const after = at({ ...before.state, spec: one });
    expect(Object.keys(after.state.targets)).toEqual(['web-1']);
  });
});
