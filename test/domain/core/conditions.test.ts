import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  conditionFaults,
  getCondition,
  isTrue,
  removeCondition,
  setCondition,
} from '../../../src/domain/core/conditions.ts';
import type { Condition } from '../../../src/domain/core/conditions.ts';

const ready: Condition = {
  type: 'Ready',
  status: 'True',
  reason: 'Current',
  message: '',
  lastTransitionTime: '2026-06-01T12:00:00.000Z',
  observedGeneration: 1,
};
const later = Date.parse('2026-06-02T00:00:00Z');

describe('setting conditions', () => {
  test('a new one is added at the end, with the time', () => {
    const update = { type: 'Stalled', status: 'False' as const, reason: 'Idle', message: 'm', observedGeneration: 2 };
    expect(setCondition([ready], update, later)).toEqual([
      ready,
      { ...update, lastTransitionTime: '2026-06-02T00:00:00.000Z' },
    ]);
  });

  test('the time of change stays while the status does, whatever else changes', () => {
    const after = setCondition([ready], { ...ready, reason: 'Other', message: 'new', observedGeneration: 2 }, later);
    expect(after).toEqual([{ ...ready, reason: 'Other', message: 'new', observedGeneration: 2 }]);
  });

  test('the time of change moves with the status, and the place in the list stays', () => {
    const other = { ...ready, type: 'Degraded' };
    expect(setCondition([ready, other], { ...ready, status: 'Unknown' }, later)).toEqual([
      { ...ready, status: 'Unknown', lastTransitionTime: '2026-06-02T00:00:00.000Z' },
      other,
    ]);
  });

  test('what was there is not changed', () => {
    const before = Object.freeze([Object.freeze({ ...ready })]);
    setCondition(before, { ...ready, status: 'False' }, later);
    expect(before).toEqual([ready]);
  });

  test('each type is there once, however often it is set', () => {
    const update = fc.record({
      type: fc.constantFrom('Ready', 'Reconciling', 'Stalled'),
      status: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
    });
    fc.assert(
      fc.property(fc.array(update, { maxLength: 20 }), (updates) => {
        let conditions: readonly Condition[] = [];
        updates.forEach((u, at) => {
          conditions = setCondition(conditions, { ...u, reason: 'R', message: 'm', observedGeneration: 1 }, at);
        });
        expect(conditions.length).toBe(new Set(updates.map((u) => u.type)).size);
        for (const condition of conditions) {
          const own = updates.map((u, at) => ({ ...u, at })).filter((u) => u.type === condition.type);
          expect(condition.status).toBe(own.at(-1)?.status);
          const changed = own.filter((u, i) => u.status !== own[i - 1]?.status).at(-1);
          expect(Date.parse(condition.lastTransitionTime)).toBe(changed?.at);
        }
      }),
    );
  });
});

describe('reading conditions', () => {
  test('by their type', () => {
    expect(getCondition([ready], 'Ready')).toBe(ready);
    expect(getCondition([ready], 'Stalled')).toBeUndefined();
  });

  test('only True is true: unknown and absent are not', () => {
    expect(isTrue([ready], 'Ready')).toBe(true);
    expect(isTrue([{ ...ready, status: 'Unknown' }], 'Ready')).toBe(false);
    expect(isTrue([], 'Ready')).toBe(false);
  });

  test('one can be taken away', () => {
    const other = { ...ready, type: 'Degraded' };
    expect(removeCondition([ready, other], 'Ready')).toEqual([other]);
  });
});

describe('the hygiene of a status', () => {
  const stalled: Condition = { ...ready, type: 'Stalled', status: 'False', reason: 'Idle' };

  test('a clean one has no faults', () => {
    expect(conditionFaults([ready, stalled], 1)).toEqual([]);
    expect(conditionFaults([{ ...ready, observedGeneration: 9 }])).toEqual([]);
    expect(conditionFaults([{ ...ready, status: 'False', message: 'web is Held' }])).toEqual([]);
  });

  test.each<[Condition[], string]>([
    [[], 'Ready is missing: a status always says it'],
    [[ready, ready], 'Ready is there twice'],
    [[ready, { ...stalled, type: 'is stalled' }], 'the type "is stalled" is not one CamelCase word'],
    [[{ ...ready, reason: '' }], 'Ready: the reason "" is not one CamelCase word'],
    [[{ ...ready, reason: 'notCamel' }], 'Ready: the reason "notCamel" is not one CamelCase word'],
    [[{ ...ready, reason: 'Two Words' }], 'Ready: the reason "Two Words" is not one CamelCase word'],
    [[{ ...ready, status: 'Unknown' }], 'Ready is Unknown and no message says why'],
    [[{ ...ready, message: 'spaces ' }], 'Ready: the message has white space around it'],
    [[{ ...ready, lastTransitionTime: 'now' }], 'Ready: "now" is no instant of ISO 8601 in UTC'],
    [[{ ...ready, lastTransitionTime: '2026-06-01' }], 'Ready: "2026-06-01" is no instant of ISO 8601 in UTC'],
    [[{ ...ready, observedGeneration: 2 }], 'Ready has seen generation 2, which is yet to come after 1'],
    [[ready, { ...stalled, status: 'True' }], 'Ready and Stalled are both True: what waits for a person is not ready'],
    [
      [ready, { ...ready, type: 'Reconciling' }],
      'Ready and Reconciling are both True: what is still being worked on is not ready',
    ],
    [
      [
        { ...ready, status: 'False', message: 'x' },
        { ...ready, type: 'Reconciling' },
        { ...ready, type: 'Stalled' },
      ],
      'Reconciling and Stalled are both True: what goes on is not stuck',
    ],
  ])('%j: %s', (conditions, fault) => {
    expect(conditionFaults(conditions, 1)).toEqual([fault]);
  });
});
