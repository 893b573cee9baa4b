import { z } from 'zod';

/**
 * A Kubernetes quantity (`100m`, `1.5`, `1Gi`, `1e3`), kept exactly: its value is `coefficient / 10^9`, since
 * Kubernetes knows nothing finer than nano. Plain JSON does not hold a bigint: keep quantities as text, compare parsed.
 */
export interface Quantity {
  /** The value in billionths. */
  readonly nano: bigint;
}

/** A quantity that was read, or why the text is none. */
export type QuantityParse =
  { readonly ok: true; readonly quantity: Quantity } | { readonly ok: false; readonly message: string };

const binary: Readonly<Record<string, bigint>> = {
  Ki: 1n << 10n,
  Mi: 1n << 20n,
  Gi: 1n << 30n,
  Ti: 1n << 40n,
  Pi: 1n << 50n,
  Ei: 1n << 60n,
};

/** Powers of ten of the decimal suffixes. */
const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

/** Kubernetes caps exponents implicitly by int64 digits; ours only has to keep numbers small enough to compute. */
const largestExponent = 30;

const form = /^([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:([eE])([+-]?[0-9]{1,4})|([A-Za-z]*))$/;

const expectedText = 'expected a quantity such as 500m, 2 or 1Gi';

/**
 * Reads a quantity in the form of Kubernetes (apimachinery `resource.ParseQuantity`): a decimal number with a binary
 * suffix (Ki to Ei), a decimal one (n u m k M G T P E) or an exponent. What is finer than nano is rounded up, away
 * from zero, as Kubernetes does.
 */
export function parseQuantity(text: string): QuantityParse {
  if (text.length > 60) return refuse(text.slice(0, 60) + '…', 'it has more than 60 characters');
  const match = form.exec(text);
  if (match === null) return refuse(text, text === '' ? 'it is empty' : 'it is not a number with a suffix');
  const [, sign = '', number = '', exponentMark, exponent = '0', suffix = ''] = match;

  if (exponentMark !== undefined) {
    const power = Number(exponent);
    if (Math.abs(power) > largestExponent) return refuse(text, `its exponent is beyond ${largestExponent}`);
    return { ok: true, quantity: scaled(sign, number, 1n, power) };
  }
  if (Object.hasOwn(binary, suffix)) return { ok: true, quantity: scaled(sign, number, binary[suffix] ?? 1n, 0) };
  if (Object.hasOwn(decimal, suffix)) return { ok: true, quantity: scaled(sign, number, 1n, decimal[suffix] ?? 0) };
  return refuse(text, `unknown suffix "${suffix}"${suffixHint(suffix)}`);
}

/** -1, 0 or 1 as `a` is smaller than, equal to or greater than `b`; exact. */
export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  if (a.nano === b.nano) return 0;
  return a.nano < b.nano ? -1 : 1;
}

/**
 * True where two texts mean the same quantity: `1000m` and `1`, `1Gi` and `1024Mi`. Texts that are no quantities are
 * never equal to anything.
 */
export function sameQuantity(a: string, b: string): boolean {
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  return left.ok && right.ok && left.quantity.nano === right.quantity.nano;
}

/**
 * One text for all texts of the same quantity, for comparing and hashing: the largest decimal suffix that leaves a
 * whole number, so `1000m` is `1` and `1Gi` is `1073741824`.
 */
export function canonicalQuantity(quantity: Quantity): string {
  if (quantity.nano === 0n) return '0';
  for (const suffix of ['E', 'P', 'T', 'G', 'M', 'k', '', 'm', 'u']) {
    const unit = 10n ** BigInt(9 + (decimal[suffix] ?? 0));
    if (quantity.nano % unit === 0n) return `${quantity.nano / unit}${suffix}`;
  }
  return `${quantity.nano}n`;
}

/** The zod schema of a quantity in a spec: text as written comes in and goes out. */
export function quantity() {
  return z
    .string({ error: (issue) => (typeof issue.input === 'number' ? numberFor(issue.input) : undefined) })
    .meta({
      pattern: '^[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]{1,4}|[KMGTPE]i|[numkMGTPE])?$',
      examples: ['500m', '1Gi'],
    })
    .superRefine((text, context) => {
      const parsed = parseQuantity(text);
      if (!parsed.ok) context.addIssue({ code: 'custom', message: parsed.message });
    });
}

function numberFor(input: number): string {
  return `${expectedText}, got the number ${input}: put it in quotes, "${input}"`;
}

function scaled(sign: string, number: string, factor: bigint, power: number): Quantity {
  const [whole = '', fraction = ''] = number.split('.');
  const digits = BigInt(whole + fraction) * factor;
  const shift = 9 + power - fraction.length;
  const nano = shift >= 0 ? digits * 10n ** BigInt(shift) : divideUp(digits, 10n ** BigInt(-shift));
  return { nano: sign === '-' ? -nano : nano };
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}

function suffixHint(suffix: string): string {
  if (suffix === 'K') return '; thousands are k, and 1024s are Ki';
  if (/^[kmgtpe]i?b$/i.test(suffix)) return '; leave the B out: Mi, Gi or M, G';
  if (/^[kmgtpe]i$/i.test(suffix)) return `; write ${suffix.charAt(0).toUpperCase()}i`;
  if (/^[gtp]$/.test(suffix)) return `; write ${suffix.toUpperCase()}`;
  return '; suffixes are n, u, m, k, M, G, T, P, E and Ki, Mi, Gi, Ti, Pi, Ei';
}

function refuse(text: string, why: string): QuantityParse {
  return { ok: false, message: `${expectedText}, got ${JSON.stringify(text)}: ${why}` };
}
