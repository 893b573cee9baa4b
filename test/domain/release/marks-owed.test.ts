import { describe, expect, test } from 'vitest';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { applyMarksPatch } from '../../../src/domain/release/marks.ts';
import { marksOwed } from '../../../src/domain/release/marks-owed.ts';
import type { Marks } from '../../../src/domain/release/observation.ts';
import type { ReleaseState } from '../../../src/domain/release/state.ts';
import {
  digest,
  HOUR,
  image,
  managed,
  marks,
  NOW,
  observe,
  resolved,
  seen,
  spec,
  start,
  unread,
  workload,
} from './world.ts';

const IMAGE = image('v6-latest', 'a0');
const AT = '2026-03-02T11:00:00.000Z';
const ENTRY = {
  image: digest('d1'),
  by: 'ana',
  reason: 'leaks',
  at: Date.parse(AT),
  cooldownUntil: 0,
  cooldownOnly: false,
};
const MARK = { image: digest('d1'), at: AT, reason: 'leaks' };

function own(blocked: Marks['blocked'] = []) {
  return managed(IMAGE, { marks: marks({ managedBy: 'release/hive', applied: IMAGE, passed: IMAGE, blocked }) });
}

function owed(state: Partial<ReleaseState>, targets: Parameters<typeof observe>[2], of = spec()) {
  const observation = observe(of, resolved('a0'), targets);
  const evaluated = evaluate(start(of, state), observation, NOW);
  return marksOwed(evaluated.state, observation);
}

describe('what the objects are to remember', () => {
  test('is a block that none of them carries, on the first that can be read', () => {
    const result = owed(
      { blocked: [ENTRY, { ...ENTRY, image: 'v1', cooldownUntil: NOW + HOUR, cooldownOnly: true }] },
      { 'web-1': { workload: unread(), architectures: unread() }, 'web-2': own(), 'web-3': own() },
    );
    expect(result).toEqual([
      {
        target: {
          name: 'web-2',
          cluster: 'default',
          namespace: 'shop',
          kind: 'Deployment',
          workload: 'web-2',
          container: 'app',
        },
        marks: {
          block: [MARK, { ...MARK, image: 'v1', cooldownUntil: '2026-03-02T13:00:00.000Z', cooldownOnly: true }],
        },
      },
    ]);
  });

  test('is owed to no object of another release, and once written to nobody', () => {
    const other = workload(IMAGE, { marks: marks({ managedBy: 'release/other' }) });
    const result = owed({ blocked: [ENTRY] }, { 'web-1': other, 'web-2': workload(IMAGE) });
    expect(result.map((o) => o.target.name)).toEqual(['web-2']);
    const patch = result[0]?.marks ?? {};
    const written = workload(IMAGE, { marks: applyMarksPatch(marks(), patch) });
    expect(owed({ blocked: [ENTRY] }, { 'web-1': other, 'web-2': written })).toEqual([]);
  });

  test('is not what was found on an object in the first place', () => {
    expect(owed({}, { 'web-1': own(), 'web-2': own([MARK]) })).toEqual([]);
    const found = { ...ENTRY, by: 'holdfast (found on the object)' };
    expect(owed({ blocked: [found] }, { 'web-1': own() })).toEqual([]);
  });

  test('forgets what a person unblocked, wherever it is marked', () => {
    const unblocked = { [digest('d1')]: Date.parse(AT) };
    const result = owed(
      { unblocked },
      { 'web-1': own([MARK, { ...MARK, image: 'v2' }]), 'web-2': own(), 'web-3': own([MARK]) },
    );
    expect(result.map((o) => [o.target.name, o.marks])).toEqual([
      ['web-1', { unblock: [digest('d1')] }],
      ['web-3', { unblock: [digest('d1')] }],
    ]);
  });

  test('keeps a mark that is newer than its unblocking, or that is blocked again', () => {
    expect(owed({ unblocked: { [digest('d1')]: Date.parse(AT) - 1 } }, { 'web-1': own([MARK]) })).toEqual([]);
    const again = { blocked: [ENTRY], unblocked: { [digest('d1')]: NOW } };
    expect(owed(again, { 'web-1': own([MARK]) })).toEqual([]);
  });

  test('may be both at once', () => {
    const state = { blocked: [ENTRY], unblocked: { v2: NOW } };
    const result = owed(state, { 'web-1': own([{ ...MARK, image: 'v2' }]), 'web-2': own() });
    expect(result.map((o) => o.marks)).toEqual([{ block: [MARK], unblock: ['v2'] }]);
  });

  test('is nothing in any mode but Enforce: it would be a write', () => {
    for (const mode of ['Shadow', 'Observe'] as const) {
      expect(owed({ blocked: [ENTRY] }, { 'web-1': own() }, spec({ mode }))).toEqual([]);
    }
    expect(marksOwed(start(), observe(spec(), resolved('a0'), { 'web-1': seen(own()) }))).toEqual([]);
  });
});
