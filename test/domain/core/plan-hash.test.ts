import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, namesPlanHash, planHash, shortHash } from '../../../src/domain/core/plan-hash.ts';

const hash = 'sha256:43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777';

describe('the hash of a plan', () => {
  test('is the sha256 of its canonical JSON', () => {
    expect(canonicalJson({ b: 2, a: 1 })).toBe('{"a":1,"b":2}');
    expect(planHash({ b: 2, a: 1 })).toBe(hash);
  });

  test('does not depend on the order in which fields were set, but on all else', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(planHash(reversed(a))).toBe(planHash(a));
        expect(planHash(a) === planHash(b)).toBe(canonicalJson(a) === canonicalJson(b));
      }),
    );
  });

  test('survives being stored as JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(planHash(JSON.parse(JSON.stringify(value)))).toBe(planHash(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('the same list in another order is another plan', () => {
    expect(planHash([1, 2])).not.toBe(planHash([2, 1]));
  });

  test('texts that only look alike differ, and minus zero is zero', () => {
    expect(planHash('1')).not.toBe(planHash(1));
    expect(planHash({ 'a,b': 1 })).not.toBe(planHash({ a: 1, b: 1 }));
    expect(planHash(-0)).toBe(planHash(0));
  });

  test.each([
    [undefined, 'value is undefined, which JSON cannot hold'],
    [{ a: { b: undefined } }, 'value.a.b is undefined, which JSON cannot hold'],
    [{ a: [1, Number.NaN] }, 'value.a[1] is NaN, which JSON cannot hold'],
    [Number.POSITIVE_INFINITY, 'value is Infinity, which JSON cannot hold'],
    [{ a: 1n }, 'value.a is a bigint, which JSON cannot hold'],
    [{ a: () => 1 }, 'value.a is a function, which JSON cannot hold'],
    [{ a: Symbol('x') }, 'value.a is a symbol, which JSON cannot hold'],
    [{ a: new Map() }, 'value.a is an instance of Map, which JSON cannot hold'],
    [{ a: new Date(0) }, 'value.a is an instance of Date, which JSON cannot hold'],
    [Object.assign([1, 0, 2], { length: 4 }), 'value[3] is undefined, which JSON cannot hold'],
  ])('%o is refused by its path', (value, message) => {
    expect(() => planHash(value)).toThrow(new TypeError(message));
  });

  test('a cycle is refused, the same object twice is not', () => {
    const a: Record<string, unknown> = {};
    a['again'] = { a };
    expect(() => planHash(a)).toThrow(new TypeError('value.again.a is a cycle, which JSON cannot hold'));
    const shared = { x: 1 };
    expect(canonicalJson({ p: shared, q: [shared, shared] })).toBe('{"p":{"x":1},"q":[{"x":1},{"x":1}]}');
  });

  test('an object without a prototype is plain', () => {
    expect(canonicalJson(Object.assign(Object.create(null) as object, { a: 1 }))).toBe('{"a":1}');
  });
});

describe('a hash as people type it', () => {
  test('is shown by its first twelve digits', () => {
    expect(shortHash(hash)).toBe('43258cff783f');
    expect(shortHash('43258cff783fe703')).toBe('43258cff783f');
  });

  test.each([hash, hash.slice(7), '43258cff', 'sha256:43258cff', '43258cff783f'])('%s names it', (typed) => {
    expect(namesPlanHash(typed, hash)).toBe(true);
    expect(namesPlanHash(typed, hash.slice(7))).toBe(true);
  });

  test.each(['', 'sha256:', '43258cf', '53258cff', '43258CFF', `${hash}0`, 'x43258cff', 'md5:43258cff'])(
    '%j does not',
    (typed) => {
      expect(namesPlanHash(typed, hash)).toBe(false);
    },
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, item]) => [name, reversed(item)]),
  );
}
