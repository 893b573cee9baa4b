import { expect, test } from 'vitest';
import { recordLostRollout } from '../../../src/domain/release/record-decision.ts';
import { promoted, rollout } from './rollout-world.ts';
import { NOW, start } from './world.ts';

test('a rollout that was ended from outside stays on record, with where to look for what it did', () => {
  const lost = rollout([promoted('web-1')]);
  expect(recordLostRollout(start(), lost, NOW).evidence).toEqual([
    {
      at: NOW,
      kind: 'outcome',
      message: `rollout ${lost.id} was ended from outside before it could tell its outcome: what it has done is read from the targets`,
      what: lost.id,
      outcome: 'lost',
    },
  ]);
});
