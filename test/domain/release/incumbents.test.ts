import { expect, test } from 'vitest';
import { read } from '../../../src/domain/core/verdict.ts';
import { incumbentHolds, incumbentsOf } from '../../../src/domain/release/incumbents.ts';
import { spec, unread } from './world.ts';

test('an incumbent is looked for in its own cluster, else in that of the release', () => {
  const incumbents = [
    { namespace: 'ops', name: 'nightly' },
    { namespace: 'ops', name: 'weekly', cluster: 'west' },
  ];
  expect(incumbentsOf(spec({ cluster: 'east', incumbents })).map((i) => `${i.name} in ${i.cluster}`)).toEqual([
    'nightly in east',
    'weekly in west',
  ]);
});

test('an incumbent holds while it is active, or not known to be idle', () => {
  const of = (state: Parameters<typeof incumbentHolds>[0][number]['state']) =>
    incumbentHolds([{ name: 'CronJob ops/nightly', state }]);
  expect(of(read('absent'))).toEqual([]);
  expect(of(read('suspended'))).toEqual([]);
  expect(of(read('active'))).toEqual([expect.stringContaining('CronJob ops/nightly')]);
  expect(of(unread('denied', 'CronJob ops/nightly'))).toEqual([expect.stringContaining('could not be read: denied')]);
  expect(incumbentHolds([], 1)).toHaveLength(1);
});
