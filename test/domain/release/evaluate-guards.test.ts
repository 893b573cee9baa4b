import { describe, expect, test } from 'vitest';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import type { Observation, ResolvedLine } from '../../../src/domain/release/observation.ts';
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
  tagged,
  target,
  unread,
  viewOf,
  workload,
} from './world.ts';

const OLD = image('v6-latest', 'a0');

type SpecOverrides = Parameters<typeof spec>[0];

function roll(from: string, line: ResolvedLine, overrides: SpecOverrides = {}, images: Observation['images'] = {}) {
  const of = spec({ targets: [target('web-1')], ...overrides });
  return evaluate(start(of), observe(of, line, { 'web-1': managed(from) }, { images }), NOW);
}

function facts(reference: string, version: string | null): Observation['images'] {
  return { [reference]: { kind: 'read', value: { version, label: 'x', revision: null } } };
}

const LINE = { track: { line: '.*' } };

describe('the major guard', () => {
  test('holds a target back from another major, in either direction', () => {
    const up = roll(image('v6.9.0', 'a0'), tagged('v7.0.0', 'b1'), LINE);
    expect(viewOf(up)).toMatchObject({
      phase: 'Held',
      reason: 'MajorChange',
      message: `v7.0.0 is major 7, the target was last given major 6 (${image('v6.9.0', 'a0')}); set allowMajorChange: true on the target and apply the spec, or holdfast pin release/hive v7.0.0`,
    });
    expect(planned(up)).toEqual([]);
    const down = roll(image('v6-latest', 'a0'), resolved('b1', { tag: 'v5-latest', version: '5.0.0' }));
    expect(viewOf(down)).toMatchObject({ phase: 'Held', reason: 'MajorChange' });
  });

  test('lets a target through that allows it', () => {
    const targets = [target('web-1', { allowMajorChange: true })];
    expect(planned(roll(image('v6.9.0', 'a0'), tagged('v7.0.0', 'b1'), { ...LINE, targets }))).toEqual(['web-1']);
  });

  test('does not bind a pin', () => {
    expect(planned(roll(image('v6.9.0', 'a0'), tagged('v5.0.0', 'b1'), { pin: 'v5.0.0' }))).toEqual(['web-1']);
    expect(planned(roll(`${REPOSITORY}:edge@${digest('a0')}`, tagged('v5.0.0', 'b1'), { pin: 'v5.0.0' }))).toEqual([
      'web-1',
    ]);
  });

  test('believes the image before its tag', () => {
    const from = image('v6-latest', 'a0');
    const result = roll(from, resolved('b1'), {}, facts(from, '5.9.0'));
    expect(viewOf(result)).toMatchObject({ phase: 'Held', reason: 'MajorChange' });
    expect(viewOf(result).message).toContain('was last given major 5');
  });

  test('takes the major from the tag where the image is gone or does not tell', () => {
    expect(planned(roll(OLD, resolved('b1'), {}, { [OLD]: unread('missing') }))).toEqual(['web-1']);
    expect(planned(roll(OLD, resolved('b1'), {}, facts(OLD, null)))).toEqual(['web-1']);
    expect(planned(roll(OLD, resolved('b1', { version: null })))).toEqual(['web-1']);
    expect(planned(roll(OLD, resolved('b1', { version: null, tag: 'v7-latest' })))).toEqual([]);
  });

  test.each([
    ['what runs', image('edge', 'a0'), resolved('b1'), image('edge', 'a0'), 'v6-latest'],
    ['what is wanted', OLD, resolved('b1', { tag: 'edge', version: null, label: 'edge-b1' }), 'edge-b1', 'edge'],
  ])('holds where the version of %s is not known, and names the way out', (_what, from, line, which, tag) => {
    const result = roll(from, line);
    expect(viewOf(result)).toMatchObject({
      phase: 'Held',
      reason: 'UnknownVersion',
      message: `neither tag nor labels of ${which} tell its version, so a major change cannot be ruled out; give images the label org.opencontainers.image.version, or set allowMajorChange: true on the target and apply the spec, or holdfast pin release/hive ${tag}@${digest('b1')}`,
    });
    expect(planned(result)).toEqual([]);
  });

  test('needs no versions where a major change is allowed', () => {
    const targets = [target('web-1', { allowMajorChange: true })];
    expect(planned(roll(image('edge', 'a0'), resolved('b1', { tag: 'edge', version: null }), { targets }))).toEqual([
      'web-1',
    ]);
  });

  test('judges a target that was never written to by what was found there', () => {
    const of = spec({ targets: [target('web-1')], track: { tag: 'v7-latest' } });
    const line = resolved('b1', { tag: 'v7-latest', version: '7.0.0' });
    const result = evaluate(start(of), observe(of, line, { 'web-1': workload(OLD) }), NOW);
    expect(viewOf(result)).toMatchObject({ phase: 'Held', reason: 'MajorChange' });
  });
});

describe('on a semver line', () => {
  const line = { track: { line: '^v6\\.' } };

  test('a target that is ahead is never downgraded without a pin', () => {
    const from = image('v6.10.0', 'a0');
    const result = roll(from, tagged('v6.9.0', 'b1'), line);
    expect(viewOf(result)).toMatchObject({
      phase: 'Held',
      reason: 'Downgrade',
      message: `the target is ahead: ${from} (6.10.0) is newer than v6.9.0, the newest of ${REPOSITORY} ^v6\\.; holdfast pin release/hive v6.9.0 goes back on purpose`,
    });
    expect(planned(roll(from, tagged('v6.9.0', 'b1'), { pin: 'v6.9.0' }))).toEqual(['web-1']);
  });

  test('a tag that was pushed again may be rolled', () => {
    expect(planned(roll(image('v6.9.0', 'a0'), tagged('v6.9.0', 'b1'), line))).toEqual(['web-1']);
  });

  test('allowing majors does not allow going back', () => {
    const targets = [target('web-1', { allowMajorChange: true })];
    expect(viewOf(roll(image('v6.9.0', 'a0'), tagged('v5.0.0', 'b1'), { ...line, targets })).reason).toBe('Downgrade');
  });

  test('an order that cannot be told holds', () => {
    const result = roll(OLD, tagged('v6.9.0', 'b1'), line);
    expect(viewOf(result)).toMatchObject({
      phase: 'Held',
      reason: 'UnknownVersion',
      message: `neither tag nor labels of ${OLD} tell its version, so going back to an older version cannot be ruled out; give images the label org.opencontainers.image.version, or holdfast pin release/hive v6.9.0`,
    });
    const targets = [target('web-1', { allowMajorChange: true })];
    const unknown = roll(image('v6.9.0', 'a0'), resolved('b1', { tag: 'x', version: null, label: 'x-1' }), {
      ...line,
      targets,
    });
    expect(viewOf(unknown).message).toContain('neither tag nor labels of x-1 tell');
    const noFrom = roll(image('edge', 'a0'), tagged('v6.9.0', 'b1'), { ...line, targets });
    expect(viewOf(noFrom).reason).toBe('UnknownVersion');
  });

  test('a moving tag may go back, since the tag says what is wanted', () => {
    const from = image('v6-latest', 'a0');
    expect(planned(roll(from, resolved('b1', { version: '6.0.0' }), {}, facts(from, '6.5.0')))).toEqual(['web-1']);
  });
});

describe('the blocklist', () => {
  test.each([
    ['digest', digest('b1')],
    ['label', 'v6-b1'],
    ['version, which its label does not tell', '6.1.0'],
    ['version with a v before it', 'v6.1.0'],
    ['digest of one of its platforms', digest('ee')],
  ])('holds an image by its %s until the tag moves', (_by, entry) => {
    const line = resolved('b1', { platformDigests: { 'linux/amd64': digest('ee') } });
    const result = roll(OLD, line, { blocklist: [entry] });
    expect(viewOf(result)).toMatchObject({
      phase: 'Held',
      reason: 'Blocked',
      message: `v6-b1 (${entry}) is blocked by spec.blocklist; held until v6-latest moves; or remove it from spec.blocklist and apply the spec, or holdfast pin release/hive v6-latest@${digest('b1')}`,
    });
    expect(planned(result)).toEqual([]);
  });

  test('holds a semver line until a newer tag comes', () => {
    const result = roll(image('v6.0.0', 'a0'), tagged('v6.1.0', 'b1'), {
      track: { line: '^v6\\.' },
      blocklist: ['v6.1.0'],
    });
    expect(viewOf(result).message).toContain('held until a newer tag is pushed; or');
  });

  test('does not bind a pin', () => {
    expect(planned(roll(OLD, tagged('v6.1.0', 'b1'), { pin: 'v6.1.0', blocklist: ['v6.1.0', digest('b1')] }))).toEqual([
      'web-1',
    ]);
  });

  test('holds a target that runs a blocked image already', () => {
    const result = roll(image('v6-latest', 'b1'), resolved('b1'), { blocklist: [digest('b1')] });
    expect(viewOf(result)).toMatchObject({ phase: 'Held', reason: 'Blocked' });
    expect(viewOf(result).message).toMatch(/^the target runs it, and v6-b1 /);
    expect(
      viewOf(roll(image('v6.1.0', 'b1'), tagged('v6.1.0', 'b1'), { pin: 'v6.1.0', blocklist: ['v6.1.0'] })).phase,
    ).toBe('Current');
  });
});

describe('what failed or was blocked before', () => {
  function blocking(overrides: Partial<ReleaseState['blocked'][number]>): ReleaseState {
    const entry = {
      image: digest('b1'),
      by: 'ana',
      reason: 'leaks',
      at: NOW - HOUR,
      cooldownUntil: 0,
      cooldownOnly: false,
      ...overrides,
    };
    return start(spec(), { blocked: [entry] });
  }
  const observation = observe(spec(), resolved('b1'), fleet(managed(OLD)));

  test('is held with who blocked it and why', () => {
    expect(viewOf(evaluate(blocking({}), observation, NOW)).message).toBe(
      `v6-b1 (${digest('b1')}) is blocked by ana: leaks; held until v6-latest moves; or holdfast unblock release/hive ${digest('b1')}, or holdfast pin release/hive v6-latest@${digest('b1')}`,
    );
  });

  test('is held by a cooldown alone until its end, to the millisecond', () => {
    const state = blocking({ cooldownOnly: true, cooldownUntil: NOW + 1 });
    const before = evaluate(state, observation, NOW);
    expect(viewOf(before)).toMatchObject({
      phase: 'Held',
      reason: 'Cooldown',
      message:
        'v6-b1 failed (leaks) and is tried again at 2026-03-02T12:00:00Z; holdfast retry release/hive tries it now',
    });
    expect(before.evaluation.changesAt).toBe(NOW + 1);
    expect(before.state.blocked).toHaveLength(1);
    const after = evaluate(before.state, observation, NOW + 1);
    expect(planned(after)).toEqual(['web-1', 'web-2', 'web-3']);
    expect(after.state.blocked).toEqual([]);
  });

  test('stays blocked after its cooldown', () => {
    const state = blocking({ cooldownUntil: NOW - 1 });
    const result = evaluate(state, observation, NOW);
    expect(viewOf(result).reason).toBe('Blocked');
    expect(result.evaluation.changesAt).toBeNull();
  });

  test('binds the failed digest alone', () => {
    const state = blocking({ cooldownOnly: true, cooldownUntil: NOW + HOUR });
    const other = observe(spec(), resolved('c2'), fleet(managed(OLD)));
    expect(planned(evaluate(state, other, NOW))).toHaveLength(3);
  });

  test('is found on the objects after a terminate, and stays blocked', () => {
    const bad = {
      image: digest('b1'),
      at: '2026-03-02T10:00:00.000Z',
      reason: 'CrashLoopBackOff',
      cooldownUntil: '2026-03-03T08:00:00.000Z',
    };
    const marked = managed(OLD, {
      marks: marks({ managedBy: 'release/hive', applied: OLD, passed: OLD, blocked: [bad] }),
    });
    const seen = observe(spec(), resolved('b1'), { ...fleet(managed(OLD)), 'web-2': marked });
    const result = evaluate(start(), seen, NOW);
    expect(result.evaluation.targets.map((t) => t.reason)).toEqual(['Blocked', 'Blocked', 'Blocked']);
    expect(result.state.blocked).toEqual([
      {
        image: digest('b1'),
        by: 'holdfast (found on the object)',
        reason: 'CrashLoopBackOff',
        at: Date.parse(bad.at),
        cooldownUntil: Date.parse(bad.cooldownUntil),
        cooldownOnly: false,
      },
    ]);
    expect(evaluate(result.state, seen, NOW).state.blocked).toEqual(result.state.blocked);
  });

  test('is not found again where a person unblocked it since', () => {
    const at = '2026-03-02T10:00:00.000Z';
    const bad = { image: digest('b1'), at, reason: 'x' };
    const marked = managed(OLD, {
      marks: marks({ managedBy: 'release/hive', applied: OLD, passed: OLD, blocked: [bad] }),
    });
    const seen = observe(spec(), resolved('b1'), fleet(marked));
    const unblocked = (when: number) => start(spec(), { unblocked: { [digest('b1')]: when } });
    expect(planned(evaluate(unblocked(Date.parse(at)), seen, NOW))).toHaveLength(3);
    expect(planned(evaluate(unblocked(Date.parse(at) - 1), seen, NOW))).toEqual([]);
  });

  test('a cooldown that is over is not taken in from the objects', () => {
    const over = {
      image: digest('b1'),
      at: '2026-03-01T10:00:00.000Z',
      reason: 'x',
      cooldownUntil: '2026-03-02T12:00:00.000Z',
      cooldownOnly: true as const,
    };
    const marked = managed(OLD, {
      marks: marks({ managedBy: 'release/hive', applied: OLD, passed: OLD, blocked: [over] }),
    });
    const seen = observe(spec(), resolved('b1'), fleet(marked));
    expect(viewOf(evaluate(start(), seen, NOW - 1)).reason).toBe('Cooldown');
    expect(planned(evaluate(start(), seen, NOW))).toHaveLength(3);
  });

  test('outweighs a cooldown of the same image', () => {
    const state = blocking({});
    const [entry] = state.blocked;
    if (!entry) throw new Error('no entry');
    const cooling = { ...entry, image: 'v6-b1', cooldownOnly: true, cooldownUntil: NOW + HOUR };
    expect(viewOf(evaluate({ ...state, blocked: [cooling, entry] }, observation, NOW)).reason).toBe('Blocked');
  });
});

describe('H-A17', () => {
  /** Run 1 has rolled v1.4.1 (D1) back on web-1 and blocked its digest, so the fleet runs v1.4.0. */
  const of = spec({ track: { line: '^v1\\.' } });
  const before = image('v1.4.0', 'd0');
  const after = start(of, {
    blocked: [
      {
        image: digest('d1'),
        by: 'holdfast',
        reason: 'v1.4.1 on web-1: CrashLoopBackOff',
        at: NOW - HOUR,
        cooldownUntil: NOW + 19 * HOUR,
        cooldownOnly: false,
      },
    ],
  });
  const resolvesTo = (line: ResolvedLine) => observe(of, line, fleet(managed(before)));

  test('H-A17 the rolled-back version is not deployed again', () => {
    const result = evaluate(after, resolvesTo(tagged('v1.4.1', 'd1')), NOW);
    expect(planned(result)).toEqual([]);
    expect(result.evaluation.targets.map((t) => t.reason)).toEqual(['Blocked', 'Blocked', 'Blocked']);
    // Nor when the cooldown is over.
    expect(planned(evaluate(after, resolvesTo(tagged('v1.4.1', 'd1')), NOW + 30 * HOUR))).toEqual([]);
  });

  test('H-A17 a tag that was pushed again with another digest may be tried', () => {
    const result = evaluate(after, resolvesTo(tagged('v1.4.1', 'd2')), NOW);
    expect(planned(result)).toEqual(['web-1', 'web-2', 'web-3']);
    expect(result.evaluation.plan.items[0]).toMatchObject({ to: image('v1.4.1', 'd2') });
  });

  test('H-A17 the bad digest is not rolled under any other tag', () => {
    const result = evaluate(after, resolvesTo(tagged('v1.4.2', 'd1')), NOW);
    expect(planned(result)).toEqual([]);
    expect(viewOf(result)).toMatchObject({ phase: 'Held', reason: 'Blocked' });
  });
});
