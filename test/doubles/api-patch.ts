import { Refusal } from './api-store.ts';

/** The patch types, as far as tests of this project need them. */

type Json = Record<string, unknown>;

export function applyPatch(contentType: string, before: Json, patch: unknown): Json {
  if (contentType.startsWith('application/merge-patch+json')) return merge(before, asObject(patch), false);
  if (contentType.startsWith('application/strategic-merge-patch+json')) return merge(before, asObject(patch), true);
  if (contentType.startsWith('application/apply-patch+yaml')) return merge(before, asObject(patch), true);
  if (contentType.startsWith('application/json-patch+json')) return jsonPatch(before, patch);
  throw new Refusal(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format');
}

function merge(before: Json, patch: Json, strategic: boolean): Json {
  const result: Json = { ...before };
  for (const [field, value] of Object.entries(patch)) {
    const old = result[field];
    if (value === null) delete result[field];
    else if (isObject(value)) result[field] = merge(isObject(old) ? old : {}, value, strategic);
    else if (Array.isArray(value) && strategic && value.every(isObject)) result[field] = mergeByName(old, value, field);
    else result[field] = value;
  }
  return result;
}

function mergeByName(before: unknown, items: Json[], field: string): Json[] {
  const result = Array.isArray(before) ? (before as Json[]).map((item) => ({ ...item })) : [];
  for (const item of items) {
    if (typeof item.name !== 'string')
      throw new Refusal(422, 'Invalid', `map: ${JSON.stringify(item)} does not contain declared merge key: name`, [
        { field },
      ]);
    const at = result.findIndex((old) => old.name === item.name);
    if (at === -1) result.unshift(item);
    else result[at] = merge(result[at] ?? {}, item, true);
  }
  return result;
}

function jsonPatch(before: Json, patch: unknown): Json {
  if (!Array.isArray(patch)) throw new Refusal(400, 'BadRequest', 'error decoding patch: cannot unmarshal object');
  const result = structuredClone(before);
  for (const operation of patch as { op: string; path: string; value?: unknown }[]) {
    const keys = operation.path
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = keys.pop() ?? '';
    let parent: unknown = result;
    for (const key of keys) parent = (parent as Json | undefined)?.[key];
    if (typeof parent !== 'object' || parent === null)
      throw new Refusal(422, 'Invalid', 'the server rejected our request due to an error in our request');
    const holder = parent as Json;
    const missing = !Object.hasOwn(holder, last);
    const differs = operation.op === 'test' && JSON.stringify(holder[last]) !== JSON.stringify(operation.value);
    if (differs || (missing && operation.op !== 'add'))
      throw new Refusal(422, 'Invalid', 'the server rejected our request due to an error in our request');
    if (operation.op === 'remove') delete holder[last];
    else if (operation.op !== 'test') holder[last] = operation.value;
  }
  return result;
}

function asObject(value: unknown): Json {
  if (!isObject(value)) throw new Refusal(400, 'BadRequest', 'error decoding patch: cannot unmarshal array');
  return value;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
