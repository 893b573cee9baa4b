import { describe, expect, test } from 'vitest';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { unknownTarget } from '../../../src/domain/release/initial-state.ts';
import type { Observation, ResolvedLine, WorkloadSnapshot } from '../../../src/domain/release/observation.ts';
import type { ReleaseState } from '../../../src/domain/release/state.ts';
import {
  digest,
  fleet,
  HOUR,
  image,
  managed,
  marks,
  NOW,
  observe,
  planned,
  REPOSITORY,
  resolved,
  spec,
  start,
  target,
  unread,
  viewOf,
  workload,
} from './world.ts';

const KEY = `${REPOSITORY}:v6-latest`;
const of = spec({ minimumAge: '24h' });
const A = image('v6-latest', 'a0');

function at(
  hours: number,
  state: ReleaseState,
  line: ResolvedLine,
  found: WorkloadSnapshot | Record<string, WorkloadSnapshot>,
) {
  const targets = 'image' in found ? fleet(found as WorkloadSnapshot) : found;
  return evaluate(state, observe(state.spec, line, targets), NOW + hours * HOUR);
}

describe('a minimum age', () => {
  test('holds a new image until it is old enough, to the millisecond', () => {
    const first = at(0, start(of), resolved('b1'), managed(A));
    expect(viewOf(first)).toMatchObject({
      phase: 'Held',
      reason: 'MinimumAge',
      message: 'v6-b1 is old enough at 2026-03-03T12:00:00Z',
    });
    expect(first.evaluation.changesAt).toBe(NOW + 24 * HOUR);
    expect(first.state.candidates).toEqual({
      [KEY]: { digest: digest('b1'), firstSeen: NOW, resolved: resolved('b1'), tried: false, next: null },
    });
    const observation = observe(of, resolved('b1'), fleet(managed(A)));
    expect(planned(evaluate(first.state, observation, NOW + 24 * HOUR - 1))).toEqual([]);
    expect(planned(evaluate(first.state, observation, NOW + 24 * HOUR))).toEqual(['web-1', 'web-2', 'web-3']);
  });

  test('freezes the candidate: newer images queue behind it and never reset it', () => {
    let state = at(0, start(of), resolved('b1'), managed(A)).state;
    for (let hour = 1; hour < 24; hour += 1) {
      const next = at(hour, state, resolved(`c${hour.toString(16)}`), managed(A));
      expect(planned(next)).toEqual([]);
      expect(next.state.candidates[KEY]).toMatchObject({ digest: digest('b1'), firstSeen: NOW });
      state = next.state;
    }
    const aged = at(24, state, resolved('d0'), managed(A));
    expect(aged.evaluation.plan.items).toMatchObject([{ to: image('v6-latest', 'b1'), toLabel: 'v6-b1' }, {}, {}]);
    // Once every target has it, the next is what the line resolves to then.
    const B = image('v6-latest', 'b1');
    const rolled = at(25, aged.state, resolved('d0'), managed(B));
    expect(rolled.state.candidates[KEY]).toMatchObject({ digest: digest('d0'), firstSeen: NOW + 24 * HOUR });
    expect(viewOf(rolled)).toMatchObject({ phase: 'Held', reason: 'MinimumAge' });
  });

  test('an hourly release with an age of a day still ships daily', () => {
    let state = start(of);
    let running = A;
    const shipped: number[] = [];
    for (let hour = 0; hour < 24 * 5; hour += 1) {
      const id = `${(0x1000 + hour).toString(16)}`;
      const result = at(hour, state, resolved(id), managed(running));
      state = result.state;
      const to = result.evaluation.plan.items[0]?.to;
      if (to === undefined) continue;
      shipped.push(hour);
      // The rollout passes, and the targets run it at the next look.
      running = to;
      state = {
        ...state,
        targets: Object.fromEntries(
          Object.entries(state.targets).map(([name, m]) => [name, { ...m, applied: to, passed: to }]),
        ),
      };
    }
    expect(shipped).toEqual([24, 49, 74, 99]);
  });

  test('counts from when an image was first seen, also while it queued', () => {
    let state = at(0, start(of), resolved('b1'), managed(A)).state;
    state = at(5, state, resolved('c1'), managed(A)).state;
    expect(state.candidates[KEY]?.next).toEqual({ digest: digest('c1'), firstSeen: NOW + 5 * HOUR });
    state = at(6, state, resolved('c1'), managed(A)).state;
    expect(state.candidates[KEY]?.next).toEqual({ digest: digest('c1'), firstSeen: NOW + 5 * HOUR });
    const B = managed(image('v6-latest', 'b1'));
    const rolled = at(25, state, resolved('c1'), B);
    expect(rolled.evaluation.changesAt).toBe(NOW + 29 * HOUR);
    expect(planned(at(29, rolled.state, resolved('c1'), B))).toHaveLength(3);
  });

  test('forgets what queued when the line goes back to the candidate', () => {
    let state = at(0, start(of), resolved('b1'), managed(A)).state;
    state = at(1, state, resolved('c1'), managed(A)).state;
    state = at(2, state, resolved('b1'), managed(A)).state;
    expect(state.candidates[KEY]).toMatchObject({ firstSeen: NOW, next: null });
    state = at(3, state, resolved('c1'), managed(A)).state;
    expect(state.candidates[KEY]?.next).toEqual({ digest: digest('c1'), firstSeen: NOW + 3 * HOUR });
  });

  test('passes on to what queued once the candidate is blocked or was tried', () => {
    const first = at(0, start(of), resolved('b1'), managed(A)).state;
    const blocked = {
      ...first,
      blocked: [{ image: digest('b1'), by: 'x', reason: '', at: NOW, cooldownUntil: 0, cooldownOnly: false }],
    };
    expect(at(1, blocked, resolved('c1'), managed(A)).state.candidates[KEY]?.digest).toBe(digest('c1'));
    const candidate = first.candidates[KEY];
    if (!candidate) throw new Error('no candidate');
    const tried = { ...first, candidates: { [KEY]: { ...candidate, tried: true } } };
    expect(at(1, tried, resolved('c1'), managed(A)).state.candidates[KEY]?.digest).toBe(digest('c1'));
    // Nothing queued, so there is nothing to pass on to.
    expect(at(1, tried, resolved('b1'), managed(A)).state.candidates[KEY]).toMatchObject({ tried: true });
  });

  test.each<[string, WorkloadSnapshot, boolean]>([
    ['has zero replicas', managed(A, { replicas: 0 }), false],
    ['lacks the container', workload(null), false],
    ['is of another release', workload(A, { marks: marks({ managedBy: 'release/other' }) }), false],
    ['is on another major', managed(image('v5-latest', 'a0')), false],
    ['has it already', managed(image('v6-latest', 'b1')), false],
    ['drifted, but was given it', managed(image('v6-latest', 'b1'), { image: A }), false],
    ['can take it', managed(A), true],
    ['was given it by hand, though it runs under another', managed(A, { image: image('v6-latest', 'b1') }), true],
    ['was never written to', workload(A), true],
  ])('waits for a target that %s: only where it may still take the candidate', (_what, found, waits) => {
    const first = at(0, start(of), resolved('b1'), managed(A)).state;
    const state = { ...first, targets: {} };
    const result = at(1, state, resolved('c1'), found);
    expect(result.state.candidates[KEY]?.digest).toBe(waits ? digest('b1') : digest('c1'));
  });

  test('waits for the last of the targets on its line', () => {
    const first = at(0, start(of), resolved('b1'), managed(A)).state;
    const B = managed(image('v6-latest', 'b1'));
    const result = at(1, { ...first, targets: {} }, resolved('c1'), { 'web-1': B, 'web-2': B, 'web-3': managed(A) });
    expect(result.state.candidates[KEY]?.digest).toBe(digest('b1'));
  });

  test('does not wait for a target that somebody gave it meanwhile', () => {
    const first = at(0, start(of), resolved('b1'), managed(A)).state;
    const adopted = { ...unknownTarget, adopted: A };
    const state = { ...first, targets: { 'web-1': adopted, 'web-2': adopted, 'web-3': adopted } };
    const result = at(1, state, resolved('c1'), workload(image('v6-latest', 'b1')));
    expect(result.state.candidates[KEY]?.digest).toBe(digest('c1'));
  });

  test('waits for a target that cannot be read, and for no node that lacks the architecture', () => {
    const first = at(0, start(of), resolved('b1'), managed(A)).state;
    const only = (target: Observation['targets'][string]) =>
      evaluate(
        { ...first, targets: {} },
        observe(of, resolved('c1'), {
          'web-1': target,
          'web-2': managed(image('v6-latest', 'b1')),
          'web-3': managed(image('v6-latest', 'b1')),
        }),
        NOW + HOUR,
      ).state.candidates[KEY]?.digest;
    const read = { kind: 'read' as const, value: managed(A) };
    expect(only({ workload: unread(), architectures: unread() })).toBe(digest('b1'));
    expect(only({ workload: read, architectures: unread() })).toBe(digest('b1'));
    expect(only({ workload: read, architectures: { kind: 'read', value: ['s390x'] } })).toBe(digest('c1'));
    const unobserved = evaluate({ ...first, targets: {} }, observe(of, resolved('c1'), {}), NOW + HOUR);
    expect(unobserved.state.candidates[KEY]?.digest).toBe(digest('b1'));
  });

  test('keeps its candidate while the line cannot be resolved', () => {
    const first = at(0, start(of), resolved('b1'), managed(A));
    const down = evaluate(first.state, observe(of, unread(), fleet(managed(A))), NOW + HOUR);
    expect(down.state.candidates).toEqual(first.state.candidates);
  });

  test('ages no pin', () => {
    const pinned = spec({ minimumAge: '24h', pin: 'v6.1.0', targets: [target('web-1')] });
    const line = resolved('b1', { tag: 'v6.1.0', label: 'v6.1.0' });
    const result = evaluate(start(pinned), observe(pinned, line, { 'web-1': managed(A) }), NOW);
    expect(planned(result)).toEqual(['web-1']);
    expect(result.state.candidates).toEqual({});
  });

  test('of zero remembers nothing', () => {
    const result = at(0, start(), resolved('b1'), managed(A));
    expect(planned(result)).toHaveLength(3);
    expect(result.state.candidates).toEqual({});
    const down = evaluate(
      { ...start(), candidates: at(0, start(of), resolved('b1'), managed(A)).state.candidates },
      observe(spec(), unread(), fleet(managed(A))),
      NOW,
    );
    expect(down.state.candidates).toEqual({});
  });

  test('brings a target that drifted back to what was applied meanwhile', () => {
    const swapped = managed(A, { image: image('v5-latest', '55') });
    const result = at(0, start(of), resolved('b1'), swapped);
    expect(result.evaluation.plan.items).toMatchObject([{ to: A, why: 'drift' }, {}, {}]);
    expect(result.evaluation.changesAt).toBe(NOW + 24 * HOUR);
  });
});
