import { canonicalJson } from './plan-hash.ts';

/**
 * What of a spec changed, by the names of its fields.
 *
 * @param told fields whose values are told: those that say what may happen without a person, which a file changes in silence
 *   where it does not name them
 */
export function describeSpecChange<Spec extends object>(
  before: Spec,
  after: Spec,
  told: readonly (keyof Spec & string)[],
): string {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const changed = keys.filter((key) => written(before, key) !== written(after, key));
  const values = told.filter((key) => changed.includes(key));
  const others = changed.filter((key) => !values.some((value) => value === key));
  return [
    ...values.map((key) => `${key} ${shown(after, key)}, was ${shown(before, key)}`),
    ...(others.length === 0 ? [] : [others.join(', ')]),
  ].join('; ');
}

function written(spec: object, key: string): string {
  return canonicalJson(spec[key as keyof typeof spec] ?? null);
}

/** A value as people read it: a word as it is. */
function shown(spec: object, key: string): string {
  const text = written(spec, key);
  return text === 'null' ? 'none' : text.replaceAll('"', '');
}
