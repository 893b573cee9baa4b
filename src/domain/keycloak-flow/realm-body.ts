import type { JsonObject } from './json-body.ts';
import { withRealmMarks, type RealmMarks } from './realm-marks.ts';
import type { RealmRepresentation } from './representation.ts';

/**
 * What a GET of the realm shows masked, and a PUT leaves alone where it is absent: sent back, the mask would become the
 * mail password (keycloak/keycloak#39781).
 */
export const unsentFields: readonly string[] = ['smtpServer'];

/** The body of a PUT of the realm: all that was read, with the changes, without what is never sent. */
export function realmBody(realm: RealmRepresentation, changes: JsonObject): JsonObject {
  const kept = Object.entries(realm).filter(([field]) => !unsentFields.includes(field));
  return { ...Object.fromEntries(kept), ...changes };
}

/** The body that binds a flow, with the marks of it: one PUT, so that no crash parts them. */
export function bindingBody(realm: RealmRepresentation, alias: string, marks: RealmMarks): JsonObject {
  return realmBody(realm, { browserFlow: alias, attributes: withRealmMarks(realm.attributes, marks) });
}

/** The body that sets or lifts marks and leaves the binding as it is. */
export function marksBody(realm: RealmRepresentation, marks: RealmMarks): JsonObject {
  return realmBody(realm, { attributes: withRealmMarks(realm.attributes, marks) });
}
