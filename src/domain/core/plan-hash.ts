import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** The form of a plan hash as people may type it: whole, or at least its first eight digits, `sha256:` or not. */
export const planHashPattern = /^(sha256:)?[0-9a-f]{8,64}$/;

/**
 * The hash by which a plan is approved: sha256 over its canonical JSON, as `sha256:` and 64 hexadecimal digits. Two
 * plans have one hash exactly where they are the same JSON, in whatever order their fields were set.
 *
 * @throws TypeError for what JSON cannot hold, with its path: such a plan could not be shown as it is
 */
export function planHash(plan: unknown): string {
  return `sha256:${bytesToHex(sha256(utf8ToBytes(canonicalJson(plan))))}`;
}

/** The first twelve digits of a hash, for tables and messages. */
export function shortHash(hash: string): string {
  return bare(hash).slice(0, 12);
}

/**
 * True where what a person typed names this hash: the whole of it or its beginning, of eight digits at least.
 */
export function namesPlanHash(typed: string, hash: string): boolean {
  return planHashPattern.test(typed) && bare(hash).startsWith(bare(typed));
}

/**
 * JSON in one form only: fields sorted by their names (UTF-16 units), no white space.
 *
 * @throws TypeError for undefined, functions, symbols, bigints, numbers that are not finite, class instances (a Map or
 *   a Date turns into something else in JSON) and cycles
 */
export function canonicalJson(value: unknown): string {
  return write(value, 'value', new Set());
}

function write(value: unknown, path: string, around: Set<object>): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw notJson(path, String(value));
    return JSON.stringify(value);
  }
  if (typeof value !== 'object') throw notJson(path, value === undefined ? 'undefined' : `a ${typeof value}`);
  if (around.has(value)) throw notJson(path, 'a cycle');
  const inside = new Set(around).add(value);
  if (Array.isArray(value)) {
    // Not map: it would pass over the holes of a sparse array.
    return `[${Array.from(value, (item: unknown, index) => write(item, `${path}[${index}]`, inside)).join(',')}]`;
  }
  if (!isPlain(value)) throw notJson(path, `an instance of ${value.constructor.name}`);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, item]) => `${JSON.stringify(name)}:${write(item, `${path}.${name}`, inside)}`).join(',')}}`;
}

/** Also true for objects of another realm, such as a sandbox: their prototype is not ours, but it is a root as ours. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function notJson(path: string, what: string): TypeError {
  return new TypeError(`${path} is ${what}, which JSON cannot hold`);
}

function bare(hash: string): string {
  return hash.replace(/^sha256:/, '');
}
