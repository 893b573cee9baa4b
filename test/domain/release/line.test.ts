import { describe, expect, test } from 'vitest';
import { lineFor, linesOf, onDefaultLine, parsePin } from '../../../src/domain/release/line.ts';
import { releaseSpec, type TargetSpec } from '../../../src/domain/release/spec.ts';
import { digest, REPOSITORY, spec, target } from './world.ts';

function first(of: ReturnType<typeof spec>): TargetSpec {
  const [t] = of.targets;
  if (!t) throw new Error('no target');
  return t;
}

function lineOf(overrides: Parameters<typeof spec>[0], own: Parameters<typeof target>[1], personPin: string | null) {
  const of = spec({ ...overrides, targets: [target('web-1', own)] });
  return lineFor(of, first(of), personPin);
}

describe('the line of a target', () => {
  test('is the default one unless it has its own', () => {
    expect(lineOf({}, {}, null)).toEqual({
      key: `${REPOSITORY}:v6-latest`,
      repository: REPOSITORY,
      track: { tag: 'v6-latest', prereleases: false },
      pin: null,
      pinnedBy: null,
      allowsBlocked: false,
    });
    expect(lineOf({}, { image: 'other/app' }, null)).toMatchObject({ key: 'other/app:v6-latest' });
    expect(lineOf({}, { track: { line: '^v5\\.' } }, null)).toMatchObject({
      key: `${REPOSITORY} ^v5\\.`,
      track: { line: '^v5\\.', prereleases: false },
    });
    expect(lineOf({}, { track: { line: '^v5\\.', prereleases: true } }, null)).toMatchObject({
      key: `${REPOSITORY} ^v5\\. (with prereleases)`,
    });
  });

  test('takes the pin of the spec on the default line alone', () => {
    expect(lineOf({ pin: 'v6.1.0' }, {}, null)).toEqual({
      key: `${REPOSITORY}:v6.1.0 (pin)`,
      repository: REPOSITORY,
      track: null,
      pin: { tag: 'v6.1.0', digest: null },
      pinnedBy: 'spec',
      allowsBlocked: true,
    });
    expect(lineOf({ pin: 'v6.1.0' }, { image: 'other/app' }, null)).toMatchObject({ pin: null, pinnedBy: null });
    expect(lineOf({ pin: 'v6.1.0' }, { track: { tag: 'edge' } }, null)).toMatchObject({ pin: null });
    expect(lineOf({ pin: 'v6.1.0' }, { pin: 'v6.0.0' }, null)).toMatchObject({
      pin: { tag: 'v6.0.0' },
      pinnedBy: 'target',
    });
    expect(lineOf({ pin: 'v6.1.0' }, { image: 'other/app', pin: 'v1.0.0' }, null)).toMatchObject({
      key: 'other/app:v1.0.0 (pin)',
      pinnedBy: 'target',
    });
  });

  test("a person's pin outranks the spec's, and moves the default line alone", () => {
    expect(lineOf({ pin: 'v6.1.0' }, {}, 'v6.0.0')).toMatchObject({ pin: { tag: 'v6.0.0' }, pinnedBy: 'person' });
    expect(lineOf({}, { pin: 'v5.0.0' }, 'v6.0.0')).toMatchObject({ pinnedBy: 'target' });
    expect(lineOf({}, { track: { tag: 'edge' } }, 'v6.0.0')).toMatchObject({ pin: null });
  });

  test('is told apart from the same tag as a track', () => {
    expect(lineOf({ pin: 'v6-latest' }, {}, null).key).not.toBe(lineOf({}, {}, null).key);
    expect(lineOf({}, {}, digest('a')).key).toBe(`${REPOSITORY}@${digest('a')} (pin)`);
    expect(lineOf({}, {}, `v6@${digest('a')}`).key).toBe(`${REPOSITORY}:v6@${digest('a')} (pin)`);
  });

  test('is never nothing', () => {
    const of = spec();
    const { track: _track, ...without } = of;
    expect(() => lineFor(without, first(of), null)).toThrow(
      new RangeError('target web-1 follows nothing: no track and no pin'),
    );
  });
});

describe('every line of a spec', () => {
  test('is named once, however many targets share it', () => {
    const of = spec({
      targets: [target('a'), target('b'), target('c', { track: { tag: 'edge' } }), target('d')],
    });
    expect(linesOf(of, null).map((l) => l.key)).toEqual([`${REPOSITORY}:v6-latest`, `${REPOSITORY}:edge`]);
    expect(linesOf(of, 'v6.0.0').map((l) => l.key)).toEqual([`${REPOSITORY}:v6.0.0 (pin)`, `${REPOSITORY}:edge`]);
  });

  test('a target with an image of its own needs a track or pin that is for it', () => {
    const own = { image: REPOSITORY, pin: 'v1.0.0', targets: [target('a', { image: 'other/app' })] };
    const refused = releaseSpec.safeParse(own);
    expect(refused.error?.issues).toMatchObject([
      {
        path: ['targets', 0, 'track'],
        message:
          'nothing says what this target follows: spec.pin is not for a target with an image of its own; give a track or pin here',
      },
    ]);
    const nothing = releaseSpec.safeParse({ image: REPOSITORY, targets: [target('a')] });
    expect(nothing.error?.issues[0]?.message).toBe(
      'nothing says what this target follows: give spec.track, spec.pin, or a track or pin here',
    );
    for (const more of [{ pin: 'v2.0.0' }, { track: { tag: 'edge' } }]) {
      const targets = [target('a', { image: 'other/app', ...more })];
      expect(releaseSpec.safeParse({ ...own, targets }).success).toBe(true);
    }
    expect(releaseSpec.safeParse({ ...own, track: { tag: 'edge' } }).success).toBe(true);
    expect(releaseSpec.safeParse({ ...own, targets: [target('a')] }).success).toBe(true);
  });
});

describe('a pin', () => {
  test.each([
    ['v6.1.0', { tag: 'v6.1.0', digest: null }],
    [digest('ab'), { tag: null, digest: digest('ab') }],
    [`@${digest('ab')}`, { tag: null, digest: digest('ab') }],
    [`v6.1.0@${digest('ab')}`, { tag: 'v6.1.0', digest: digest('ab') }],
  ])('%s is read in its parts', (text, pin) => {
    expect(parsePin(text)).toEqual(pin);
  });

  test.each(['', 'sha256:abc', `v6${digest('ab')}`, 'a b', `v6@${digest('ab')}x`, `-x`, 'v6@'])(
    '%s is refused',
    (pin) => {
      const parsed = releaseSpec.safeParse({ image: REPOSITORY, pin, targets: [target('a')] });
      expect(parsed.error?.issues[0]?.path).toEqual(['pin']);
    },
  );

  test('moves what is on the default line', () => {
    expect(onDefaultLine({})).toBe(true);
    expect(onDefaultLine({ image: 'x' })).toBe(false);
    expect(onDefaultLine({ track: { tag: 'x', prereleases: false } })).toBe(false);
    expect(onDefaultLine({ pin: 'x' })).toBe(false);
  });
});
