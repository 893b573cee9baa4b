import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  canonicalQuantity,
  compareQuantities,
  parseQuantity,
  quantity,
  sameQuantity,
} from '../../../src/domain/core/quantity.ts';

describe('reading quantities as Kubernetes does', () => {
  test.each([
    ['0', 0n],
    ['1', 1_000_000_000n],
    ['+1', 1_000_000_000n],
    ['-1', -1_000_000_000n],
    ['1.', 1_000_000_000n],
    ['.5', 500_000_000n],
    ['1.5', 1_500_000_000n],
    ['1n', 1n],
    ['1u', 1_000n],
    ['100m', 100_000_000n],
    ['1k', 10n ** 12n],
    ['1M', 10n ** 15n],
    ['1G', 10n ** 18n],
    ['1T', 10n ** 21n],
    ['1P', 10n ** 24n],
    ['12E', 12n * 10n ** 27n],
    ['1Ki', 1_024n * 10n ** 9n],
    ['1Mi', 2n ** 20n * 10n ** 9n],
    ['1.5Gi', 3n * 2n ** 29n * 10n ** 9n],
    ['1Ti', 2n ** 40n * 10n ** 9n],
    ['1Pi', 2n ** 50n * 10n ** 9n],
    ['1Ei', 2n ** 60n * 10n ** 9n],
    ['1e3', 10n ** 12n],
    ['1E3', 10n ** 12n],
    ['1e+3', 10n ** 12n],
    ['1.25e-2', 12_500_000n],
    ['1e30', 10n ** 39n],
    ['1e-30', 1n],
    ['0.1n', 1n],
    ['-0.1n', -1n],
    ['1.0000000001', 1_000_000_001n],
    ['0e-30', 0n],
    ['0.0000000010', 1n],
  ])('%s', (text, nano) => {
    expect(parseQuantity(text)).toEqual({ ok: true, quantity: { nano } });
  });

  const suffixes = 'suffixes are n, u, m, k, M, G, T, P, E and Ki, Mi, Gi, Ti, Pi, Ei';
  test.each([
    ['', 'it is empty'],
    ['Gi', 'it is not a number with a suffix'],
    ['.', 'it is not a number with a suffix'],
    ['1 Gi', 'it is not a number with a suffix'],
    [' 1', 'it is not a number with a suffix'],
    ['1Gi ', 'it is not a number with a suffix'],
    ['1,5', 'it is not a number with a suffix'],
    ['1e3m', 'it is not a number with a suffix'],
    ['1e31', 'its exponent is beyond 30'],
    ['1e-31', 'its exponent is beyond 30'],
    ['1K', 'unknown suffix "K"; thousands are k, and 1024s are Ki'],
    ['1GB', 'unknown suffix "GB"; leave the B out: Mi, Gi or M, G'],
    ['1MiB', 'unknown suffix "MiB"; leave the B out: Mi, Gi or M, G'],
    ['1gi', 'unknown suffix "gi"; write Gi'],
    ['1ki', 'unknown suffix "ki"; write Ki'],
    ['1g', 'unknown suffix "g"; write G'],
    ['1x', `unknown suffix "x"; ${suffixes}`],
    ['1xGB', `unknown suffix "xGB"; ${suffixes}`],
    ['1GBx', `unknown suffix "GBx"; ${suffixes}`],
    ['1xgi', `unknown suffix "xgi"; ${suffixes}`],
    ['1gix', `unknown suffix "gix"; ${suffixes}`],
    ['1gg', `unknown suffix "gg"; ${suffixes}`],
    ['1constructor', `unknown suffix "constructor"; ${suffixes}`],
  ])('%j is refused with the reason', (text, why) => {
    expect(parseQuantity(text)).toEqual({
      ok: false,
      message: `expected a quantity such as 500m, 2 or 1Gi, got ${JSON.stringify(text)}: ${why}`,
    });
  });

  test('a very long number is refused, and cut in the message', () => {
    expect(parseQuantity('1'.repeat(60)).ok).toBe(true);
    expect(parseQuantity('1'.repeat(61))).toEqual({
      ok: false,
      message: `expected a quantity such as 500m, 2 or 1Gi, got "${'1'.repeat(60)}…": it has more than 60 characters`,
    });
  });
});

describe('comparing quantities', () => {
  test.each([
    ['1000m', '1'],
    ['1Gi', '1024Mi'],
    ['1000M', '1G'],
    ['1e3', '1k'],
    ['0.5', '500m'],
    ['0', '0Gi'],
  ])('%s is %s', (a, b) => {
    expect(sameQuantity(a, b)).toBe(true);
  });

  test.each([
    ['1G', '1Gi'],
    ['1000m', '1001m'],
    ['9007199254740993', '9007199254740992'],
    ['x', 'x'],
    ['1', 'x'],
    ['x', '1'],
  ])('%s is not %s', (a, b) => {
    expect(sameQuantity(a, b)).toBe(false);
  });

  test('orders by value, exactly', () => {
    expect(compareQuantities({ nano: 1n }, { nano: 2n })).toBe(-1);
    expect(compareQuantities({ nano: 2n }, { nano: 2n })).toBe(0);
    expect(compareQuantities({ nano: 3n }, { nano: 2n })).toBe(1);
  });

  test.each([
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['1024Mi', '1073741824'],
    ['1000000k', '1G'],
    ['0.000', '0'],
    ['1e18', '1E'],
    ['1e15', '1P'],
    ['1e12', '1T'],
    ['1e6', '1M'],
    ['2000', '2k'],
    ['1500u', '1500u'],
    ['1500n', '1500n'],
    ['-1000m', '-1'],
  ])('%s is written %s in the canonical form', (text, canonical) => {
    const parsed = parseQuantity(text);
    expect(parsed.ok && canonicalQuantity(parsed.quantity)).toBe(canonical);
  });

  test('equal quantities have one canonical form, different ones never share it', () => {
    const text = fc
      .record({
        sign: fc.constantFrom('', '-', '+'),
        whole: fc.nat(5_000),
        fraction: fc.constantFrom('', '.5', '.25', '.000000001', '.0000000001'),
        suffix: fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'E', 'Ki', 'Mi', 'Ei', 'e3', 'E-3'),
      })
      .map(({ sign, whole, fraction, suffix }) => `${sign}${whole}${fraction}${suffix}`);
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [left, right] = [parseQuantity(a), parseQuantity(b)];
        if (!left.ok || !right.ok) throw new Error('both are quantities');
        const same = canonicalQuantity(left.quantity) === canonicalQuantity(right.quantity);
        expect(same).toBe(compareQuantities(left.quantity, right.quantity) === 0);
        expect(sameQuantity(canonicalQuantity(left.quantity), a)).toBe(true);
      }),
    );
  });
});

describe('quantities in a spec', () => {
  const schema = z.strictObject({ memory: quantity() });

  test('stay as they were written', () => {
    expect(schema.parse({ memory: '1000m' })).toEqual({ memory: '1000m' });
  });

  test.each([
    [
      '1K',
      'expected a quantity such as 500m, 2 or 1Gi, got "1K": unknown suffix "K"; thousands are k, and 1024s are Ki',
    ],
    [2, 'expected a quantity such as 500m, 2 or 1Gi, got the number 2: put it in quotes, "2"'],
  ])('%j is refused', (memory, message) => {
    expect(schema.safeParse({ memory }).error?.issues.map((i) => [i.path, i.message])).toEqual([[['memory'], message]]);
  });

  test('the pattern that editors see accepts what the parser accepts', () => {
    const shown = z.toJSONSchema(quantity(), { io: 'input' });
    expect(shown.type).toBe('string');
    expect(shown.examples).toEqual(['500m', '1Gi']);
    const pattern = new RegExp(shown.pattern ?? '');
    const unit = fc.constantFrom(...'0123456789.+-eEKMGTPikmun x'.split(''));
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 5 }), (text) => {
        const parsed = parseQuantity(text);
        if (!parsed.ok && parsed.message.includes('exponent')) return;
        expect(pattern.test(text)).toBe(parsed.ok);
      }),
      { numRuns: 2_000 },
    );
  });
});
