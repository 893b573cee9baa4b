import { canonicalJson } from '../core/plan-hash.ts';

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True for what JSON calls an object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for what is sent exactly as it is: a field that is undefined would be left out on the way. Nothing is nothing. */
export function isJson(value: unknown): boolean {
  try {
    return value === undefined || canonicalJson(value) !== '';
  } catch {
    return false;
  }
}

/** True where two values are the same JSON, in whatever order their fields are. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}

/** The names of fields that differ between two objects, one of them lacking the field included; sorted. */
export function differingFields(a: JsonObject, b: JsonObject): string[] {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return names.filter((name) => {
    const [left, right] = [Object.hasOwn(a, name), Object.hasOwn(b, name)];
    return left !== right || !sameJson(a[name], b[name]);
  });
}

/** The keys that an object has and should not, or has not and should; null where it has exactly those. */
export function keyFault(object: JsonObject, wanted: readonly string[]): string | null {
  const extra = Object.keys(object).find((key) => !wanted.includes(key));
  if (extra !== undefined) return `it may not carry "${extra.slice(0, 60)}"`;
  const lacking = wanted.find((key) => !Object.hasOwn(object, key));
  return lacking === undefined ? null : `it lacks "${lacking}"`;
}

/** Keycloak answers secrets as asterisks; sent back they would be the secret from then on. */
const mask = /^\*{4,}$/;

/** Where in a value a mask stands, such as `smtpServer.password`; null where nowhere. */
export function maskedField(value: unknown, path = ''): string | null {
  if (typeof value === 'string') return mask.test(value) ? path : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    const found = maskedField(inner, path === '' ? key : `${path}.${key}`);
    if (found !== null) return found;
  }
  return null;
}
