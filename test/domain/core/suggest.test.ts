import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editDistance, suggest } from '../../../src/domain/core/suggest.ts';

describe('the distance of two words', () => {
  test.each([
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['image', 'image', 0],
    ['imge', 'image', 1],
    ['imagee', 'image', 1],
    ['imbge', 'image', 1],
    ['imgae', 'image', 1],
    ['miage', 'image', 1],
    ['mgae', 'image', 2],
    ['kitten', 'sitting', 3],
    ['abc', 'xyz', 3],
    ['ab', 'ca', 2],
    ['ab', 'bc', 2],
  ])('%j to %j is %d', (from, to, distance) => {
    expect(editDistance(from, to)).toBe(distance);
  });

  test('is the same both ways, and never more than the longer word', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
        expect(editDistance(a, b) === 0).toBe(a === b);
      }),
    );
  });
});

describe('did you mean', () => {
  test('of words that are equally near the plural of what was written', () => {
    expect(suggest('node', ['mode', 'nodes'])).toBe('nodes');
    expect(suggest('windows', ['windowed', 'window'])).toBe('window');
    expect(suggest('moed', ['mode', 'nodes'])).toBe('mode');
  });

  const fields = ['image', 'track', 'pin', 'soak', 'soakProbeInterval', 'onFailure'];

  test.each([
    ['imgae', 'image'],
    ['IMAGE', 'image'],
    ['soak_probe_interval', 'soakProbeInterval'],
    ['on-failure', 'onFailure'],
    ['soakProbIntervall', 'soakProbeInterval'],
    ['s_o_a_k', 'soak'],
    ['S o-a_k', 'soak'],
    ['pim', 'pin'],
    ['sok', 'soak'],
    ['trakc', 'track'],
    ['imag', 'image'],
  ])('%s is most likely %s', (word, meant) => {
    expect(suggest(word, fields)).toBe(meant);
  });

  test.each(['replicas', 'xyz', 'p', 'pix7', 'imxyz', '', 'sxxk'])('%j is like none of them', (word) => {
    expect(suggest(word, fields)).toBeUndefined();
  });

  test('the nearest wins, and of equals the first', () => {
    expect(suggest('abcdx', ['abcde', 'abcdf'])).toBe('abcde');
    expect(suggest('abcdefghi', ['abcdefgxy', 'abcdefghx'])).toBe('abcdefghx');
    expect(suggest('abcdefghi', ['abcdefghx', 'abcdefgxy'])).toBe('abcdefghx');
  });

  test('one change in three letters is a slip, up to three in all', () => {
    expect(suggest('abx', ['abc'])).toBe('abc');
    expect(suggest('axy', ['abc'])).toBeUndefined();
    expect(suggest('abcxy', ['abcde'])).toBeUndefined();
    expect(suggest('abcdxy', ['abcdef'])).toBe('abcdef');
    expect(suggest('abcdexyz', ['abcdefgh'])).toBeUndefined();
    expect(suggest('abcdefxyz', ['abcdefghi'])).toBe('abcdefghi');
    expect(suggest('abcdefghwxyz', ['abcdefghijkl'])).toBeUndefined();
  });

  test('a word of nothing but letters to delete is no suggestion', () => {
    expect(suggest('ab', ['a', 'b'])).toBeUndefined();
  });

  test('an endless word is not compared', () => {
    expect(suggest('a'.repeat(64), ['a'.repeat(63)])).toBe('a'.repeat(63));
    expect(suggest('a'.repeat(65), ['a'.repeat(64)])).toBeUndefined();
  });
});
