/**
 * A JSON value on its way through Temporal, which warns of payloads over 256 KB and refuses those over 2 MB. A large one
 * says what repeats (the image references of five hundred targets, the names of their fields) once, in tables; a small
 * one stands as it is, so that people can read it in the Temporal UI.
 */
export type Packed<T> = { readonly plain: T } | PackedTables;

interface PackedTables {
  /** Long texts that occur more than once. */
  readonly texts: readonly string[];
  /** Fields of objects that occur more than once. */
  readonly shapes: readonly (readonly string[])[];
  /**
   * The value. A text `$N` is the Nth of the table, and `$$…` one that itself begins with `$`. A list begins with 0; one
   * that begins with N is an object with the fields of the shape before the Nth.
   */
  readonly value: unknown;
}

/** Characters of JSON from which a value is packed. */
const LARGE = 32_768;
/** A shorter text would save nothing. */
const LONG = 8;

/**
 * Packs plain JSON.
 *
 * @param large characters of JSON from which it is worth it
 */
export function pack<T>(value: T, large = LARGE): Packed<T> {
  if (JSON.stringify(value).length < large) return { plain: value };
  const texts = new Map<string, number>();
  const shapes = new Map<string, number>();
  count(value, texts, shapes);
  const textPlaces = placesOfRepeated(texts);
  const shapePlaces = placesOfRepeated(shapes);
  return {
    texts: [...textPlaces.keys()],
    shapes: [...shapePlaces.keys()].map((shape) => JSON.parse(shape) as string[]),
    value: packed(value, textPlaces, shapePlaces),
  };
}

/** @throws Error where it names what its tables lack: it was not made by `pack` */
export function unpack<T>(of: Packed<T>): T {
  return 'plain' in of ? of.plain : (unpacked(of.value, of) as T);
}

function count(value: unknown, texts: Map<string, number>, shapes: Map<string, number>): void {
  if (typeof value === 'string') {
    if (value.length >= LONG) texts.set(value, (texts.get(value) ?? 0) + 1);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) {
    const shape = shapeOf(value);
    shapes.set(shape, (shapes.get(shape) ?? 0) + 1);
  }
  for (const item of Object.values(value)) count(item, texts, shapes);
}

function shapeOf(value: object): string {
  return JSON.stringify(Object.keys(value));
}

function placesOfRepeated(counts: ReadonlyMap<string, number>): Map<string, number> {
  const repeated = [...counts].filter(([, times]) => times > 1);
  return new Map(repeated.map(([what], index) => [what, index]));
}

function packed(value: unknown, texts: ReadonlyMap<string, number>, shapes: ReadonlyMap<string, number>): unknown {
  if (typeof value === 'string') {
    const place = texts.get(value);
    if (place !== undefined) return `$${place}`;
    return value.startsWith('$') ? `$${value}` : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return [0, ...value.map((item) => packed(item, texts, shapes))];
  const shape = shapes.get(shapeOf(value));
  if (shape !== undefined) return [shape + 1, ...Object.values(value).map((item) => packed(item, texts, shapes))];
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, packed(item, texts, shapes)]));
}

function unpacked(value: unknown, tables: PackedTables): unknown {
  if (typeof value === 'string') return value.startsWith('$') ? textOf(value, tables) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, unpacked(item, tables)]));
  }
  const [tag, ...rest] = value as [number, ...unknown[]];
  const items = rest.map((item) => unpacked(item, tables));
  if (tag === 0) return items;
  const shape = tables.shapes[tag - 1];
  if (shape === undefined) throw new Error(`a packed value names the shape ${tag}, which it does not have`);
  return Object.fromEntries(shape.map((name, index) => [name, items[index]]));
}

function textOf(text: string, { texts }: PackedTables): string {
  if (text.startsWith('$$')) return text.slice(1);
  const found = texts[Number(text.slice(1))];
  if (found === undefined) throw new Error(`a packed value names the text ${text}, which it does not have`);
  return found;
}
