import { describe, expect, test } from 'vitest';
import type { ReleaseStatus } from '../../../src/domain/release/status.ts';
import type { Waiting } from '../../../src/domain/release/waiting.ts';
import { outcomeOf, waitsForPerson } from '../../../src/starters/release/outcome.ts';
import { releaseStatus, target } from './release-status.ts';

function waiting(who: Waiting['who']): Waiting {
  return { for: 'something', since: null, who, next: 'something else' };
}

describe('exit code of run --wait', () => {
  test.each<[string, number, Partial<ReleaseStatus>]>([
    ['every target Current', 0, {}],
    [
      'a plan in Shadow, which was all that was asked for',
      0,
      { phase: 'Pending', mode: 'Shadow', waiting: waiting('person') },
    ],
    ['a plan in Observe', 0, { phase: 'Pending', mode: 'Observe', waiting: waiting('person') }],
    ['Enforce held down by an incumbent', 4, { phase: 'Pending', effectiveMode: 'Shadow', waiting: waiting('person') }],
    ['an approval', 4, { phase: 'AwaitingApproval', waiting: waiting('person') }],
    ['suspended', 4, { phase: 'Suspended', waiting: waiting('person') }],
    ['held by what a person can lift', 4, { phase: 'Held', waiting: waiting('person') }],
    ['held until upstream publishes', 1, { phase: 'Held', waiting: waiting('upstream') }],
    ['held by time', 1, { phase: 'Held', waiting: waiting('time') }],
    ['held because nodes could not be read', 3, { phase: 'Held', waiting: waiting('outside') }],
    ['the registry could not be read', 3, { phase: 'Unknown', waiting: waiting('outside') }],
    [
      'rolled back',
      5,
      { phase: 'Degraded', targets: [target('canary', { phase: 'RolledBack', reason: 'CrashLoopBackOff' })] },
    ],
    [
      'a rollback that did not recover outweighs one that did',
      1,
      {
        phase: 'Degraded',
        targets: [
          target('canary', { phase: 'RolledBack', reason: 'Unhealthy' }),
          target('north', { phase: 'Failed', reason: 'RollbackDidNotRecover' }),
        ],
      },
    ],
    [
      'not measured is not failed',
      3,
      { phase: 'Degraded', targets: [target('canary', { phase: 'Failed', reason: 'Unmeasured' })] },
    ],
  ])('%s is %i', (_, exitCode, status) => {
    expect(outcomeOf(releaseStatus(status)).exitCode).toBe(exitCode);
  });

  test('says which target, what it is and why', () => {
    const targets = [
      target('canary'),
      target('north', { phase: 'RolledBack', reason: 'Unhealthy', message: 'answered 500' }),
    ];
    expect(outcomeOf(releaseStatus({ phase: 'Degraded', targets })).message).toBe('north is RolledBack: answered 500');
  });

  test('a rollout is left only where it goes on by a person alone', () => {
    expect(waitsForPerson(releaseStatus({ phase: 'AwaitingApproval', waiting: waiting('person') }))).toBe(true);
    expect(waitsForPerson(releaseStatus({ phase: 'RollingOut', waiting: waiting('person') }))).toBe(true);
    expect(waitsForPerson(releaseStatus({ phase: 'RollingOut', waiting: waiting('rollout') }))).toBe(false);
    expect(waitsForPerson(releaseStatus({ phase: 'Pending', waiting: waiting('person') }))).toBe(false);
  });
});
