import { redactJson } from '../../domain/core/redact.ts';
import { lostEdits, type LostEdit } from '../../domain/keycloak-flow/lost-edits.ts';
import { isObject, sameJson, type JsonObject } from '../../domain/keycloak-flow/json-body.ts';
import type { AdminEvent, RealmRepresentation } from '../../domain/keycloak-flow/representation.ts';
import type { Session } from './dependencies.ts';

/** A PUT of the realm that took effect. */
export interface RealmPut {
  readonly before: RealmRepresentation;
  readonly sent: JsonObject;
  readonly after: RealmRepresentation;
  /** Milliseconds from asking for `before` to the answer of the PUT: how long an edit could have been lost. */
  readonly windowMs: number;
}

/** What was lost, in words; and what of it could not be looked at. */
export interface LostEditReport {
  readonly lost: readonly string[];
  readonly notVerified: readonly string[];
}

/** Edits of a realm within the window; more of them than this nobody makes by hand. */
const mostEvents = 100;

/**
 * Looks among the admin events for edits that a PUT went over. Keycloak's answers carry no date, so that the window is
 * placed by the event of our own PUT: what we read before it was read at most `windowMs` earlier.
 */
export async function findLostEdits({ reader, client }: Session, put: RealmPut): Promise<LostEditReport> {
  const span = `an edit by somebody else in the last ${Math.ceil(put.windowMs)} ms before the write`;
  const notSeen = (why: string): LostEditReport => ({
    lost: [],
    notVerified: [`${span} would not be noticed: ${why}`],
  });
  if (put.after.adminEventsEnabled !== true) return notSeen('the realm keeps no admin events');
  const events = await reader.realmUpdates(mostEvents);
  if (events.kind === 'unmeasured') return notSeen(events.message);
  const userId = client.userId();
  if (userId === null) return notSeen('the token does not say whose it is, so that our own event cannot be told');
  const own = events.value.find((event) => isOwn(event, userId, put.sent));
  if (own === undefined) return notSeen('our own write is not among the admin events');

  const window = { from: own.time - Math.ceil(put.windowMs), until: own.time + Math.ceil(put.windowMs), userId };
  const oldest = events.value.at(-1);
  if (events.value.length === mostEvents && oldest !== undefined && oldest.time >= window.from) {
    return notSeen(`there are more than ${mostEvents} events`);
  }
  return { lost: lostEdits(events.value, window, put).map(describe), notVerified: [] };
}

function isOwn(event: AdminEvent, userId: string, sent: JsonObject): boolean {
  if (event.authDetails?.userId !== userId) return false;
  const text = event.representation ?? '';
  if (text === '') return true;
  try {
    const set: unknown = JSON.parse(text);
    return isObject(set) && Object.entries(set).every(([field, value]) => sameJson(sent[field], value));
  } catch {
    return false;
  }
}

function describe({ at, by, values }: LostEdit): string {
  const fields = Object.entries(redactJson(values) as JsonObject).map(([field, value]) =>
    value === null ? `${field} (taken away)` : `${field} = ${JSON.stringify(value).slice(0, 200)}`,
  );
  const what = fields.length === 0 ? 'of what the realm keeps no details' : fields.join(', ');
  return `${by} at ${new Date(at).toISOString()}: ${what}`;
}
