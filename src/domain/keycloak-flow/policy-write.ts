import { differingFields } from './json-body.ts';
import { describeDrift, policyDrift, type PolicyDrift } from './policy.ts';
import { realmField, type Policy } from './policy-keys.ts';
import type { RealmRepresentation } from './representation.ts';

/**
 * Fields of the realm that somebody changed between the first reading and the one right before the PUT, other than
 * those that are put right anyway. Empty: the PUT may be sent. Keycloak offers no precondition, so that this is what
 * there is against losing an edit.
 */
export function movedFields(
  first: RealmRepresentation,
  again: RealmRepresentation,
  drift: readonly PolicyDrift[],
): string[] {
  const ours = new Set(drift.map(({ key }) => realmField(key)));
  return differingFields(first, again).filter((field) => !ours.has(field));
}

/**
 * What a write of the realm did not come to, field by field: Keycloak has answered 204 and stored nothing
 * (keycloak/keycloak#27700).
 *
 * @param before what was read right before the PUT
 * @param after what was read after it
 */
export function policyReadBack(policy: Policy, before: RealmRepresentation, after: RealmRepresentation): string[] {
  const drifted = policyDrift(policy, before);
  const notStored = policyDrift(policy, after).map((drift) => `not stored: ${describeDrift(drift)}`);
  const alsoChanged = movedFields(withAddedAttributes(before, after), after, drifted).map(
    (field) => `${field} changed as well`,
  );
  return [...notStored, ...alsoChanged];
}

/** The first PUT of a realm makes Keycloak (26.x) keep more attributes, such as `scimApiEnabled`: those are no edit. */
function withAddedAttributes(before: RealmRepresentation, after: RealmRepresentation): RealmRepresentation {
  return { ...before, attributes: { ...after.attributes, ...before.attributes } };
}
