import { describe, expect, test } from 'vitest';
import { describeChanges } from '../../../src/starters/release/changes.ts';
import { releaseStatus, target } from './release-status.ts';

const rolling = { id: 'hive-1', planHash: 'sha256:ab', stopped: null };

describe('lines of a release that is followed', () => {
  test('nothing new is no line, whatever messages and clocks do', () => {
    const before = releaseStatus();
    const after = releaseStatus({
      asOf: '2026-11-30T06:00:01.000Z',
      targets: [target('canary', { message: 'x' }), target('north')],
    });
    expect(describeChanges(before, after)).toEqual([]);
  });

  test('each step of a target is a line with its reason', () => {
    const before = releaseStatus();
    const soaking = target('canary', { phase: 'RollingOut', step: 'Soaking', reason: 'Soaking', message: 'v7 soaks' });
    const back = target('canary', {
      phase: 'RolledBack',
      reason: 'CrashLoopBackOff',
      message: 'container hive crashes',
    });
    const between = releaseStatus({ phase: 'RollingOut', rollout: rolling, targets: [soaking, target('north')] });
    expect(describeChanges(before, between)).toEqual([
      'canary: RollingOut/Soaking, was Current: v7 soaks',
      'rollout hive-1 begins, plan sha256:ab',
    ]);
    const ended = {
      id: 'hive-1',
      outcome: 'RolledBack' as const,
      message: '0 of 2 targets promoted',
      startedAt: '2026-11-30T06:00:00.000Z',
      endedAt: '2026-11-30T06:01:00.000Z',
      targets: [],
    };
    const after = releaseStatus({ phase: 'Degraded', targets: [back, target('north')], lastRollouts: [ended] });
    expect(describeChanges(between, after)).toEqual([
      'canary: RolledBack (CrashLoopBackOff), was RollingOut: container hive crashes',
      'rollout hive-1 ended: RolledBack: 0 of 2 targets promoted',
    ]);
  });

  test('a rollout that stops is told once', () => {
    const before = releaseStatus({ phase: 'RollingOut', rollout: rolling });
    const after = releaseStatus({ phase: 'RollingOut', rollout: { ...rolling, stopped: 'canary failed' } });
    expect(describeChanges(before, after)).toEqual(['rollout hive-1 stops: canary failed']);
    expect(describeChanges(after, after)).toEqual([]);
  });

  test('what a person is waited for is told with what to do', () => {
    const waiting = { for: 'an approval of v7', since: null, who: 'person' as const, next: 'holdfast approve' };
    const after = releaseStatus({ phase: 'AwaitingApproval', waiting });
    expect(describeChanges(releaseStatus(), after)).toEqual(['waits for an approval of v7; next: holdfast approve']);
  });

  test('the first look tells what is not as wanted', () => {
    const held = target('north', { phase: 'Held', reason: 'MajorChange', message: 'v7 is another major' });
    expect(describeChanges(null, releaseStatus({ targets: [target('canary'), held] }))).toEqual([
      'north: Held (MajorChange): v7 is another major',
    ]);
  });
});
