import { z } from 'zod';
import { read, unmeasured, type Reading } from '../core/verdict.ts';
import type { RealmRepresentation } from './representation.ts';

/** Attributes of the realm that are ours begin with this. */
const prefix = 'holdfast.';

const names = {
  bound: `${prefix}browserFlow.bound`,
  previous: `${prefix}browserFlow.previous`,
  hold: `${prefix}browserFlow.hold`,
} as const;

/** True for an attribute that is ours. */
export function isMark(attribute: string): boolean {
  return attribute.startsWith(prefix);
}

const text = z.string().max(1_000);
const at = z.number();

const boundSchema = z.strictObject({
  /** The KeycloakFlow that bound it. */
  of: text,
  alias: text,
  /** Who let it be bound. */
  by: text,
  at,
  /** When it was found bound away since the day before, epoch milliseconds. */
  away: z.array(at).max(10),
});
const holdSchema = z.strictObject({ by: text, reason: text, at });

/**
 * What stands in the realm itself, so that neither a crash nor the end of the workflow parts it from the binding: what
 * was bound last and by whom, the way back, and whether binding is held. Instants are epoch milliseconds.
 */
export interface RealmMarks {
  readonly bound: z.output<typeof boundSchema> | null;
  /** The alias that was bound before. */
  readonly previous: string | null;
  /** A person's hold, which outranks the bind switch until a person lifts it. */
  readonly hold: z.output<typeof holdSchema> | null;
}

/** A realm that carries no mark. */
export const noRealmMarks: RealmMarks = { bound: null, previous: null, hold: null };

/** The marks of a realm. One that cannot be read might be a hold: then nothing is known, and nothing is bound. */
export function readRealmMarks(attributes: RealmRepresentation['attributes']): Reading<RealmMarks> {
  const bound = readJson(boundSchema, attributes?.[names.bound]);
  const hold = readJson(holdSchema, attributes?.[names.hold]);
  if (bound === 'unreadable') return unreadable(names.bound);
  if (hold === 'unreadable') return unreadable(names.hold);
  const previous = attributes?.[names.previous] ?? '';
  return read({ bound, hold, previous: previous === '' ? null : previous });
}

/** The attributes of a realm with the given marks, and all others as they were. */
export function withRealmMarks(
  attributes: RealmRepresentation['attributes'],
  { bound, previous, hold }: RealmMarks,
): Record<string, string | null> {
  const others = Object.entries(attributes ?? {}).filter(([name]) => !Object.values<string>(names).includes(name));
  const ours = [
    [names.bound, bound === null ? null : JSON.stringify(bound)],
    [names.previous, previous],
    [names.hold, hold === null ? null : JSON.stringify(hold)],
  ] as const;
  return Object.fromEntries([...others, ...ours.filter(([, value]) => value !== null)]);
}

function readJson<Schema extends z.ZodType>(
  schema: Schema,
  value: string | null | undefined,
): z.output<Schema> | null | 'unreadable' {
  if (value === null || value === undefined) return null;
  try {
    const parsed = schema.safeParse(JSON.parse(value));
    return parsed.success ? parsed.data : 'unreadable';
  } catch {
    return 'unreadable';
  }
}

function unreadable(name: string): Reading<RealmMarks> {
  const message = `the realm's attribute ${name} cannot be read, so that it is not known whether binding is held; correct or remove it`;
  return unmeasured(`attribute ${name}`, 'Keycloak', 'unparsed', message);
}
