import { expect, test } from 'vitest';
import type { ReleaseHistory } from '../../../src/domain/release/history.ts';
import { historyView } from '../../../src/starters/release/history-view.ts';

const history: ReleaseHistory = {
  kind: 'Release',
  name: 'hive',
  rollouts: 3,
  rollbacks: 1,
  rollout: null,
  lastRollouts: [
    {
      id: 'hive-3',
      startedAt: '2026-11-30T06:00:00.000Z',
      endedAt: '2026-11-30T06:12:00.000Z',
      outcome: 'Promoted',
      message: '2 of 2 targets promoted',
      targets: [],
    },
  ],
  evidence: [
    { at: '2026-11-30T05:59:00Z', kind: 'decision', by: 'ada', message: 'approves v6-b1 on north (plan sha256:ab)' },
    { at: '2026-11-30T06:01:00Z', kind: 'override', by: 'bob', message: 'tries north again: it is sick' },
    { at: '2026-11-30T06:02:00Z', kind: 'decision', outcome: 'refused', message: 'abort by signal: by: expected' },
    { at: '2026-11-30T06:12:00Z', kind: 'outcome', outcome: 'Promoted', message: 'rollout hive-3 ended' },
  ],
  dropped: 7,
};

test('history shows rollouts, and who decided what, the newest first', () => {
  expect(historyView(history)).toBe(
    [
      'ROLLOUT  STARTED               TOOK  OUTCOME   MESSAGE',
      'hive-3   2026-11-30T06:00:00Z  12m   Promoted  2 of 2 targets promoted',
      "2 older ones are in Temporal's own history",
      '',
      'WHEN                  WHO  DECISION  WHAT',
      '2026-11-30T06:02:00Z  -    refused   abort by signal: by: expected',
      '2026-11-30T06:01:00Z  bob  override  tries north again: it is sick',
      '2026-11-30T05:59:00Z  ada  accepted  approves v6-b1 on north (plan sha256:ab)',
      '7 entries between the first and the last are left out',
    ].join('\n'),
  );
});

test('a release that rolled nothing and about which nobody decided has no history', () => {
  expect(historyView({ ...history, rollouts: 0, lastRollouts: [], evidence: [] })).toBe('');
});

test('a rollout that is under way stands first, the first one of a release too', () => {
  const rollout = {
    id: 'hive-1',
    planHash: 'sha256:ab',
    startedAt: '2026-11-30T06:00:00.000Z',
    message: '1 of 2 targets promoted so far',
    targets: [{ name: 'canary', phase: 'Current', from: 'a/b:v6', to: 'a/b:v7', reason: '' }],
  } as const;
  expect(historyView({ ...history, rollouts: 1, rollout, lastRollouts: [], evidence: [] })).toBe(
    [
      'ROLLOUT   STARTED               TOOK  OUTCOME    MESSAGE',
      'hive-1    2026-11-30T06:00:00Z        under way  1 of 2 targets promoted so far',
      '  canary                              Current    v6 to v7',
    ].join('\n'),
  );
});
