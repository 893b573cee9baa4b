import { describe, expect, test } from 'vitest';
import { selectTag } from '../../../src/domain/release/select-tag.ts';

function newest(tags: readonly string[], line: string, prereleases = false): string | null {
  return selectTag(tags, { line, prereleases }).tag;
}

describe('the newest tag of a semver line', () => {
  test('H-A07 order is numeric, and rc10 is not rc.10', () => {
    const low = ['1.0.1-rc.9', '1.0.1-rc.10', '1.0.1-rc10', '1.0.1-rc9', '1.0.1'];
    for (let n = 1; n <= low.length; n += 1) {
      const upTo = low.slice(0, n);
      expect(newest(upTo, '^1\\.', true)).toBe(upTo[n - 1]);
      expect(newest(upTo.toReversed(), '^1\\.', true)).toBe(upTo[n - 1]);
    }
    expect(newest(['v5.10.0', 'v5.9.0'], '^v5\\.')).toBe('v5.10.0');
    expect(newest(['v5.9.0', 'v5.10.0'], '^v5\\.')).toBe('v5.10.0');
  });

  test('H-A08 a pre-release does not win a stable line', () => {
    expect(newest(['v2.2.0', 'v2.3.0-rc.0.18.g1abb7b5dd-ppc64le'], '^v2\\.')).toBe('v2.2.0');
    expect(newest(['v5.10.0', 'v5.9.0', 'v5.11.0-rc1', 'v6.0.0'], '^v5\\.')).toBe('v5.10.0');
    // Also where the line constrains nothing.
    expect(newest(['v2.2.0', 'v2.3.0-rc.0.18.g1abb7b5dd-ppc64le'], '.*')).toBe('v2.2.0');
    expect(newest(['v2.3.0-rc.1'], '.*')).toBeNull();
    // Only on opt-in.
    expect(newest(['v5.10.0', 'v5.11.0-rc1'], '^v5\\.', true)).toBe('v5.11.0-rc1');
  });

  test('says why each of the others lost', () => {
    expect(
      selectTag(
        ['v5.9.0', 'v5.1', 'aaa', 'latest', 'v5.10.0', 'v5.11.0-rc1', '5.10.0', 'v6.0.0', 'v7.0.0', 'v5.10.0'],
        {
          line: '^v?5\\.',
          prereleases: false,
        },
      ),
    ).toEqual({
      tag: 'v5.10.0',
      rejected: [
        { tag: 'v5.11.0-rc1', reason: 'is a prerelease; set prereleases: true to let it win' },
        { tag: 'v5.1', reason: 'is not a semantic version' },
        { tag: '5.10.0', reason: 'is the same version as v5.10.0' },
        { tag: 'v5.9.0', reason: 'is older than v5.10.0' },
        { tag: 'v7.0.0', reason: 'does not match ^v?5\\.' },
        { tag: 'v6.0.0', reason: 'does not match ^v?5\\.' },
        { tag: 'latest', reason: 'does not match ^v?5\\.' },
        { tag: 'aaa', reason: 'does not match ^v?5\\.' },
      ],
    });
  });

  test('names the nearest ten of those that lost', () => {
    const tags = Array.from({ length: 30 }, (_, n) => `v1.${n}.0`);
    const { tag, rejected } = selectTag(tags, { line: '^v1\\.', prereleases: false });
    expect(tag).toBe('v1.29.0');
    expect(rejected.map((r) => r.tag)).toEqual(Array.from({ length: 10 }, (_, n) => `v1.${28 - n}.0`));
  });

  test('is none where nothing matches, with the reasons', () => {
    expect(selectTag(['v6.0.0'], { line: '^v5\\.', prereleases: false })).toEqual({
      tag: null,
      rejected: [{ tag: 'v6.0.0', reason: 'does not match ^v5\\.' }],
    });
    expect(selectTag([], { line: '^v5\\.', prereleases: false })).toEqual({ tag: null, rejected: [] });
  });

  test('names versions of other lines before what is none, whatever they are called', () => {
    const { rejected } = selectTag(['zzz', '1.0.0', '3.0.0', '2.0.0'], { line: '^5', prereleases: false });
    expect(rejected.map((r) => r.tag)).toEqual(['3.0.0', '2.0.0', '1.0.0', 'zzz']);
  });

  test('does not depend on the order of the listing', () => {
    const tags = ['v1.0.0', '1.0.0', 'latest', 'v0.9.0', 'edge'];
    const there = selectTag(tags, { line: '.', prereleases: false });
    expect(selectTag(tags.toReversed(), { line: '.', prereleases: false })).toEqual(there);
    expect(there.tag).toBe('v1.0.0');
  });

  test('is not asked of a moving tag', () => {
    expect(() => selectTag([], { prereleases: false })).toThrow(new TypeError('expected a track with a line'));
  });

  test('is found in no time, whatever tags were pushed and however the expression goes about them', () => {
    const evil = [
      '1'.repeat(128),
      `${'9'.repeat(15)}.${'9'.repeat(15)}.${'9'.repeat(15)}-x`,
      `1.0.0-${'1'.repeat(100)}`,
    ];
    const { tag, rejected } = selectTag(['1.2.3', ...evil], { line: '^v?(\\d+\\.?)+$', prereleases: true });
    expect(tag).toBe('1.2.3');
    expect(new Set(rejected.map((r) => r.reason))).toEqual(new Set(['is too long for a version']));
  });
});
