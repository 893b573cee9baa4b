import { z } from 'zod';

/** A duration that was read, in milliseconds (with fractions below one), or why the text is none. */
export type DurationParse =
  { readonly ok: true; readonly ms: number } | { readonly ok: false; readonly message: string };

/** Nanoseconds in each unit of Go's durations; both spellings of µ are Go's own. */
const nanosecondsIn: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Go keeps a duration as int64 nanoseconds: about 292 years. */
const longest = 2n ** 63n - 1n;

/** Units that people write and Go has not, with what to write in their place. */
const notUnits: Readonly<Record<string, string>> = {
  d: 'there are no days; write 24h',
  day: 'there are no days; write 24h',
  days: 'there are no days; write 24h',
  w: 'there are no weeks; write 168h',
  min: 'minutes are m',
  mins: 'minutes are m',
  minutes: 'minutes are m',
  sec: 'seconds are s',
  secs: 'seconds are s',
  seconds: 'seconds are s',
  hr: 'hours are h',
  hrs: 'hours are h',
  hours: 'hours are h',
  M: 'minutes are m, in lower case',
  H: 'hours are h, in lower case',
  S: 'seconds are s, in lower case',
};

/** Nothing that people write is longer; a million digits would keep the parser busy. */
const longestText = 100;

const expectedText = 'expected a duration such as 90s or 1m30s';

/** What a spec's JSON Schema shows editors: a duration of Go without a minus sign. */
const durationPattern = '^\\+?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$';

/**
 * Reads a duration in Go's syntax (`time.ParseDuration`): decimal numbers, each with a fraction if wished and a unit
 * `h m s ms us ns`, such as `1m30s`, `1.5h` or `0`.
 *
 * @param text the duration as written
 * @param options a minus sign is refused unless `allowNegative`
 * @returns milliseconds, or a message that says what was expected, what was found and what is wrong with it
 */
export function parseDuration(text: string, options: { readonly allowNegative?: boolean } = {}): DurationParse {
  if (text.length > longestText) return refuse(text, `it has more than ${longestText} characters`);
  const sign = /^[-+]/.exec(text)?.[0] ?? '';
  const unsigned = text.slice(sign.length);
  if (sign === '-' && options.allowNegative !== true) return refuse(text, 'it must not be negative');
  if (unsigned === '0') return { ok: true, ms: 0 };
  if (unsigned === '') return refuse(text, text === '' ? 'it is empty' : 'there is no number');

  const term = /([0-9]*)(?:(\.)([0-9]*))?([^0-9.]*)/y;
  let total = 0n;
  while (term.lastIndex < unsigned.length) {
    const [all, whole = '', point = '', fraction = '', unit = ''] = term.exec(unsigned) ?? [''];
    if (all === '') return refuse(text, 'it is not a number with a unit');
    const number = whole + point + fraction;
    if (whole === '' && fraction === '') return refuse(text, `there is no number before ${quoted(unit || point, 20)}`);
    if (unit === '') return refuse(text, 'missing unit (h, m, s, ms, us or ns)');
    const nanoseconds = Object.hasOwn(nanosecondsIn, unit) ? nanosecondsIn[unit] : undefined;
    if (nanoseconds === undefined) return refuse(text, unknownUnit(unit));
    // What lies below a nanosecond is cut off, as in Go.
    total +=
      BigInt(whole || '0') * nanoseconds + (BigInt(fraction || '0') * nanoseconds) / 10n ** BigInt(fraction.length);
    if (total > longest) return refuse(text, `${quoted(number + unit, 40)} makes it longer than 292 years`);
  }
  // Whole milliseconds and the rest apart: together they can exceed what a number holds exactly.
  const ms = Number(total / 1_000_000n) + Number(total % 1_000_000n) / 1e6;
  return { ok: true, ms: sign === '-' && ms !== 0 ? -ms : ms };
}

/**
 * The milliseconds of a duration that is known to be valid, such as a constant in code.
 *
 * @throws RangeError if the text is no duration: a mistake in the program, not in what a person wrote
 */
export function durationMs(text: string): number {
  const parsed = parseDuration(text, { allowNegative: true });
  if (!parsed.ok) throw new RangeError(parsed.message);
  return parsed.ms;
}

/**
 * Milliseconds as a duration that people read and {@link parseDuration} reads back: `1m30s`, `10m`, `1.5s`, `250ms`,
 * `0s`. Unlike Go's own form, parts that are zero are left out.
 *
 * @throws RangeError for what is no finite number
 */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) throw new RangeError(`not a duration: ${ms} ms`);
  const whole = Math.trunc(Math.abs(ms));
  const nanoseconds = BigInt(whole) * 1_000_000n + BigInt(Math.round((Math.abs(ms) - whole) * 1e6));
  if (nanoseconds === 0n) return '0s';
  return (ms < 0 ? '-' : '') + formatNanoseconds(nanoseconds);
}

/**
 * The zod schema of a duration in a spec: a string in Go's syntax comes in, milliseconds come out.
 *
 * @param bounds the shortest and longest that is accepted, in milliseconds, and examples for editors
 */
export function duration(
  bounds: { readonly min?: number; readonly max?: number; readonly examples?: readonly string[] } = {},
) {
  return z
    .string({ error: (issue) => (issue.input === undefined ? undefined : notAString(issue.input)) })
    .meta({ pattern: durationPattern, examples: [...(bounds.examples ?? ['90s', '1m30s'])] })
    .transform((text, context) => {
      const parsed = parseDuration(text);
      const message = parsed.ok ? outOfBounds(text, parsed.ms, bounds) : parsed.message;
      if (parsed.ok && message === undefined) return parsed.ms;
      context.addIssue({ code: 'custom', message: message ?? expectedText });
      return z.NEVER;
    });
}

function refuse(text: string, why: string): DurationParse {
  return { ok: false, message: `${expectedText}, got ${quoted(text, 40)}: ${why}` };
}

function quoted(text: string, most: number): string {
  return JSON.stringify(text.length > most ? `${text.slice(0, most)}…` : text);
}

function unknownUnit(unit: string): string {
  const hint = Object.hasOwn(notUnits, unit) ? notUnits[unit] : undefined;
  return `unknown unit ${quoted(unit, 20)}; ${hint ?? 'units are h, m, s, ms, us and ns'}`;
}

function formatNanoseconds(nanoseconds: bigint): string {
  if (nanoseconds < 1_000n) return `${nanoseconds}ns`;
  if (nanoseconds < 1_000_000n) return `${decimal(nanoseconds, 1_000n)}us`;
  if (nanoseconds < 1_000_000_000n) return `${decimal(nanoseconds, 1_000_000n)}ms`;
  const hours = nanoseconds / 3_600_000_000_000n;
  const minutes = (nanoseconds / 60_000_000_000n) % 60n;
  const rest = nanoseconds % 60_000_000_000n;
  return [
    hours === 0n ? '' : `${hours}h`,
    minutes === 0n ? '' : `${minutes}m`,
    rest === 0n ? '' : `${decimal(rest, 1_000_000_000n)}s`,
  ].join('');
}

/** `value / unit` in decimal; the unit is a power of ten. */
function decimal(value: bigint, unit: bigint): string {
  const fraction = String(value % unit)
    .padStart(String(unit).length - 1, '0')
    .replace(/0+$/, '');
  return fraction === '' ? `${value / unit}` : `${value / unit}.${fraction}`;
}

function notAString(input: unknown): string {
  if (typeof input === 'number')
    return `${expectedText}, got the number ${input}: missing unit (h, m, s, ms, us or ns)`;
  return expectedText;
}

function outOfBounds(
  text: string,
  ms: number,
  bounds: { readonly min?: number; readonly max?: number },
): string | undefined {
  if (bounds.min !== undefined && ms < bounds.min) {
    return `expected a duration of at least ${formatDuration(bounds.min)}, got "${text}"`;
  }
  if (bounds.max !== undefined && ms > bounds.max) {
    return `expected a duration of at most ${formatDuration(bounds.max)}, got "${text}"`;
  }
  return undefined;
}
