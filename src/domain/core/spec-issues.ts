import type { z } from 'zod';
import type { Path } from './finding.ts';
import type { Place } from './spec-yaml.ts';
import { suggest } from './suggest.ts';

/** What is wrong with a value, in the words of a person who helps. */
export interface Problem {
  readonly path: Path;
  /** True where the name of the field is wrong, not its value. */
  readonly aboutKey: boolean;
  /** The field that was meant, where that can be told. */
  readonly meant?: string;
  readonly message: string;
}

type Issue = z.core.$ZodIssue;

/** Beyond this many unknown fields a file is no misspelt spec, and putting each right costs a copy. */
const mostFixed = 100;

/**
 * Judges a document by a schema.
 *
 * @param value the document as plain JSON
 * @param place where its values stand, for what the text shows and the value does not (`1.10`)
 * @returns the schema's output, or every problem, with the places of the fields that were meant beside those written
 */
export function judge<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: Place,
): { ok: true; output: z.output<Schema> } | { ok: false; problems: Problem[]; place: Place } {
  const parsed = schema.safeParse(value, { error: nameKnownFields });
  if (parsed.success) return { ok: true, output: parsed.data };
  const problems = problemsOf(parsed.error.issues, value, place);

  // Rules that compare fields run only where all fields are known: look once more with the misspelt ones put right.
  const unknown = problems.filter((problem) => problem.aboutKey);
  if (unknown.length === 0 || unknown.length > mostFixed) return { ok: false, problems, place };
  const fixed = unknown.reduce<Fixed>(withoutUnknown, { value, place });
  const again = schema.safeParse(fixed.value, { error: nameKnownFields });
  const rest = again.success ? [] : problemsOf(again.error.issues, fixed.value, fixed.place);
  return { ok: false, problems: [...unknown, ...rest], place: fixed.place };
}

/**
 * A schema's own message always wins; ours are made afterwards, from the text. Only here is the schema at hand that
 * met an unknown field, so the fields that it knows travel in the message.
 */
function nameKnownFields(issue: z.core.$ZodRawIssue): string {
  if (issue.code !== 'unrecognized_keys') return '';
  const definition = issue.inst?._zod.def as { shape?: Record<string, unknown> } | undefined;
  return JSON.stringify(Object.keys(definition?.shape ?? {}));
}

function problemsOf(issues: readonly Issue[], value: unknown, place: Place): Problem[] {
  return issues.flatMap((issue) => problemsOfIssue(issue, value, place));
}

function problemsOfIssue(issue: Issue, value: unknown, place: Place): Problem[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? step.toString() : step));
  const found = valueAt(value, path);
  if (issue.code === 'unrecognized_keys') return unknownFields(path, issue.keys, knownFields(issue), found);
  const isMap = typeof found === 'object' && found !== null;
  if (
    issue.code === 'invalid_union' &&
    issue.errors.length > 0 &&
    found !== undefined &&
    (issue.message === '' || isMap)
  ) {
    return problemsOfUnion(issue.errors, path, found, placeAt(place, path));
  }
  if (issue.code === 'invalid_key') {
    // What is judged is the name of the field, which stands where no quotes were needed.
    const name = path.at(-1);
    return problemsOf(issue.issues, name, placeAt(place, path)).map((p) => ({ ...p, path, aboutKey: true }));
  }
  if (issue.code === 'invalid_element') {
    const inner = problemsOf(issue.issues, found, placeAt(place, path));
    return inner.map((p) => ({ ...p, path: [...path, ...p.path] }));
  }
  if (found === undefined && issue.code !== 'custom') {
    return [{ path, aboutKey: false, message: `required field is missing; ${expected(issue)}` }];
  }
  return [{ path, aboutKey: false, message: describeIssue(issue, found, placeAt(place, path)) }];
}

/** @param found the map that has them: a field that it has already is hardly the one that was meant */
function unknownFields(path: Path, keys: readonly string[], known: readonly string[], found: unknown): Problem[] {
  const missing = known.filter((field) => valueAt(found, [field]) === undefined);
  return keys.map((key) => {
    const near = suggest(key, missing) ?? suggest(key, known);
    const shown = key.length > 60 ? `${key.slice(0, 60)}…` : key;
    const message = `unknown field "${shown}"; ${near === undefined ? listed(known) : `did you mean "${near}"?`}`;
    return { path: [...path, key], aboutKey: true, message, ...(near === undefined ? {} : { meant: near }) };
  });
}

function listed(known: readonly string[]): string {
  if (known.length === 0) return 'no field is known here';
  return known.length > 12 ? 'the schema of the kind lists the fields' : `known fields: ${known.join(', ')}`;
}

function knownFields(issue: Issue): string[] {
  return JSON.parse(issue.message) as string[];
}

/**
 * Of several forms that a value could have, the one that it most likely was meant to have. Where none is likelier than
 * the others, what all of them lack or do not know.
 */
function problemsOfUnion(branches: readonly (readonly Issue[])[], path: Path, found: unknown, place: Place): Problem[] {
  const flat = branches.map((issues) => issues.map((issue) => ({ issue, distance: distance(issue, found) })));
  const costs = flat.map((issues) => issues.reduce((sum, { distance: cost }) => sum + cost, 0));
  const least = Math.min(...costs);
  const best = branches.filter((_, index) => costs[index] === least);
  const prefixed = (problems: Problem[]) => problems.map((p) => ({ ...p, path: [...path, ...p.path] }));

  if (best.length === 1) return prefixed(problemsOf(best[0] ?? [], found, place));
  const unknown = best.map((issues) => issues.find((i) => i.code === 'unrecognized_keys' && i.path.length === 0));
  const common = unknown
    .map((i) => (i?.code === 'unrecognized_keys' ? i.keys : []))
    .reduce((a, b) => a.filter((k) => b.includes(k)));
  const known = unknown.flatMap((i) => (i === undefined ? [] : knownFields(i)));
  if (common.length > 0) return unknownFields(path, common, [...new Set(known)], found);
  if (typeof found === 'object' && found !== null && Object.keys(found).length > 1 && known.length > 0) {
    return [{ path, aboutKey: false, message: `expected only one of ${[...new Set(known)].join(', ')}` }];
  }
  const missing = best.map(
    (issues) => issues.find((i) => i.path.length === 1 && valueAt(found, i.path) === undefined)?.path[0],
  );
  if (missing.every((field) => field !== undefined)) {
    return [{ path, aboutKey: false, message: `expected one of ${missing.map(String).join(', ')}` }];
  }
  const forms = best.map((issues) => (issues[0] === undefined ? '' : expected(issues[0]).replace(/^expected /, '')));
  return [
    { path, aboutKey: false, message: `expected ${[...new Set(forms)].join(' or ')}, got ${show(found, place)}` },
  ];
}

/** How far an issue says that the value is from the form it was held against. */
function distance(issue: Issue, found: unknown): number {
  const whole = issue.path.length === 0;
  if (whole && (issue.code === 'invalid_type' || issue.code === 'invalid_value')) return 1_000;
  if (whole && issue.code === 'unrecognized_keys') return 100 * issue.keys.length;
  if (issue.path.length === 1 && valueAt(found, issue.path) === undefined) return 50;
  return 1;
}

function describeIssue(issue: Issue, found: unknown, place: Place): string {
  const own = issue.message;
  const got = `, got ${show(found, place)}${hint(issue, found, place)}`;
  if (own === '') return expected(issue) + got;
  // A rule about several fields of a map is not about the map as a value.
  const aboutWhole = issue.code === 'custom' && typeof found === 'object' && found !== null;
  const complete = !own.startsWith('expected ') || own.includes(', got ') || aboutWhole || found === undefined;
  return complete ? own : own + got;
}

/** What a schema wanted, as the beginning of a sentence. */
function expected(issue: Issue): string {
  if (issue.message.startsWith('expected ')) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${typeNames[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `expected ${JSON.stringify(issue.values[0])}`
        : `expected one of ${issue.values.map((v) => String(v)).join(', ')}`;
    case 'too_small':
      return `expected ${bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)}`;
    case 'too_big':
      return `expected ${bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)}`;
    case 'invalid_format':
      return `expected ${format(issue)}`;
    case 'not_multiple_of':
      return `expected a multiple of ${issue.divisor}`;
    case 'invalid_union': {
      const forms = issue.errors.map((errors) =>
        errors[0] === undefined ? '' : expected(errors[0]).replace(/^expected /, ''),
      );
      return `expected ${[...new Set(forms)].filter((form) => form !== '').join(' or ')}`;
    }
    case 'unrecognized_keys':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return 'expected another value';
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map',
  record: 'a map',
  array: 'a list',
  tuple: 'a list',
  null: 'nothing',
  nonoptional: 'a value',
};

function bound(origin: string, relation: string, limit: number | bigint): string {
  if (origin === 'string')
    return limit === 1n || limit === 1 ? `a string that is not empty` : `${relation} ${limit} characters`;
  if (origin === 'array' || origin === 'set') return `${relation} ${limit} ${limit === 1 ? 'item' : 'items'}`;
  if (origin === 'object' || origin === 'map') return `${relation} ${limit} ${limit === 1 ? 'field' : 'fields'}`;
  return `a number of ${relation} ${limit}`;
}

function format(issue: Extract<Issue, { code: 'invalid_format' }>): string {
  if (issue.format === 'url') return 'a URL such as https://example.com/health';
  if (issue.format === 'starts_with' && 'prefix' in issue) return `a string that starts with "${String(issue.prefix)}"`;
  if (issue.format === 'ends_with' && 'suffix' in issue) return `a string that ends with "${String(issue.suffix)}"`;
  if (issue.format === 'includes' && 'includes' in issue) return `a string that contains "${String(issue.includes)}"`;
  if (issue.format === 'regex' && issue.pattern !== undefined) return `a string that matches ${issue.pattern}`;
  return `a valid ${issue.format}`;
}

/** What a person most likely meant, as the end of a sentence. */
function hint(issue: Issue, found: unknown, place: Place): string {
  if (found === null) return ': give a value or remove the line';
  if (issue.code === 'invalid_value' && typeof found === 'string') {
    const near = suggest(
      found,
      issue.values.filter((v) => typeof v === 'string'),
    );
    return near === undefined ? '' : `: did you mean ${near}?`;
  }
  if (issue.code !== 'invalid_type') return '';
  const wanted: string = issue.expected;
  if (wanted === 'string' && (typeof found === 'number' || typeof found === 'boolean')) {
    return `: put it in quotes, "${place.plain ?? String(found)}"`;
  }
  if (wanted === 'boolean' && typeof found === 'string') return booleanHint(found);
  if (
    (wanted === 'number' || wanted === 'int') &&
    typeof found === 'string' &&
    found.trim() !== '' &&
    !Number.isNaN(Number(found))
  ) {
    return `: write ${found} without quotes`;
  }
  if (wanted === 'array' && found !== undefined) return ': begin each item with a dash';
  return '';
}

/** YAML 1.1 took these for booleans; YAML 1.2 does not. */
function booleanHint(found: string): string {
  const word = found.toLowerCase();
  if (['true', 'yes', 'on', 'y', '1', 'enabled'].includes(word))
    return word === 'true' ? ': write true without quotes' : ': write true';
  if (['false', 'no', 'off', 'n', '0', 'disabled'].includes(word))
    return word === 'false' ? ': write false without quotes' : ': write false';
  return '';
}

function show(found: unknown, place: Place): string {
  if (found === null || found === undefined) return 'nothing';
  if (typeof found === 'string') return JSON.stringify(found.length > 60 ? `${found.slice(0, 60)}…` : found);
  if (typeof found === 'number') return `the number ${place.plain ?? found}`;
  if (typeof found === 'boolean') return place.plain ?? String(found);
  const size = Object.keys(found).length;
  return `${size === 0 ? 'an empty' : 'a'} ${Array.isArray(found) ? 'list' : 'map'}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[step];
  }
  return at;
}

/** The place of the value at a path, or of the innermost value around it that exists. */
export function placeAt(place: Place, path: Path): Place {
  let at = place;
  for (const step of path) {
    const next = at.children.get(step);
    if (next === undefined) return at;
    at = next;
  }
  return at;
}

/**
 * Where a finding points: at a scalar itself, at the name of a map or list, and at the innermost value that exists
 * where a field is missing.
 */
export function offsetOf(root: Place, path: Path, aboutKey: boolean): number {
  const place = placeAt(root, path);
  if (aboutKey || place.form !== 'scalar') return place.key ?? place.value;
  return place.value;
}

interface Fixed {
  readonly value: unknown;
  readonly place: Place;
}

/** The document without an unknown field, or with the field that it was meant to be where that one is missing. */
function withoutUnknown(fixed: Fixed, problem: Problem): Fixed {
  const [parents, name] = [problem.path.slice(0, -1), problem.path.at(-1)];
  const parent = valueAt(fixed.value, parents);
  if (typeof name !== 'string' || typeof parent !== 'object' || parent === null) return fixed;
  const children = new Map(placeAt(fixed.place, parents).children);
  const { [name]: content, ...rest } = parent as Record<string, unknown>;
  const child = children.get(name);
  const takesPlace = problem.meant !== undefined && !Object.hasOwn(rest, problem.meant) && child !== undefined;
  if (takesPlace) children.set(problem.meant, child);
  const value = takesPlace ? { ...rest, [problem.meant]: content } : rest;
  return {
    value: replacedAt(fixed.value, parents, value),
    place: replacedPlace(fixed.place, parents, children),
  };
}

function replacedAt(value: unknown, path: Path, by: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return by;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === step ? replacedAt(item, rest, by) : item));
  return { ...(value as object), [step]: replacedAt(valueAt(value, [step]), rest, by) };
}

function replacedPlace(place: Place, path: Path, children: Place['children']): Place {
  const [step, ...rest] = path;
  if (step === undefined) return { ...place, children };
  const next = place.children.get(step);
  if (next === undefined) return place;
  return { ...place, children: new Map(place.children).set(step, replacedPlace(next, rest, children)) };
}
