import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { span, toSeconds } from '../../../src/starters/output/instants.ts';
import { table } from '../../../src/starters/output/table.ts';
import { planExitCode, planView, type PlanReport } from '../../../src/starters/release/plan-view.ts';
import { shortImage } from '../../../src/starters/release/short-image.ts';
import { statusView } from '../../../src/starters/release/status-view.ts';
import { listView } from '../../../src/starters/release/list-view.ts';
import { releaseStatus, target } from './release-status.ts';

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;

describe('tables', () => {
  test('columns are aligned, colours do not count, and lines end without blanks', () => {
    const text = table(
      ['A', 'B'],
      [
        ['\u001b[31mlong cell\u001b[39m', 'x'],
        ['y', ''],
      ],
    );
    expect(stripVTControlCharacters(text)).toBe('A          B\nlong cell  x\ny');
  });

  test('a cell of several lines shows the first', () => {
    expect(table(['A'], [['one\ntwo']])).toBe('A\none …');
  });

  test('spans are said as people say them', () => {
    expect([0, 42_000, 185_000, 7_800_000, 7_200_000, 356_400_000].map(span)).toEqual([
      '0s',
      '42s',
      '3m5s',
      '2h10m',
      '2h',
      '4d3h',
    ]);
    expect(toSeconds('2026-11-30T06:12:03.123Z')).toBe('2026-11-30T06:12:03Z');
  });

  test('images are short where there is a digest, and whole where there is nothing to cut', () => {
    expect(shortImage(`a/b:v6@${digest('a')}`)).toBe('v6@aaaaaaaaaaaa');
    expect(shortImage(`a/b@${digest('a')}`)).toBe('@aaaaaaaaaaaa');
    expect(shortImage('a/b')).toBe('a/b');
    expect(shortImage(null)).toBe('-');
  });
});

describe('status', () => {
  test('says what it waits for, since when, who can lift it and what is next', () => {
    const waiting = {
      for: 'an approval of v7',
      since: '2026-11-30T05:58:00.000Z',
      who: 'person' as const,
      next: 'holdfast approve',
    };
    const view = statusView(releaseStatus({ phase: 'AwaitingApproval', waiting }));
    expect(view).toContain('  Waits for:   an approval of v7\n');
    expect(view).toContain('    since:     2026-11-30T05:58:00Z, 2m ago\n');
    expect(view).toContain('    lifted by: person\n');
    expect(view).toContain('    next:      holdfast approve\n');
  });

  test('a mode that is held down says by what', () => {
    const view = statusView(releaseStatus({ effectiveMode: 'Shadow', modeReason: 'CronJob ops/nightly is active' }));
    expect(view).toContain('Enforce, held down to Shadow: CronJob ops/nightly is active');
  });

  test('decisions of people are there with who, when and why', () => {
    const who = { by: 'ada', reason: 'incident 42', at: '2026-11-30T05:00:00.000Z' };
    const view = statusView(
      releaseStatus({
        paused: who,
        pinned: { ...who, image: 'v6.1.4' },
        blocked: [{ ...who, image: digest('b'), cooldownUntil: '2026-12-01T00:00:00.000Z', cooldownOnly: false }],
      }),
    );
    expect(view).toContain('Paused:      by ada at 2026-11-30T05:00:00Z (incident 42)');
    expect(view).toContain('Pinned:      v6.1.4 by ada at 2026-11-30T05:00:00Z (incident 42)');
    expect(view).toContain(
      `${digest('b')} by ada at 2026-11-30T05:00:00Z (incident 42); not tried again before 2026-12-01T00:00:00Z`,
    );
  });

  test('a message with commands is there in full, once', () => {
    const message = 'ROLLBACK DID NOT RECOVER; look at it:\n  kubectl describe';
    const view = statusView(releaseStatus({ targets: [target('canary', { phase: 'Failed', message })] }));
    expect(view).toContain(`canary: ${message}`);
    expect(view.split('kubectl describe')).toHaveLength(2);
  });
});

describe('get', () => {
  test('a release that does not answer is listed as such, not left out', () => {
    const view = listView([
      { name: 'hive', status: releaseStatus(), problem: null },
      { name: 'mute', status: null, problem: 'no worker answered' },
    ]);
    expect(view).toMatch(/^release\/hive +Current +Enforce +2\/2 +v6-aaaaaaaaaaaa +-$/m);
    expect(view).toMatch(/^release\/mute +no answer .*no worker answered$/m);
  });
});

describe('plan', () => {
  const item = {
    target: 'canary',
    action: 'roll',
    from: 'a/b:v6',
    to: 'a/b:v7',
    toLabel: 'v7',
    why: 'update',
  } as const;

  function report(more: Partial<PlanReport> = {}): PlanReport {
    return {
      kind: 'Release',
      name: 'hive',
      mode: 'Shadow',
      effectiveMode: 'Shadow',
      modeReason: null,
      registryReachable: true,
      targets: [
        target('canary', { phase: 'Pending' }),
        target('north', { phase: 'Held', reason: 'MajorChange', message: 'v7' }),
      ].map(({ label, ...view }) => ({ ...view, desiredLabel: label })),
      plan: { release: 'hive', items: [item], terms: '' },
      planHash: 'sha256:ab',
      changesAt: null,
      ...more,
    };
  }

  function views(...phases: PlanReport['targets'][number]['phase'][]): PlanReport['targets'] {
    return phases.map((phase, index) => ({
      ...target(`t${index}`, { phase }),
      desiredLabel: null,
    }));
  }

  test('is a diff in the order of the rollout, and says why the rest is held', () => {
    const view = planView(report());
    expect(view).toContain('release/hive: 1 of 2 targets, plan sha256:ab\n');
    expect(view).toContain('  1. canary (canary): update  Deployment shop/canary\n     - a/b:v6\n     + a/b:v7  v7\n');
    expect(view).toMatch(/north +Held +MajorChange +v7/);
  });

  test.each<[string, Partial<PlanReport>, string]>([
    ['everything runs what is wanted', {}, 'nothing to do'],
    [
      'nothing could be read',
      { targets: views('Unknown', 'Unknown') },
      'undetermined: 2 of 2 targets could not be read',
    ],
    [
      'one could not be read',
      { targets: views('Current', 'Unknown') },
      'undetermined: 1 of 2 targets could not be read',
    ],
    ['the registry could not be read', { registryReachable: false }, 'undetermined: the registry could not be read'],
    ['a target is held', { targets: views('Current', 'Held') }, 'nothing to roll now, and why is below'],
    [
      'Observe was asked for',
      { mode: 'Observe', effectiveMode: 'Observe', targets: views('Pending') },
      'no plan, since Observe makes none',
    ],
    [
      'something is planned and something could not be read',
      { plan: { release: 'hive', items: [item], terms: '' }, targets: views('Pending', 'Unknown') },
      '1 of 2 targets, plan sha256:ab; 1 could not be read',
    ],
  ])('the headline is true where %s', (_, more, headline) => {
    const empty = { plan: { release: 'hive', items: [], terms: '' }, targets: views('Current', 'Current') };
    expect(planView(report({ ...empty, ...more })).split('\n')[0]).toBe(`release/hive: ${headline}`);
  });

  test('changes are 6, nothing to do is 0, and nothing that could be read is neither', () => {
    const none = { plan: { release: 'hive', items: [], terms: '' }, targets: [] };
    expect(planExitCode(report())).toBe(6);
    expect(planExitCode(report(none))).toBe(0);
    expect(planExitCode(report({ ...none, registryReachable: false }))).toBe(3);
    const unknown = report().targets.map((view) => ({ ...view, phase: 'Unknown' as const }));
    expect(planExitCode(report({ ...none, targets: unknown }))).toBe(3);
  });
});
