/** A path into an object, step by step; see {@link parseObjectPath}. */
export type ObjectPath = readonly PathStep[];

type PathStep =
  | { readonly step: 'field'; readonly name: string }
  | { readonly step: 'index'; readonly index: number }
  | { readonly step: 'all' }
  | { readonly step: 'where'; readonly path: ObjectPath; readonly equal: boolean; readonly text: string };

/** A path that was understood, or why it was not. */
export type ObjectPathParse =
  { readonly ok: true; readonly path: ObjectPath } | { readonly ok: false; readonly message: string };

const expected = 'expected a path such as {.status.conditions[?(@.type=="Ready")].status}';

const field = /^\.((?:\\.|[^.[\]{}()\\'"=!@*?\s])+)/;
const quotedField = /^\[(?:'([^']+)'|"([^"]+)")\]/;
const anyItem = /^(?:\[\*\]|\.\*)/;
const numberedItem = /^\[(-?\d{1,6})\]/;
const condition =
  /^\[\?\(\s*@((?:\.(?:\\.|[^.[\]{}()\\'"=!@*?\s])+)+)\s*(==|!=)\s*(?:'([^']*)'|"([^"]*)"|([\w.-]+))\s*\)\]/;

/**
 * Understands the part of Kubernetes' JSONPath that asks one thing of an object: fields (with `\.` for a dot in a name),
 * items by number, `[*]`, and conditions with `==` or `!=`. What else there is, such as ranges and `..`, is refused.
 */
export function parseObjectPath(text: string): ObjectPathParse {
  const trimmed = text.trim();
  const bare = /^\{(.*)\}$/s.exec(trimmed)?.[1] ?? trimmed;
  const path: PathStep[] = [];
  let rest = bare.startsWith('$') ? bare.slice(1) : bare;
  while (rest !== '') {
    const next = nextStep(rest);
    if (next === null) return { ok: false, message: `${expected}, got ${JSON.stringify(text)}: see at "${rest}"` };
    path.push(next.step);
    rest = rest.slice(next.length);
  }
  return path.length === 0 ? { ok: false, message: `${expected}, got ${JSON.stringify(text)}` } : { ok: true, path };
}

function nextStep(text: string): { readonly step: PathStep; readonly length: number } | null {
  const all = anyItem.exec(text);
  if (all !== null) return { step: { step: 'all' }, length: all[0].length };
  const named = field.exec(text) ?? quotedField.exec(text);
  if (named !== null) {
    const name = named[1] ?? named[2] ?? '';
    return { step: { step: 'field', name: unescaped(name) }, length: named[0].length };
  }
  const numbered = numberedItem.exec(text);
  if (numbered !== null) return { step: { step: 'index', index: Number(numbered[1]) }, length: numbered[0].length };
  const where = condition.exec(text);
  if (where === null) return null;
  const [whole, inner = '', operator, ...values] = where;
  const parsed = parseObjectPath(inner);
  if (!parsed.ok) return null;
  const value = values.find((one) => one !== undefined) ?? '';
  return { step: { step: 'where', path: parsed.path, equal: operator === '==', text: value }, length: whole.length };
}

function unescaped(name: string): string {
  return name.replace(/\\(.)/g, '$1');
}

/**
 * All that a path leads to in an object, as text: numbers and booleans as JSON writes them, and so objects and lists. What
 * is absent or null leads to nothing.
 */
export function valuesAt(object: unknown, path: ObjectPath): readonly string[] {
  return path
    .reduce<readonly unknown[]>((found, step) => found.flatMap((one) => follow(one, step)), [object])
    .map(shown);
}

function follow(value: unknown, step: PathStep): readonly unknown[] {
  switch (step.step) {
    case 'field':
      return isObject(value) && Object.hasOwn(value, step.name) ? present(value[step.name]) : [];
    case 'index':
      return Array.isArray(value) ? present(value.at(step.index)) : [];
    case 'all':
      return itemsOf(value);
    case 'where':
      return itemsOf(value).filter((item) => valuesAt(item, step.path).includes(step.text) === step.equal);
  }
}

function itemsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap(present);
  return isObject(value) ? Object.values(value).flatMap(present) : [];
}

function present(value: unknown): readonly unknown[] {
  return value === undefined || value === null ? [] : [value];
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
