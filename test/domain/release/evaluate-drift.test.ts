import { describe, expect, test } from 'vitest';
import { digest } from './world.ts';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import type { ResolvedLine, WorkloadSnapshot } from '../../../src/domain/release/observation.ts';
import type { ReleaseState, TargetMemory } from '../../../src/domain/release/state.ts';
import { unknownTarget } from '../../../src/domain/release/initial-state.ts';
import {
  image,
  managed,
  marks,
  NOW,
  observe,
  planned,
  resolved,
  spec,
  start,
  tagged,
  target,
  viewOf,
  workload,
  writer,
} from './world.ts';

const OLD = image('v6-latest', 'a0');
const NEW = image('v6-latest', 'b1');
const SWAPPED = image('v5-latest', '55');
const of = spec({ targets: [target('web-1')] });

/** The target after somebody else wrote its image, while `applied` is what this release wrote. */
function swapped(found: string, applied: string, by = 'kubectl-set'): WorkloadSnapshot {
  return managed(applied, { image: found, imageWriter: writer(by) });
}

function at(found: WorkloadSnapshot, line: ResolvedLine, state: ReleaseState = start(of)) {
  return evaluate(state, observe(state.spec, line, { 'web-1': found }), NOW);
}

function remembering(memory: Partial<TargetMemory>, state: ReleaseState = start(of)): ReleaseState {
  return { ...state, targets: { 'web-1': { ...unknownTarget, ...memory } } };
}

describe('an image that somebody else wrote', () => {
  test('is drift, names the writer, and is brought back', () => {
    const result = at(swapped(SWAPPED, NEW), resolved('b1'));
    expect(viewOf(result)).toMatchObject({
      phase: 'Drifted',
      reason: 'OutOfBand',
      message: `kubectl-set wrote ${SWAPPED}; this release applied ${NEW}`,
      current: SWAPPED,
      applied: NEW,
      desired: NEW,
    });
    expect(result.evaluation.plan.items).toEqual([
      { target: 'web-1', action: 'roll', from: SWAPPED, to: NEW, toLabel: 'v6-b1', toVersion: '6.1.0', why: 'drift' },
    ]);
  });

  test('is drift by an exact comparison: the same digest under another tag is another image', () => {
    const other = image('v6.1.0', 'b1');
    const result = at(swapped(other, NEW), resolved('b1'));
    expect(viewOf(result)).toMatchObject({ phase: 'Drifted', current: other });
    expect(result.evaluation.plan.items).toMatchObject([{ from: other, to: NEW }]);
  });

  test('names nobody where managedFields do not tell', () => {
    const untraced = { ...swapped(SWAPPED, NEW), imageWriter: null };
    expect(viewOf(at(untraced, resolved('b1'))).message).toBe(
      `a writer that left no trace in managedFields wrote ${SWAPPED}; this release applied ${NEW}`,
    );
  });

  test.each([
    ['WorkloadPaused', { paused: true }],
    ['ZeroReplicas', { replicas: 0 }],
    ['OnDeleteStrategy', { strategy: 'OnDelete' }],
  ] as const)(
    'is not brought back either where nothing can be rolled (%s), whatever is wanted',
    (reason, overrides) => {
      const result = at({ ...swapped(SWAPPED, OLD), ...overrides }, resolved('b1'));
      expect(planned(result)).toEqual([]);
      expect(viewOf(result)).toMatchObject({ phase: 'Drifted', reason });
      expect(viewOf(result).message).not.toContain('going back is not possible');
    },
  );

  test('stays where what was applied is blocked by the digest of one of its platforms', () => {
    const state = { ...start(of), spec: { ...of, blocklist: [digest('ee')] } };
    const line = resolved('b1', { platformDigests: { 'linux/amd64': digest('ee') } });
    expect(planned(at(swapped(SWAPPED, NEW), line, state))).toEqual([]);
  });

  test('stays where what was applied has failed elsewhere, and says so', () => {
    const stuck = {
      phase: 'Failed' as const,
      reason: 'x',
      message: 'not measured',
      image: OLD,
      wanted: NEW,
      rollbackTo: null,
      at: NOW,
    };
    const both = spec({ targets: [target('web-1'), target('web-2')], blocklist: [digest('b1')] });
    const state = start(both, { targets: { 'web-2': { ...unknownTarget, applied: OLD, passed: OLD, stuck } } });
    const found = { 'web-1': swapped(SWAPPED, OLD), 'web-2': managed(OLD) };
    const result = evaluate(state, observe(both, resolved('b1'), found), NOW);
    expect(planned(result)).toEqual([]);
    expect(viewOf(result)).toMatchObject({ phase: 'Drifted', reason: 'Blocked' });
    expect(viewOf(result).message).toContain(`; and going back is not possible: ${OLD} ended as Failed on web-2: `);
  });

  test('goes on to what is wanted where that has moved meanwhile', () => {
    const result = at(swapped(SWAPPED, OLD), resolved('b1'));
    expect(viewOf(result).phase).toBe('Drifted');
    expect(result.evaluation.plan.items).toMatchObject([{ from: SWAPPED, to: NEW, why: 'drift' }]);
  });

  test('a swap from v6 to v5 is reverted rather than adopted, by the major of the applied image', () => {
    const toV5 = swapped(SWAPPED, NEW);
    expect(at(toV5, resolved('b1')).evaluation.plan.items).toMatchObject([{ from: SWAPPED, to: NEW }]);
  });

  test('goes back to the applied image where what is wanted crosses a major', () => {
    const result = at(swapped(SWAPPED, OLD), resolved('c7', { version: '7.0.0', label: 'v7' }));
    expect(result.evaluation.plan.items).toEqual([
      { target: 'web-1', action: 'roll', from: SWAPPED, to: OLD, toLabel: 'v6-old', why: 'drift' },
    ]);
    expect(viewOf(result)).toMatchObject({ phase: 'Drifted', reason: 'OutOfBand' });
    expect(viewOf(result).message).toContain(`this release applied ${OLD}; v7 (7.0.0) is major 7`);
  });

  test('goes back to the applied image where what is wanted is blocked, labelled by what is known of it', () => {
    const state = { ...start(of), spec: { ...of, blocklist: [digest('b1')] } };
    const back = at(swapped(SWAPPED, OLD), resolved('b1'), state);
    expect(back.evaluation.plan.items).toMatchObject([{ to: OLD, toLabel: 'v6-old', why: 'drift' }]);
    const observation = observe(state.spec, resolved('b1'), { 'web-1': swapped(SWAPPED, OLD) });
    const images = { [OLD]: { kind: 'read' as const, value: { version: '6.0.0', label: 'v6-a0', revision: null } } };
    expect(evaluate(state, { ...observation, images }, NOW).evaluation.plan.items).toMatchObject([
      { to: OLD, toLabel: 'v6-a0' },
    ]);
    const bare = remembering({ applied: OLD }, state);
    const noMarks = workload(SWAPPED, { imageWriter: writer('x') });
    expect(at(noMarks, resolved('b1'), bare).evaluation.plan.items).toMatchObject([{ to: OLD, toLabel: 'v6-latest' }]);
  });

  test('stays where both what is wanted and what was applied are blocked', () => {
    const state = { ...start(of), spec: { ...of, blocklist: [digest('b1'), digest('a0')] } };
    const result = at(swapped(SWAPPED, OLD), resolved('b1'), state);
    expect(planned(result)).toEqual([]);
    expect(viewOf(result)).toMatchObject({ phase: 'Drifted', reason: 'Blocked' });
    expect(viewOf(result).message).toContain(
      '; and going back is not possible: v6-old, which was applied before, is blocked by spec.blocklist',
    );
  });

  test('stays where what was applied is wanted and blocked', () => {
    const state = { ...start(of), spec: { ...of, blocklist: [digest('b1')] } };
    const result = at(swapped(SWAPPED, NEW), resolved('b1'), state);
    expect(planned(result)).toEqual([]);
    expect(viewOf(result)).toMatchObject({ phase: 'Drifted', reason: 'Blocked' });
    expect(viewOf(result).message).not.toContain('going back is not possible');
  });

  test.each([
    ['WorkloadPaused', { paused: true }],
    ['ZeroReplicas', { replicas: 0 }],
    ['OnDeleteStrategy', { strategy: 'OnDelete' }],
  ] as const)('stays Drifted with the reason %s where nothing can be rolled', (reason, overrides) => {
    const result = at({ ...swapped(SWAPPED, NEW), ...overrides }, resolved('b1'));
    expect(viewOf(result)).toMatchObject({ phase: 'Drifted', reason });
    expect(viewOf(result).message).toContain(`kubectl-set wrote ${SWAPPED}`);
    expect(planned(result)).toEqual([]);
  });

  test('is brought back to a pinned image, blocked or not, and the plan says that it is the pin', () => {
    const pinned = spec({ targets: [target('web-1')], pin: 'v6.1.0', blocklist: [digest('b1')] });
    const applied = image('v6.1.0', 'b1');
    const result = at(swapped(SWAPPED, applied), tagged('v6.1.0', 'b1'), start(pinned));
    expect(viewOf(result).phase).toBe('Drifted');
    expect(result.evaluation.plan.items).toMatchObject([{ from: SWAPPED, to: applied, why: 'pin' }]);
  });

  test('is proven, not written again, where it is the wanted one', () => {
    const result = at(swapped(NEW, OLD), resolved('b1'));
    expect(viewOf(result).phase).toBe('Drifted');
    expect(result.evaluation.plan.items).toEqual([
      { target: 'web-1', action: 'verify', from: NEW, to: NEW, toLabel: 'v6-b1', toVersion: '6.1.0', why: 'drift' },
    ]);
  });

  test('going back needs no knowledge of the nodes: the image ran there', () => {
    const observation = observe(of, resolved('b1'), {
      'web-1': {
        workload: { kind: 'read' as const, value: swapped(SWAPPED, NEW) },
        architectures: { kind: 'read' as const, value: [] },
      },
    });
    expect(planned(evaluate(start(of), observation, NOW))).toEqual(['web-1']);
  });
});

describe('what counts as applied', () => {
  test('is what is remembered: kubectl rollout undo brings back old marks together with the old image', () => {
    const undone = managed(OLD, { imageWriter: writer('kubectl-rollout') });
    const result = at(undone, resolved('b1'), remembering({ applied: NEW, passed: NEW }));
    expect(viewOf(result)).toMatchObject({ phase: 'Drifted', applied: NEW });
    expect(result.evaluation.plan.items).toMatchObject([{ from: OLD, to: NEW, why: 'drift' }]);
  });

  test('is what the object says where this release wrote it and the state is older', () => {
    const result = at(managed(NEW), resolved('b1'), remembering({ applied: OLD, passed: OLD }));
    expect(viewOf(result)).toMatchObject({ phase: 'Current', applied: NEW });
    expect(result.state.targets['web-1']).toMatchObject({ applied: NEW, appliedVersion: 'v6-old', passed: NEW });
  });

  test('is not what marks say that are about another image', () => {
    const odd = managed(SWAPPED, { marks: marks({ managedBy: 'release/hive', applied: OLD }) });
    const result = at(odd, resolved('b1'), remembering({ applied: NEW, passed: NEW }));
    expect(result.state.targets['web-1']).toMatchObject({ applied: NEW });
  });

  test('keeps what is known to have passed where only the mark of that got lost', () => {
    const found = managed(NEW, { marks: marks({ managedBy: 'release/hive', applied: NEW, passed: OLD }) });
    const result = at(found, resolved('b1'), remembering({ applied: NEW, appliedVersion: 'v6-b1', passed: NEW }));
    expect(viewOf(result).phase).toBe('Current');
    expect(result.state.targets['web-1']).toMatchObject({ passed: NEW, appliedVersion: 'v6-b1' });
  });

  test('is never taken for adopted as well', () => {
    expect(at(managed(NEW), resolved('b1')).state.targets['web-1']).toMatchObject({ applied: NEW, adopted: null });
  });

  test('is no rollback at first sight where the marks tell of none, also while the registry is down', () => {
    const observation = { ...observe(of, resolved('b1'), { 'web-1': managed(OLD) }), lines: {} };
    expect(evaluate(start(of), observation, NOW).state.targets['web-1']?.stuck).toBeNull();
  });

  test('is what the marks say after a terminate', () => {
    const result = at(swapped(SWAPPED, NEW), resolved('b1'));
    expect(result.state.targets['web-1']).toMatchObject({ applied: NEW, appliedVersion: 'v6-old', passed: NEW });
  });

  test('keeps what passed where the marks do not tell', () => {
    const found = managed(NEW, { marks: marks({ managedBy: 'release/hive', applied: NEW, passed: null }) });
    const result = at(found, resolved('b1'), remembering({ applied: OLD, passed: OLD }));
    expect(result.state.targets['web-1']).toMatchObject({ applied: NEW, passed: OLD });
    expect(result.evaluation.plan.items).toMatchObject([{ action: 'verify', to: NEW }]);
  });

  test('is nothing on an object without marks of this release', () => {
    const found = workload(OLD, { marks: marks({ applied: NEW }), imageWriter: writer('holdfast') });
    expect(viewOf(at(found, resolved('b1')))).toMatchObject({ phase: 'Pending', applied: null });
  });

  test('is remembered though the object was made anew without marks', () => {
    const anew = workload(OLD, { imageWriter: writer('kubectl-client-side-apply') });
    const result = at(anew, resolved('b1'), remembering({ applied: NEW, passed: NEW }));
    expect(viewOf(result)).toMatchObject({ phase: 'Drifted', applied: NEW });
  });

  test('survives another release that takes the target', () => {
    const taken = workload(OLD, { marks: marks({ managedBy: 'release/other', applied: OLD }) });
    const result = at(taken, resolved('b1'), remembering({ applied: NEW }));
    expect(viewOf(result)).toMatchObject({ phase: 'Held', reason: 'OtherRelease', applied: NEW });
    expect(result.state.targets['web-1']?.drifts).toBeNull();
  });
});

describe('a target that was never written to', () => {
  test('is adopted as wanted, and a swap of it is drift that is brought back', () => {
    const first = at(workload(NEW), resolved('b1'));
    expect(first.state.targets['web-1']).toMatchObject({ applied: null, adopted: NEW });
    const second = at(workload(SWAPPED, { imageWriter: writer('nightly') }), resolved('b1'), first.state);
    expect(viewOf(second)).toMatchObject({
      phase: 'Drifted',
      message: `nightly wrote ${SWAPPED}; the target had ${NEW}`,
      applied: null,
    });
    expect(second.evaluation.plan.items).toMatchObject([{ from: SWAPPED, to: NEW, why: 'drift' }]);
  });

  test('stays Current where its incumbent moves it to what is wanted', () => {
    const first = at(workload(OLD), resolved('a0'));
    const second = at(workload(NEW, { imageWriter: writer('nightly') }), resolved('b1'), first.state);
    expect(viewOf(second).phase).toBe('Current');
    expect(second.state.targets['web-1']).toMatchObject({ adopted: NEW, drifts: null });
  });

  test('is not drift where it never was as wanted', () => {
    const first = at(workload(OLD), resolved('b1'));
    const second = at(workload(SWAPPED), resolved('b1', { version: '5.0.0' }), first.state);
    expect(viewOf(second).phase).toBe('Pending');
    expect(second.state.targets['web-1']).toMatchObject({ adopted: null, drifts: null });
  });
});

describe('three drifts by one other writer', () => {
  /** Evaluates a series of images; each is written by the writer named with it. */
  function series(images: readonly [image: string, by: string][], state: ReleaseState = start(of)) {
    return images.reduce(
      (result, [found, by]) => at(swapped(found, NEW, by), resolved('b1'), result.state),
      at(managed(NEW), resolved('b1'), state),
    );
  }

  test('hold the target and name the writer', () => {
    const rounds: [string, string][] = [
      [SWAPPED, 'argocd'],
      [NEW, 'holdfast'],
      [SWAPPED, 'argocd'],
      [NEW, 'holdfast'],
    ];
    const twice = series(rounds);
    expect(viewOf(twice).phase).toBe('Current');
    expect(twice.state.targets['web-1']?.drifts).toEqual({ writer: 'argocd', count: 2, lastImage: '' });
    const third = series([...rounds, [SWAPPED, 'argocd']]);
    expect(viewOf(third)).toMatchObject({
      phase: 'Held',
      reason: 'SecondWriter',
      message: `argocd has put its own image back 3 times (now ${SWAPPED}); stop it from writing the image, then holdfast retry release/hive`,
    });
    expect(planned(third)).toEqual([]);
    // Back as applied, there is nothing to hold.
    const over = at(managed(NEW), resolved('b1'), third.state);
    expect(viewOf(over).phase).toBe('Current');
  });

  test('are counted once each, however often they are seen', () => {
    const seenOften = series([
      [SWAPPED, 'argocd'],
      [SWAPPED, 'argocd'],
      [SWAPPED, 'argocd'],
      [SWAPPED, 'argocd'],
    ]);
    expect(seenOften.state.targets['web-1']?.drifts).toEqual({ writer: 'argocd', count: 1, lastImage: SWAPPED });
    expect(viewOf(seenOften).phase).toBe('Drifted');
  });

  test('are not held against a drift of ours', () => {
    const ours = swapped(SWAPPED, NEW, 'holdfast');
    const before = remembering({ applied: NEW, drifts: { writer: 'argocd', count: 3, lastImage: '' } });
    expect(viewOf(at(ours, resolved('b1'), before)).phase).toBe('Drifted');
  });

  test('are still one where another manager comes to own the same image', () => {
    const shared = series([
      [SWAPPED, 'argocd'],
      [SWAPPED, 'kubectl'],
    ]);
    expect(shared.state.targets['web-1']?.drifts).toEqual({ writer: 'argocd', count: 1, lastImage: SWAPPED });
  });

  test('are one while the writer goes on changing the image', () => {
    const other = image('v5-latest', '56');
    const changing = series([
      [SWAPPED, 'argocd'],
      [other, 'argocd'],
    ]);
    expect(changing.state.targets['web-1']?.drifts).toEqual({ writer: 'argocd', count: 1, lastImage: other });
  });

  test('begin anew with another writer', () => {
    const two = series([
      [SWAPPED, 'argocd'],
      [NEW, 'holdfast'],
      [SWAPPED, 'kubectl-set'],
    ]);
    expect(two.state.targets['web-1']?.drifts).toEqual({ writer: 'kubectl-set', count: 1, lastImage: SWAPPED });
  });

  test('are not ours, even where what we wrote is not remembered', () => {
    const ours = swapped(SWAPPED, NEW, 'holdfast');
    const result = at(ours, resolved('b1'), remembering({ applied: NEW }));
    expect(viewOf(result).phase).toBe('Drifted');
    expect(result.state.targets['web-1']?.drifts).toBeNull();
  });

  test('are counted also while the registry is down', () => {
    const before = at(managed(NEW), resolved('b1'));
    const observation = observe(of, resolved('b1'), { 'web-1': swapped(SWAPPED, NEW) });
    const after = evaluate(before.state, { ...observation, lines: {} }, NOW);
    expect(after.state.targets['web-1']?.drifts).toEqual({ writer: 'kubectl-set', count: 1, lastImage: SWAPPED });
    // What was adopted counts once it is known again what is wanted.
    const adopted = at(workload(NEW), resolved('b1'));
    const moved = observe(of, resolved('b1'), { 'web-1': workload(SWAPPED, { imageWriter: writer('x') }) });
    expect(evaluate(adopted.state, { ...moved, lines: {} }, NOW).state.targets['web-1']?.drifts).toBeNull();
  });
});

describe('drift on a semver line', () => {
  test('a swap to an older release is brought forward again', () => {
    const line = spec({ targets: [target('web-1')], track: { line: '^v5\\.' } });
    const applied = image('v5.2.0', 'b1');
    const older = image('v5.1.0', 'a0');
    const result = at(swapped(older, applied), tagged('v5.2.0', 'b1'), start(line));
    expect(result.evaluation.plan.items).toMatchObject([{ from: older, to: applied, why: 'drift' }]);
  });
});

test('marks of another container of the object are not taken for those of this one', () => {
  const other = 'registry.example.com/hive/other:1.1.0@' + digest('99');
  const found = managed(NEW, {
    marks: marks({ managedBy: 'release/hive', applied: other, version: '1.1.0', passed: other }),
  });
  const result = at(found, resolved('b1'));
  expect(result.evaluation.plan.items.map((item) => item.to)).not.toContain(other);
  expect(viewOf(result)).not.toMatchObject({ phase: 'Drifted' });
});
