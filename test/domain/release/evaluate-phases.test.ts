import { describe, expect, test } from 'vitest';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { linesOf } from '../../../src/domain/release/line.ts';
import type { WorkloadSnapshot } from '../../../src/domain/release/observation.ts';
import { releaseStatus } from '../../../src/domain/release/status.ts';
import {
  fleet,
  image,
  managed,
  marks,
  NOW,
  observe,
  planned,
  REPOSITORY,
  digest,
  resolved,
  seen,
  spec,
  start,
  target,
  tagged,
  unread,
  viewOf,
  workload,
  writer,
} from './world.ts';

const OLD = image('v6-latest', 'a0');
const NEW = image('v6-latest', 'b1');

/** A release of one target, on a line that resolves to `b1`. */
function one(found: WorkloadSnapshot, overrides: Parameters<typeof spec>[0] = {}, line = resolved('b1')) {
  const of = spec({ targets: [target('web-1')], ...overrides });
  return evaluate(start(of), observe(of, line, { 'web-1': found }), NOW);
}

describe('a target that runs what is wanted', () => {
  test('is Current, and nothing is planned', () => {
    const of = spec();
    const result = evaluate(start(of), observe(of, resolved('b1'), fleet(workload(NEW))), NOW);
    expect(result.evaluation.targets.map((t) => t.phase)).toEqual(['Current', 'Current', 'Current']);
    expect(planned(result)).toEqual([]);
    expect(viewOf(result)).toEqual({
      name: 'web-1',
      cluster: 'default',
      workload: 'Deployment shop/web-1',
      phase: 'Current',
      step: null,
      reason: '',
      message: 'runs v6-b1',
      current: NEW,
      desired: NEW,
      desiredLabel: 'v6-b1',
      applied: null,
      rollbackTo: null,
    });
  });

  test('is Current where the same digest has another tag: nothing is restarted for a name', () => {
    const other = image('v6.1.0', 'b1');
    expect(viewOf(one(workload(other)))).toMatchObject({ phase: 'Current', desired: other });
    expect(viewOf(one(managed(other)))).toMatchObject({ phase: 'Current', desired: other, applied: other });
  });

  test('tells its cluster, its workload and the way back that its marks name', () => {
    const found = workload(NEW, { marks: marks({ previousImage: OLD }) });
    const own = { targets: [target('web-1', { cluster: 'north', name: 'front' })] };
    const of = spec(own);
    const result = evaluate(start(of), observe(of, resolved('b1'), { front: found }), NOW);
    expect(viewOf(result, 'front')).toMatchObject({
      cluster: 'north',
      workload: 'Deployment shop/web-1',
      rollbackTo: OLD,
    });
  });
});

describe('a target that runs something else', () => {
  test('is Pending, and planned in the order of the spec', () => {
    const of = spec();
    const result = evaluate(start(of), observe(of, resolved('b1'), fleet(managed(OLD))), NOW);
    expect(result.evaluation.plan).toMatchObject({
      release: 'hive',
      items: ['web-1', 'web-2', 'web-3'].map((name) => ({
        target: name,
        action: 'roll',
        from: OLD,
        to: NEW,
        toLabel: 'v6-b1',
        toVersion: '6.1.0',
        why: 'update',
      })),
    });
    expect(viewOf(result)).toMatchObject({
      phase: 'Pending',
      reason: 'Planned',
      message: 'v6-b1 is to be rolled',
      current: OLD,
      desired: NEW,
      applied: OLD,
    });
  });

  test('is planned with the digests of the index’s manifests, by any of which it may be blocked', () => {
    const platformDigests = { 'linux/arm64': digest('m2'), 'linux/amd64': digest('m1'), 'linux/386': digest('m1') };
    const items = (of: Partial<Parameters<typeof resolved>[1]>, found = managed(OLD)) =>
      evaluate(start(), observe(spec(), resolved('b1', of), fleet(found)), NOW).evaluation.plan.items;
    expect(items({ platformDigests })[0]?.toManifests).toEqual([digest('m1'), digest('m2')]);
    expect(items({ platformDigests: { 'linux/amd64': digest('b1') } })[0]).not.toHaveProperty('toManifests');
    expect(items({})[0]).not.toHaveProperty('toManifests');
  });

  test('is planned in the order of the spec also where lines alternate', () => {
    const edge = { track: { tag: 'v6-edge' } };
    const of = spec({ targets: [target('a', edge), target('b'), target('c', edge), target('d')] });
    const found = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, managed(OLD)]));
    const result = evaluate(start(of), observe(of, resolved('b1'), found), NOW);
    expect(planned(result)).toEqual(['a', 'b', 'c', 'd']);
    expect(result.evaluation.targets.map((t) => t.name)).toEqual(['a', 'b', 'c', 'd']);
    expect(Object.keys(result.state.targets)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('is adopted at first sight, not taken for drift', () => {
    expect(viewOf(one(workload(OLD)))).toMatchObject({ phase: 'Pending', applied: null });
  });

  test('is Pending where the template has a bare tag: what is deployed always has its digest', () => {
    const bare = workload(`${REPOSITORY}:v6-latest`, { runningDigest: digest('b1') });
    const result = one(bare);
    expect(viewOf(result)).toMatchObject({ phase: 'Pending', desired: NEW });
    expect(result.evaluation.plan.items).toMatchObject([{ from: `${REPOSITORY}:v6-latest`, to: NEW }]);
  });

  test('is Pending where the template has a bare digest, so that the tag is known', () => {
    const result = one(workload(`${REPOSITORY}@${digest('b1')}`));
    expect(viewOf(result)).toMatchObject({ phase: 'Pending', desired: NEW });
  });

  test('is moved by a pin, for that reason', () => {
    const result = one(managed(NEW), { pin: 'v6.0.0' }, tagged('v6.0.0', 'a0'));
    expect(result.evaluation.plan.items).toEqual([
      {
        target: 'web-1',
        action: 'roll',
        from: NEW,
        to: image('v6.0.0', 'a0'),
        toLabel: 'v6.0.0',
        why: 'pin',
      },
    ]);
  });

  test('gets a bare digest where that was pinned', () => {
    const line = resolved('c1', { tag: null, label: 'c1' });
    const result = one(managed(NEW), { pin: digest('c1') }, line);
    expect(result.evaluation.plan.items).toMatchObject([{ to: `${REPOSITORY}@${digest('c1')}`, why: 'pin' }]);
  });
});

describe('a target with an image that was written here but has not passed', () => {
  const unproven = managed(NEW, {
    marks: marks({ managedBy: 'release/hive', applied: NEW, passed: OLD, previousImage: OLD }),
  });

  test('is verified: nothing is written, gate and soak are made up for', () => {
    const result = one(unproven);
    expect(result.evaluation.plan.items).toEqual([
      { target: 'web-1', action: 'verify', from: NEW, to: NEW, toLabel: 'v6-b1', toVersion: '6.1.0', why: 'unproven' },
    ]);
    expect(viewOf(result)).toMatchObject({
      phase: 'Pending',
      reason: 'Unproven',
      message: 'v6-b1 was written here but has not passed its gate and soak yet',
      rollbackTo: OLD,
    });
  });

  test('is verified outside windows as well, since it is already there', () => {
    const closed = { windows: [{ from: '20:00', to: '21:00', timeZone: 'UTC' }] };
    expect(planned(one(unproven, closed))).toEqual(['web-1']);
    expect(planned(one(managed(OLD), closed))).toEqual([]);
  });

  test('is Held where nothing could be proven', () => {
    expect(viewOf(one({ ...unproven, replicas: 0 }))).toMatchObject({ phase: 'Held', reason: 'ZeroReplicas' });
  });

  test('is not verified where another release or nobody wrote it', () => {
    expect(viewOf(one({ ...unproven, marks: marks({ applied: NEW, passed: OLD }) })).phase).toBe('Current');
  });
});

describe('a target that cannot be read', () => {
  test.each([
    ['denied', 'AccessDenied'],
    ['missing', 'WorkloadMissing'],
    ['timeout', 'WorkloadUnread'],
    ['unparsed', 'MarksUnreadable'],
    ['error', 'WorkloadUnread'],
  ] as const)('is Unknown when it is %s, never absent or fine', (why, reason) => {
    const of = spec({ targets: [target('web-1')] });
    const result = evaluate(
      start(of),
      observe(of, resolved('b1'), { 'web-1': { workload: unread(why), architectures: unread() } }),
      NOW,
    );
    expect(viewOf(result)).toMatchObject({
      phase: 'Unknown',
      reason,
      message: `Deployment shop/web-1 could not be read: ${why}`,
      current: null,
      desired: NEW,
    });
    expect(planned(result)).toEqual([]);
  });

  test('is Unknown where it was not read at all', () => {
    const of = spec({ targets: [target('web-1')] });
    expect(viewOf(evaluate(start(of), observe(of, resolved('b1'), {}), NOW))).toMatchObject({
      phase: 'Unknown',
      reason: 'NotObserved',
      message: 'the target was not read',
    });
  });

  test('keeps what is remembered of it', () => {
    const of = spec({ targets: [target('web-1')] });
    const first = evaluate(start(of), observe(of, resolved('b1'), { 'web-1': managed(NEW) }), NOW);
    const second = evaluate(
      first.state,
      observe(of, resolved('b1'), { 'web-1': { workload: unread(), architectures: unread() } }),
      NOW,
    );
    expect(second.state.targets).toEqual(first.state.targets);
    expect(viewOf(second)).toMatchObject({ phase: 'Unknown', applied: NEW });
  });
});

describe('a line that cannot be resolved', () => {
  const of = spec({ targets: [target('web-1'), target('web-2', { track: { tag: 'edge' } })] });

  test('plans nothing, and every phase stays what it was', () => {
    const found = { 'web-1': managed(OLD), 'web-2': managed(OLD) };
    const before = evaluate(start(of), observe(of, resolved('b1'), found), NOW);
    const after = evaluate(before.state, observe(of, unread('unreachable', 'the registry'), found), NOW);
    expect(after.evaluation).toMatchObject({ registryReachable: false, plan: { items: [] } });
    expect(viewOf(after)).toMatchObject({
      phase: 'Pending',
      reason: 'RegistryUnreachable',
      message: 'the registry could not be read: unreachable; the phase is the last one known',
      current: OLD,
      desired: NEW,
      desiredLabel: 'v6-b1',
    });
    expect(after.state.conditions).toContainEqual(
      expect.objectContaining({ type: 'RegistryReachable', status: 'False', reason: 'Unreachable' }),
    );
  });

  test('keeps each target its own phase', () => {
    const two = spec({ targets: [target('web-1'), target('web-2')] });
    const found = { 'web-1': managed(OLD), 'web-2': managed(NEW) };
    const before = evaluate(start(two), observe(two, resolved('b1'), found), NOW);
    const after = evaluate(before.state, observe(two, unread(), found), NOW);
    expect(after.evaluation.targets.map((t) => t.phase)).toEqual(['Pending', 'Current']);
  });

  test('does not take the place of what went wrong with a target in its rollout', () => {
    const found = { 'web-1': managed(NEW), 'web-2': managed(OLD) };
    const { state } = evaluate(start(of), observe(of, resolved('b1'), found), NOW);
    const memory = state.targets['web-1'];
    if (memory === undefined) throw new Error('web-1 was read');
    const said = { phase: 'Failed', reason: 'Unmeasured', message: 'NOT rolled back' } as const;
    const stuck = { ...said, image: NEW, wanted: NEW, rollbackTo: OLD, at: NOW };
    const failed = { ...state, targets: { ...state.targets, 'web-1': { ...memory, stuck } } };
    const after = evaluate(failed, observe(of, unread('unreachable', 'the registry'), found), NOW);
    expect(viewOf(after)).toMatchObject({
      phase: 'Failed',
      reason: 'Unmeasured',
      message: 'NOT rolled back. Besides, the registry could not be read: unreachable',
    });
    expect(after.state.conditions).toContainEqual(
      expect.objectContaining({ type: 'RegistryReachable', status: 'False', reason: 'Unreachable' }),
    );
  });

  test('leaves a target Unknown that was never seen otherwise', () => {
    const result = evaluate(start(of), observe(of, unread('denied'), { 'web-1': managed(OLD) }), NOW);
    expect(viewOf(result)).toMatchObject({ phase: 'Unknown', reason: 'RegistryUnreachable', desired: null });
    expect(result.evaluation.registryReachable).toBe(false);
  });

  test.each(['missing', 'empty'] as const)('is not an unreachable registry where the tag is %s', (why) => {
    const result = evaluate(start(of), observe(of, unread(why), { 'web-1': managed(OLD) }), NOW);
    expect(viewOf(result)).toMatchObject({ phase: 'Unknown', reason: 'LineUnresolved' });
    expect(result.evaluation.registryReachable).toBe(true);
    expect(planned(result)).toEqual([]);
  });

  test.each([
    ['a person pinned', { pin: { image: '9.9.9', by: 'ana', reason: '', at: NOW } }, {}, 'holdfast unpin release/hive'],
    ['the spec pins', {}, { pin: '9.9.9' }, 'change the pin in the spec and apply it'],
    ['the spec tracks', {}, {}, 'change the track in the spec and apply it'],
  ])('names the way out of what %s', (_, more, override, wayOut) => {
    const of = spec({ targets: [target('web-1')], ...override });
    const state = start(of, more);
    const found = { 'web-1': managed(OLD) };
    const line = linesOf(of, state.pin?.image ?? null)[0]?.key ?? '';
    const observation = { ...observe(of, resolved('a0'), found), lines: { [line]: unread('missing') } };
    const result = evaluate(state, observation, NOW);
    expect(viewOf(result)).toMatchObject({ phase: 'Unknown', reason: 'LineUnresolved' });
    expect(viewOf(result).message).toContain(wayOut);
    expect(viewOf(result).message).not.toContain('the last one known');
    expect(releaseStatus(result.state, null, NOW).waiting).toMatchObject({ who: 'person' });
  });

  test('is not "every target runs what is wanted": what is wanted is not there', () => {
    const of = spec({ targets: [target('web-1')] });
    const found = { 'web-1': managed(NEW) };
    const before = evaluate(start(of), observe(of, resolved('b1'), found), NOW);
    expect(releaseStatus(before.state, null, NOW).phase).toBe('Current');
    const after = evaluate(before.state, observe(of, unread('missing'), found), NOW);
    expect(viewOf(after)).toMatchObject({ phase: 'Current', reason: 'LineUnresolved' });
    expect(releaseStatus(after.state, null, NOW)).toMatchObject({ phase: 'Unknown', waiting: { who: 'person' } });
  });

  test('holds up no target on another line', () => {
    const observation = observe(of, resolved('b1'), { 'web-1': managed(OLD), 'web-2': managed(OLD) });
    const lines = { ...observation.lines, [`${REPOSITORY}:edge`]: unread() };
    const result = evaluate(start(of), { ...observation, lines }, NOW);
    expect(planned(result)).toEqual(['web-1']);
    expect(result.evaluation.registryReachable).toBe(false);
  });

  test('is not resolved where the observation lacks it', () => {
    const observation = { ...observe(of, resolved('b1'), { 'web-1': managed(OLD) }), lines: {} };
    const result = evaluate(start(of), observation, NOW);
    expect(viewOf(result)).toMatchObject({
      phase: 'Unknown',
      reason: 'LineUnresolved',
      message: `${REPOSITORY}:v6-latest was not read; push it, or change the track in the spec and apply it`,
    });
  });
});

describe('a target that is Held', () => {
  test.each<[string, Partial<WorkloadSnapshot>, string]>([
    [
      'OnDeleteStrategy',
      { strategy: 'OnDelete', kind: 'StatefulSet' },
      'the StatefulSet replaces pods only when somebody deletes them (OnDelete), so no rollout can be proven; use RollingUpdate',
    ],
    [
      'WorkloadPaused',
      { paused: true },
      'the Deployment is paused, so nothing would roll; resume it (it is never unpaused from here)',
    ],
    [
      'ZeroReplicas',
      { replicas: 0, kind: 'DaemonSet' },
      'the DaemonSet has zero replicas, so there is nothing to verify; scale it up',
    ],
  ])('for %s says so', (reason, overrides, message) => {
    const result = one(managed(OLD, overrides));
    expect(viewOf(result)).toMatchObject({ phase: 'Held', reason, message });
    expect(planned(result)).toEqual([]);
    // Nothing is to be done there, so nothing is held.
    expect(viewOf(one(managed(NEW, overrides))).phase).toBe('Current');
  });

  test('for a container that is not there names those that are', () => {
    expect(viewOf(one(workload(null, { containers: ['web', 'sidecar'] })))).toMatchObject({
      phase: 'Held',
      reason: 'NoSuchContainer',
      message: 'the Deployment has no container app; its containers: web, sidecar',
      current: null,
      desired: NEW,
    });
    expect(viewOf(one(workload(null, { containers: [] }))).message).toBe(
      'the Deployment has no container app; its containers: none',
    );
  });

  test('for another release names it, and takes in none of its marks', () => {
    const other = workload(OLD, {
      marks: marks({
        managedBy: 'release/other',
        applied: OLD,
        blocked: [{ image: digest('b1'), at: '2026-03-01T00:00:00Z', reason: 'x' }],
      }),
      imageWriter: writer('holdfast'),
    });
    const result = one(other);
    expect(viewOf(result)).toMatchObject({
      phase: 'Held',
      reason: 'OtherRelease',
      message: 'release/other manages this image; remove the target there, or holdfast release-ownership release/other',
      applied: null,
    });
    expect(result.state.blocked).toEqual([]);
  });

  test('for nodes whose architecture the image lacks, or that are not known', () => {
    const of = spec({ targets: [target('web-1')] });
    const at = (architectures: Parameters<typeof seen>[1]) =>
      viewOf(evaluate(start(of), observe(of, resolved('b1'), { 'web-1': seen(managed(OLD), architectures) }), NOW));
    expect(at(['amd64', 's390x'])).toMatchObject({
      phase: 'Held',
      reason: 'Architecture',
      message: 'v6-b1 has no linux/s390x, which nodes of the target need; it has linux/amd64, linux/arm64/v8',
    });
    expect(at([])).toMatchObject({
      phase: 'Held',
      reason: 'ArchitectureUnknown',
      message:
        "which architectures the target's nodes have is not known: no node matches the node selector, affinity and tolerations of the pods",
    });
    const denied = { workload: seen(managed(OLD)).workload, architectures: unread('denied', 'nodes') };
    expect(viewOf(evaluate(start(of), observe(of, resolved('b1'), { 'web-1': denied }), NOW))).toMatchObject({
      reason: 'ArchitectureUnknown',
    });
  });
});
