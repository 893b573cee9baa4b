import { differingFields, isObject, maskedField, type JsonObject } from './json-body.ts';
import { policyKeys, policyPrefix, realmField } from './policy-keys.ts';
import { samePolicyValue } from './policy.ts';
import { isMark } from './realm-marks.ts';
import { unsentFields } from './realm-body.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { RealmWrite, Scope } from './screen-scope.ts';

/**
 * A PUT of the realm: the whole of what was read right before, with nothing changed but what it is for. Keycloak resets
 * what a shorter body leaves out, and applies the passwordless policy only as a whole and only with its RpEntityName.
 */
export function screenRealmWrite(body: unknown, { realmWrite }: Scope): Refusal | null {
  if (realmWrite === null)
    return refuse('Undetermined', 'the realm was not read right before, so that it is not written');
  if (!isObject(body)) return refuse('Body', 'the realm: the body is no object');
  const masked = maskedField(body);
  if (masked !== null) return refuse('Masked', `the realm: ${masked} is masked, and would be stored as the mask`);
  const unsent = unsentFields.find((field) => Object.hasOwn(body, field));
  if (unsent !== undefined) return refuse('Body', `the realm: ${unsent} is never sent, so that it stays as it is`);
  const before: JsonObject = realmWrite.before;
  const changed = differingFields(without(before, unsentFields), body);
  switch (realmWrite.purpose) {
    case 'policy':
      return screenPolicy(body, realmWrite, changed);
    case 'bind':
      return screenBinding(body, realmWrite, changed);
    case 'marks':
      return screenMarks(body, realmWrite, changed);
  }
}

function screenPolicy(
  body: JsonObject,
  { before, policy }: Extract<RealmWrite, { purpose: 'policy' }>,
  changed: readonly string[],
): Refusal | null {
  const name = body[`${policyPrefix}RpEntityName`];
  if (typeof name !== 'string' || name === '') {
    return refuse('Body', 'the realm: without an RpEntityName Keycloak ignores the passwordless policy');
  }
  if (body['browserFlow'] !== before.browserFlow) {
    return refuse('Body', `the realm: a policy write keeps browserFlow "${before.browserFlow}"`);
  }
  for (const field of changed) {
    const key = policyKeys.find((known) => realmField(known) === field);
    const wanted = key === undefined ? undefined : policy[key];
    if (key === undefined || wanted === undefined) {
      return refuse('Body', `the realm: a policy write leaves ${field} as it was read`);
    }
    if (!samePolicyValue(key, wanted, body[field]))
      return refuse('Body', `the realm: ${field} is not what is declared`);
  }
  return null;
}

function screenBinding(
  body: JsonObject,
  write: Extract<RealmWrite, { purpose: 'bind' }>,
  changed: readonly string[],
): Refusal | null {
  const other = changed.find((field) => field !== 'browserFlow' && field !== 'attributes');
  if (other !== undefined) return refuse('Body', `the realm: a bind leaves ${other} as it was read`);
  if (body['browserFlow'] !== write.to) return refuse('Body', `the realm: what is to be bound is "${write.to}"`);
  return attributeFault(body, write.before);
}

function screenMarks(
  body: JsonObject,
  write: Extract<RealmWrite, { purpose: 'marks' }>,
  changed: readonly string[],
): Refusal | null {
  const other = changed.find((field) => field !== 'attributes');
  if (other !== undefined) return refuse('Body', `the realm: a mark leaves ${other} as it was read`);
  return attributeFault(body, write.before);
}

/** Of the attributes only our own marks may differ. */
function attributeFault(body: JsonObject, before: JsonObject): Refusal | null {
  const [was, is] = [before['attributes'] ?? {}, body['attributes'] ?? {}];
  if (!isObject(was) || !isObject(is)) return refuse('Body', 'the realm: the attributes are no object');
  const foreign = differingFields(was, is).find((name) => !isMark(name));
  return foreign === undefined ? null : refuse('Body', `the realm: attribute ${foreign} is not ours to change`);
}

function without(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !fields.includes(name)));
}
