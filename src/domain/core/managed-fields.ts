/**
 * Who owns a field of a Kubernetes object, from `metadata.managedFields`. The API server keeps there, for each writer,
 * the set of fields it last set, in the FieldsV1 form of structured-merge-diff: `f:NAME` is a field, `k:{…}` a list item
 * by its keys, `v:…` a member of a set, `i:N` an item by position, and `.` the item itself.
 */

/** One writer of a field. */
export interface FieldOwner {
  /** As the writer calls itself, such as `kubectl-set` or `argocd-controller`. */
  readonly manager: string;
  /** `Apply` (server-side apply) or `Update` (everything else). */
  readonly operation: string;
  /** When this writer last changed any of its fields, RFC 3339; null where the object does not tell. */
  readonly time: string | null;
}

/** The part of an entry of `metadata.managedFields` that is read here. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly time?: string;
  readonly fieldsV1?: unknown;
}

/**
 * All owners of a field, the one that wrote last first. More than one when writers agree on the value.
 * @param path such as `spec.template.spec.containers[name=web].image` or `metadata.annotations["holdfast.dev/applied"]`.
 * @throws Error when the path cannot be read; that is a mistake in code, not in data.
 */
export function fieldOwners(entries: readonly ManagedFields[] | undefined, path: string): FieldOwner[] {
  const steps = parseFieldPath(path);
  return (entries ?? [])
    .filter((entry) => owns(entry.fieldsV1, steps))
    .map(({ manager, operation, time }) => ({ manager: manager ?? '', operation: operation ?? '', time: time ?? null }))
    .sort((a, b) => (b.time ?? '').localeCompare(a.time ?? ''));
}

/** The owner that wrote last, or null where nobody is recorded. */
export function fieldOwner(entries: readonly ManagedFields[] | undefined, path: string): FieldOwner | null {
  return fieldOwners(entries, path)[0] ?? null;
}

type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'key'; readonly keys: Readonly<Record<string, string>> }
  | { readonly kind: 'index'; readonly index: number };

function owns(fields: unknown, steps: readonly Step[]): boolean {
  let node: unknown = fields;
  for (const step of steps) {
    if (!isRecord(node)) return false;
    const next = child(node, step);
    if (next === undefined) return false;
    // Nothing below it: the writer owns the whole of it (a leaf, or an atomic list or map above the field).
    if (isRecord(next) && Object.keys(next).length === 0) return true;
    node = next;
  }
  return isRecord(node);
}

function child(node: Readonly<Record<string, unknown>>, step: Step): unknown {
  switch (step.kind) {
    case 'field':
      return node[`f:${step.name}`];
    case 'index':
      return node[`i:${step.index}`];
    case 'key':
      return Object.entries(node).find(([name]) => name.startsWith('k:') && hasKeys(name.slice(2), step.keys))?.[1];
  }
}

/** Keys are compared by value: neither their order nor the spelling of numbers is fixed. */
function hasKeys(json: string, keys: Readonly<Record<string, string>>): boolean {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return false;
  }
  if (!isRecord(parsed) || Object.keys(parsed).length !== Object.keys(keys).length) return false;
  return Object.entries(keys).every(([key, value]) => Object.hasOwn(parsed, key) && String(parsed[key]) === value);
}

const stepPattern = /\.?(?:([^.[\]"]+)|\["([^"]+)"\]|\[(\d+)\]|\[([^\]="]+=[^\]]*)\])/y;

function parseFieldPath(path: string): Step[] {
  const steps: Step[] = [];
  stepPattern.lastIndex = 0;
  while (stepPattern.lastIndex < path.length) {
    const at = stepPattern.lastIndex;
    const match = stepPattern.exec(path);
    if (match === null) throw new Error(`"${path}" is no field path: cannot read it from "${path.slice(at)}"`);
    const [, plain, quoted, index, keys] = match;
    if (keys !== undefined) steps.push({ kind: 'key', keys: parseKeys(keys) });
    else if (index !== undefined) steps.push({ kind: 'index', index: Number(index) });
    else steps.push({ kind: 'field', name: plain ?? quoted ?? '' });
  }
  if (steps.length === 0) throw new Error('an empty text is no field path');
  return steps;
}

function parseKeys(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
