import type { JsonObject } from './json-body.ts';
import { policyKeys, realmField, type Policy, type PolicyKey } from './policy-keys.ts';
import { realmBody } from './realm-body.ts';
import type { RealmRepresentation } from './representation.ts';

/** A declared key that the realm has otherwise. */
export interface PolicyDrift {
  readonly key: PolicyKey;
  readonly wanted: Policy[PolicyKey];
  /** As the server keeps it; undefined where it says nothing. */
  readonly found: unknown;
}

/** The declared keys that differ. What is not declared is not looked at. */
export function policyDrift(policy: Policy, realm: RealmRepresentation): PolicyDrift[] {
  return policyKeys.flatMap((key) => {
    const wanted = policy[key];
    const found = realm[realmField(key)];
    return wanted === undefined || samePolicyValue(key, wanted, found) ? [] : [{ key, wanted, found }];
  });
}

/** True where a key has the wanted value. Algorithms are preferred in their order; AAGUIDs are a set. */
export function samePolicyValue(key: PolicyKey, wanted: unknown, found: unknown): boolean {
  if (!Array.isArray(wanted)) return wanted === found;
  if (!Array.isArray(found)) return false;
  const [a, b] =
    key === 'AcceptableAaguids' ? [asSet(wanted), asSet(found)] : [wanted as unknown[], found as unknown[]];
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

function asSet(values: readonly unknown[]): unknown[] {
  return [...new Set(values)].sort();
}

/** The body of the PUT that puts the drifted keys right, and changes nothing else. */
export function policyBody(realm: RealmRepresentation, drift: readonly PolicyDrift[]): JsonObject {
  return realmBody(realm, Object.fromEntries(drift.map(({ key, wanted }) => [realmField(key), wanted])));
}

/** A drift in words. */
export function describeDrift({ key, wanted, found }: PolicyDrift): string {
  return `${key} is ${found === undefined ? 'not set' : JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`;
}
