import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { duration, durationMs, formatDuration, parseDuration } from '../../../src/domain/core/duration.ts';

describe('reading durations as Go does', () => {
  test.each([
    ['0', 0],
    ['+0', 0],
    ['0s', 0],
    ['5s', 5_000],
    ['+5s', 5_000],
    ['90s', 90_000],
    ['1m30s', 90_000],
    ['30s1m', 90_000],
    ['1h', 3_600_000],
    ['1h15m30.918273645s', 4_530_918.273645],
    ['.5s', 500],
    ['1.s', 1_000],
    ['1.5h', 5_400_000],
    ['100ms', 100],
    ['1us', 0.001],
    ['1µs', 0.001],
    ['1μs', 0.001],
    ['1ns', 0.000001],
    ['0.3333333333333333333h', 1_200_000 - 0.000001],
    ['007m', 420_000],
    ['9223372036854775000ns', 9_223_372_036_854.775],
  ])('%s', (text, ms) => {
    expect(parseDuration(text)).toEqual({ ok: true, ms });
  });

  test.each([
    ['90', 'missing unit (h, m, s, ms, us or ns)'],
    ['1m30', 'missing unit (h, m, s, ms, us or ns)'],
    ['', 'it is empty'],
    ['+', 'there is no number'],
    ['s', 'there is no number before "s"'],
    ['.s', 'there is no number before "s"'],
    ['.', 'there is no number before "."'],
    ['-5s', 'it must not be negative'],
    ['-', 'it must not be negative'],
    ['1d', 'unknown unit "d"; there are no days; write 24h'],
    ['2w', 'unknown unit "w"; there are no weeks; write 168h'],
    ['5min', 'unknown unit "min"; minutes are m'],
    ['5M', 'unknown unit "M"; minutes are m, in lower case'],
    ['5 s', 'unknown unit " s"; units are h, m, s, ms, us and ns'],
    ['5constructor', 'unknown unit "constructor"; units are h, m, s, ms, us and ns'],
    [' 5s', 'there is no number before " "'],
    ['5s ', 'unknown unit "s "; units are h, m, s, ms, us and ns'],
    ['1..5s', 'missing unit (h, m, s, ms, us or ns)'],
    ['1,5h', 'unknown unit ","; units are h, m, s, ms, us and ns'],
    ['9223372036854775808ns', '"9223372036854775808ns" makes it longer than 292 years'],
    ['2562047h48m', '"48m" makes it longer than 292 years'],
  ])('%j is refused with the reason', (text, why) => {
    expect(parseDuration(text)).toEqual({
      ok: false,
      message: `expected a duration such as 90s or 1m30s, got ${JSON.stringify(text)}: ${why}`,
    });
  });

  test('a minus sign is read where it is allowed', () => {
    expect(parseDuration('-1.5s', { allowNegative: true })).toEqual({ ok: true, ms: -1_500 });
    expect(parseDuration('-0', { allowNegative: true })).toEqual({ ok: true, ms: 0 });
    expect(parseDuration('-0s', { allowNegative: true })).toEqual({ ok: true, ms: 0 });
  });

  test('a long text is refused, and cut in the message', () => {
    expect(refusal('1'.repeat(10_000))).toBe(
      `expected a duration such as 90s or 1m30s, got "${'1'.repeat(40)}…": it has more than 100 characters`,
    );
    expect(parseDuration(`${'0'.repeat(99)}s`)).toEqual({ ok: true, ms: 0 });
    expect(refusal(`${'0'.repeat(100)}s`)).toContain('it has more than 100 characters');
    expect(refusal('x'.repeat(50))).toContain(`there is no number before "${'x'.repeat(20)}…"`);
    expect(refusal(`1${'x'.repeat(21)}`)).toContain(`unknown unit "${'x'.repeat(20)}…"; units are`);
    expect(refusal(`1${'x'.repeat(20)}`)).toContain(`unknown unit "${'x'.repeat(20)}"; units are`);
    expect(refusal('x'.repeat(40))).toContain(`got "${'x'.repeat(40)}":`);
    expect(refusal('x'.repeat(41))).toContain(`got "${'x'.repeat(40)}…":`);
  });

  test('whatever is thrown at it, it answers and does not throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.hmsnuµ+- d'.split('')), maxLength: 20 }), (text) => {
        const parsed = parseDuration(text);
        if (parsed.ok) expect(parsed.ms).toBeGreaterThanOrEqual(0);
        else expect(parsed.message).toContain('expected a duration');
      }),
    );
  });

  test('parts add up, in any order', () => {
    fc.assert(
      fc.property(fc.nat(500), fc.nat(500), fc.nat(500), fc.nat(5_000), (h, m, s, ms) => {
        const sum = h * 3_600_000 + m * 60_000 + s * 1_000 + ms;
        expect(durationMs(`${h}h${m}m${s}s${ms}ms`)).toBe(sum);
        expect(durationMs(`${ms}ms${s}s${m}m${h}h`)).toBe(sum);
      }),
    );
  });
});

describe('durations in code', () => {
  test('a constant that is no duration is a mistake in the program', () => {
    expect(() => durationMs('90')).toThrow(
      new RangeError('expected a duration such as 90s or 1m30s, got "90": missing unit (h, m, s, ms, us or ns)'),
    );
    expect(durationMs('-2s')).toBe(-2_000);
  });
});

describe('writing durations', () => {
  test.each([
    [0, '0s'],
    [0.000001, '1ns'],
    [0.000999, '999ns'],
    [0.001, '1us'],
    [0.0015, '1.5us'],
    [0.999999, '999.999us'],
    [1, '1ms'],
    [1.5, '1.5ms'],
    [250, '250ms'],
    [999, '999ms'],
    [1_000, '1s'],
    [1_050, '1.05s'],
    [59_999, '59.999s'],
    [60_000, '1m'],
    [90_000, '1m30s'],
    [600_000, '10m'],
    [3_600_000, '1h'],
    [3_601_000, '1h1s'],
    [5_400_000, '1h30m'],
    [72_000_000, '20h'],
    [172_800_000, '48h'],
    [-90_000, '-1m30s'],
  ])('%d ms is %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('%d is no duration', (ms) => {
    expect(() => formatDuration(ms)).toThrow(new RangeError(`not a duration: ${ms} ms`));
  });

  test('what is written is read back as the same', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (ms) => {
        expect(parseDuration(formatDuration(ms), { allowNegative: true })).toEqual({ ok: true, ms });
      }),
    );
  });
});

describe('durations in a spec', () => {
  const schema = z.strictObject({ soak: duration({ min: 1_000, max: 60_000 }).prefault('10s').describe('How long.') });

  test('come in as text and go out as milliseconds', () => {
    expect(schema.parse({ soak: '1m' })).toEqual({ soak: 60_000 });
    expect(schema.parse({ soak: '1s' })).toEqual({ soak: 1_000 });
    expect(schema.parse({})).toEqual({ soak: 10_000 });
  });

  test.each([
    ['999ms', 'expected a duration of at least 1s, got "999ms"'],
    ['1m1ms', 'expected a duration of at most 1m, got "1m1ms"'],
    ['-5s', 'expected a duration such as 90s or 1m30s, got "-5s": it must not be negative'],
    [90, 'expected a duration such as 90s or 1m30s, got the number 90: missing unit (h, m, s, ms, us or ns)'],
    [true, 'expected a duration such as 90s or 1m30s'],
    [null, 'expected a duration such as 90s or 1m30s'],
  ])('%j is refused with what was expected', (soak, message) => {
    expect(schema.safeParse({ soak }).error?.issues.map((issue) => [issue.path, issue.message])).toEqual([
      [['soak'], message],
    ]);
  });

  test('a missing duration is left to say that it is missing', () => {
    expect(duration().safeParse(undefined).error?.issues[0]?.message).toBe(
      'Invalid input: expected string, received undefined',
    );
  });

  test('editors see a string with a pattern, and examples', () => {
    expect(z.toJSONSchema(schema, { io: 'input' }).properties?.['soak']).toEqual({
      type: 'string',
      default: '10s',
      description: 'How long.',
      pattern: expect.any(String) as string,
      examples: ['90s', '1m30s'],
    });
    expect(z.toJSONSchema(duration({ examples: ['20h'] }), { io: 'input' })['examples']).toEqual(['20h']);
  });

  test('the pattern that editors see accepts what the parser accepts', () => {
    const pattern = new RegExp(z.toJSONSchema(duration(), { io: 'input' })['pattern'] as string);
    const unit = fc.constantFrom(...'0123456789.hmsnuµ+-'.split(''));
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 7 }), (text) => {
        expect(pattern.test(text)).toBe(parseDuration(text).ok);
      }),
      { numRuns: 2_000 },
    );
  });
});

function refusal(text: string): string {
  const parsed = parseDuration(text);
  return parsed.ok ? '' : parsed.message;
}
