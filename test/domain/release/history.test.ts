import { expect, test } from 'vitest';
import { applyAction } from '../../../src/domain/release/apply-action.ts';
import { parseAction } from '../../../src/domain/release/actions.ts';
import { absorbOutcome } from '../../../src/domain/release/absorb-outcome.ts';
import { releaseHistory } from '../../../src/domain/release/history.ts';
import { recordRefusal } from '../../../src/domain/core/record-refusal.ts';
import { promoted, rolling, rollout, wentBack } from './rollout-world.ts';
import { NOW, spec, start } from './world.ts';

const at = new Date(NOW).toISOString().replace('.000Z', 'Z');

test('history tells who decided what and why, what was refused, and how rollouts ended', () => {
  const parsed = parseAction('pause', { by: 'ana', reason: 'password=hunter2 leaked' });
  if (!parsed.ok) throw new Error(parsed.message);
  const paused = applyAction(start(spec()), parsed.action, NOW, null);
  if (!paused.ok) throw new Error(paused.message);
  const refused = recordRefusal(paused.state, 'approve by signal: nothing waits', NOW);
  const history = releaseHistory(absorbOutcome(refused, rollout([wentBack('web-1')]), NOW + 1_000), null);

  expect(history).toMatchObject({
    kind: 'Release',
    name: 'hive',
    rollouts: 1,
    rollbacks: 1,
    lastRollouts: [{ id: 'hive-1', outcome: 'RolledBack', startedAt: at }],
    dropped: 0,
  });
  expect(history.evidence.map(({ kind, by, outcome }) => [kind, by, outcome])).toEqual([
    ['decision', 'ana', undefined],
    ['decision', undefined, 'refused'],
    ['outcome', undefined, 'RolledBack'],
  ]);
  expect(history.evidence[0]).toMatchObject({ at, message: expect.stringContaining('[redacted]') as string });
  expect(JSON.stringify(history)).not.toContain('hunter2');
});

test('a rollout that is under way is in it, with what it has come to so far', () => {
  const restoring = rolling('web-2', { step: 'Restoring' });
  const living = rollout([promoted('web-1'), restoring, rolling('web-3', { step: 'Waiting' })]);
  expect(releaseHistory(start(spec()), living)).toMatchObject({
    lastRollouts: [],
    rollout: {
      id: 'hive-1',
      planHash: living.planHash,
      startedAt: at,
      message: '1 of 3 targets promoted so far',
      targets: [
        { name: 'web-1', phase: 'Current' },
        // As status shows it.
        { name: 'web-2', phase: 'Rolling' },
      ],
    },
  });
  expect(releaseHistory(start(spec()), null).rollout).toBeNull();
});

test('a rollout that is under way and stopped says why, and why each target ended', () => {
  const stopped = { target: 'web-1', reason: 'CrashLoopBackOff', message: 'crash loop', cause: 'measured' } as const;
  const living = rollout([wentBack('web-1'), rolling('web-2', { step: 'Soaking' })], { stopped });
  expect(releaseHistory(start(spec()), living).rollout).toMatchObject({
    message: '0 of 2 targets promoted so far; crash loop',
    targets: [
      { name: 'web-1', phase: 'RolledBack', reason: 'CrashLoopBackOff' },
      { name: 'web-2', phase: 'Soaking', reason: '' },
    ],
  });
});
