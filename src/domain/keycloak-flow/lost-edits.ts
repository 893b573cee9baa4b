import { isObject, sameJson, type JsonObject } from './json-body.ts';
import { isMark } from './realm-marks.ts';
import type { AdminEvent } from './representation.ts';

/** An edit by somebody else that our write went over. */
export interface LostEdit {
  /** Epoch milliseconds, by the server's clock. */
  readonly at: number;
  /** The client and user of the event. */
  readonly by: string;
  /** What was lost, by field, attributes as `attributes.name`, null for one that was taken away; empty where the realm keeps no details of its events, so that only the edit is known. */
  readonly values: JsonObject;
}

/** Between which instants an edit would be lost, by the server's clock, and who we are. */
export interface EditWindow {
  /** Of the reading right before the PUT. */
  readonly from: number;
  /** Of the answer to the PUT. */
  readonly until: number;
  /** Who our token is of: its `sub`. */
  readonly userId: string;
}

/**
 * Looks for edits of the realm in the window that no precondition closes. An edit is lost where it set a field to
 * something that neither was there when we read nor is there now.
 *
 * @param events updates of the realm, in any order
 * @param write what was read right before the PUT, its body, and what was read after it
 */
export function lostEdits(
  events: readonly AdminEvent[],
  window: EditWindow,
  write: { readonly before: JsonObject; readonly sent: JsonObject; readonly after: JsonObject },
): LostEdit[] {
  const [before, after] = [byAttribute(write.before), byAttribute(write.after)];
  return events
    .filter((event) => event.operationType === 'UPDATE' && (event.resourceType ?? 'REALM') === 'REALM')
    .filter((event) => event.time >= window.from && event.time <= window.until)
    .filter((event) => !isOurs(event, window, write.sent))
    .flatMap((event) => {
      const edit = { at: event.time, by: whoOf(event) };
      const set = representation(event);
      if (set === null) return [{ ...edit, values: {} }];
      const values = Object.entries(byAttribute(set)).filter(
        ([field, value]) => !sameJson(before[field], value) && !sameJson(after[field], value),
      );
      const lost = [...values, ...takenAway(set, write).map((name) => [`attributes.${name}`, null] as const)];
      return lost.length === 0 ? [] : [{ ...edit, values: Object.fromEntries(lost) }];
    });
}

/** Keycloak removes the attributes that a PUT with attributes leaves out: those of them that our write has put back. */
function takenAway(set: JsonObject, { before, after }: { readonly before: JsonObject; readonly after: JsonObject }) {
  const [was, left, is] = [before['attributes'], set['attributes'], after['attributes']];
  if (!isObject(was) || !isObject(left) || !isObject(is)) return [];
  return Object.keys(was).filter((name) => !isMark(name) && !Object.hasOwn(left, name) && Object.hasOwn(is, name));
}

/** With each attribute as a field of its own: one that was lost is not to be looked for among the dozens that were not. */
function byAttribute({ attributes, ...fields }: JsonObject): JsonObject {
  if (!isObject(attributes)) return attributes === undefined ? fields : { ...fields, attributes };
  const each = Object.entries(attributes).map(([name, value]) => [`attributes.${name}`, value] as const);
  return { ...fields, ...Object.fromEntries(each) };
}

/** Another program may use our service account: what tells the two apart is what was set. */
function isOurs(event: AdminEvent, { userId }: EditWindow, sent: JsonObject): boolean {
  if (event.authDetails?.userId !== userId) return false;
  const set = representation(event);
  return set === null || Object.entries(set).every(([field, value]) => sameJson(sent[field], value));
}

function representation(event: AdminEvent): JsonObject | null {
  const text = event.representation ?? '';
  if (text === '') return null;
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function whoOf({ authDetails }: AdminEvent): string {
  const parts = [
    authDetails?.clientId === undefined || authDetails.clientId === null ? null : `client ${authDetails.clientId}`,
    authDetails?.userId === undefined || authDetails.userId === null ? null : `user ${authDetails.userId}`,
    authDetails?.ipAddress === undefined || authDetails.ipAddress === null ? null : `from ${authDetails.ipAddress}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? 'somebody' : parts.join(', ');
}
