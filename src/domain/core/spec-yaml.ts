import { Composer, Parser, isAlias, isMap, isPair, isScalar, isSeq } from 'yaml';
import type { CST, Document, Node, ParsedNode, YAMLParseError, YAMLWarning } from 'yaml';
import type { Path } from './finding.ts';

/** A spec has some ten levels; a thousand are an attack on whoever walks them. */
const deepest = 32;

/** Where a value stands in the text. Offsets are in UTF-16 units. */
export interface Place {
  /** Where its key begins, for a value in a map. */
  readonly key?: number;
  /** Where the value itself begins. */
  readonly value: number;
  readonly end: number;
  /** What kind of value it is: `blank` where a key stands alone. */
  readonly form: 'map' | 'list' | 'scalar' | 'blank';
  /** The characters of a scalar that stands without quotes, such as `1.10`. */
  readonly plain?: string;
  readonly children: Map<string | number, Place>;
}

/** One document of a file as plain JSON, with the place of each of its values. */
export interface YamlDocument {
  readonly value: unknown;
  /** True where something was left out of `value`, such as a duplicate: it can be judged further but not used. */
  readonly incomplete: boolean;
  readonly place: Place;
}

/** Something that is wrong with the text itself. */
export interface TextFault {
  readonly offset: number;
  readonly path: Path;
  readonly message: string;
}

/**
 * Reads YAML 1.2 (and JSON, which is YAML) with all of its documents; empty ones are left out. What makes a document
 * mean something else than it seems to is refused: anchors, aliases, merge keys, tags, directives, duplicate keys.
 *
 * @returns the documents that can be judged further, and every fault; a document whose syntax is broken is left out
 */
export function parseYaml(text: string): { documents: YamlDocument[]; faults: TextFault[] } {
  const documents: YamlDocument[] = [];
  const faults: TextFault[] = [];
  const tokens: CST.Token[] = [];
  for (const token of new Parser().parse(text)) {
    if (token.type === 'directive') {
      faults.push(fault(token.offset, [], `directives (${cut(token.source)}) are not supported; remove the line`));
      continue;
    }
    const tooDeep = token.type === 'document' ? nestedTooDeep(token) : undefined;
    if (tooDeep === undefined) tokens.push(token);
    else faults.push(fault(tooDeep, [], `expected at most ${deepest} levels of nesting, got more`));
  }

  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
  });
  for (const composed of composer.compose(tokens)) {
    const read = readDocument(text, composed);
    faults.push(...read.faults);
    if (read.document !== undefined) documents.push(read.document);
  }
  return { documents, faults };
}

/** The innermost value that spans an offset, with its path. */
function innermostAt(place: Place, offset: number, path: Path = []): { place: Place; path: Path } {
  let last: [string | number, Place] | undefined;
  for (const entry of place.children) {
    if ((entry[1].key ?? entry[1].value) < offset) last = entry;
  }
  if (last === undefined || offset > last[1].end) return { place, path };
  return innermostAt(last[1], offset, [...path, last[0]]);
}

function readDocument(text: string, composed: Document.Parsed): { document?: YamlDocument; faults: TextFault[] } {
  const reader: Reader = { faults: [] };
  const { value, place } = read(composed.contents, undefined, [], reader);
  // A tag that nothing resolves is refused with every other tag.
  const errors = [...composed.errors, ...composed.warnings].filter((error) => error.code !== 'TAG_RESOLVE_FAILED');
  const broken = errors.map((error) => syntaxFault(text, place, error));
  // One mistake makes the parser stumble several times in its line; the first says it best.
  const firstOfLine = broken.filter(
    (f, index) => index === 0 || lineOf(text, f.offset) !== lineOf(text, broken[index - 1]?.offset ?? 0),
  );
  if (firstOfLine.length > 0) return { faults: firstOfLine.slice(0, 10) };
  if (reader.refused === true) return { faults: reader.faults };
  if (place.form === 'blank') return { faults: reader.faults };
  return { document: { value, place, incomplete: reader.faults.length > 0 }, faults: reader.faults };
}

function syntaxFault(text: string, root: Place, error: YAMLParseError | YAMLWarning): TextFault {
  const offset = error.pos[0];
  const tab = tabInIndentation(text, offset);
  if (tab !== undefined)
    return fault(tab, innermostAt(root, tab).path, 'a tab is used for indentation; YAML wants spaces');
  const { place, path } = innermostAt(root, offset);
  if (error.code === 'MISSING_CHAR' && error.message.startsWith('Missing closing')) {
    return fault(place.value, path, `this is not valid YAML: the quote that begins here is never closed`);
  }
  return fault(offset, path, `this is not valid YAML: ${explain(error.code, error.message)}`);
}

interface Reader {
  readonly faults: TextFault[];
  /** Set where the document means something else than what was read. */
  refused?: boolean;
}

interface Read {
  readonly value: unknown;
  readonly place: Place;
}

function read(node: ParsedNode | Node | null, key: number | undefined, path: Path, reader: Reader): Read {
  const at = {
    ...(key === undefined ? {} : { key }),
    value: node?.range?.[0] ?? key ?? 0,
    end: node?.range?.[2] ?? key ?? 0,
  };
  if (node === null) return { value: null, place: { ...at, form: 'blank', children: new Map() } };
  refuseSpecials(node, at.value, path, reader);
  if (isMap(node)) return readMap(node.items, at, path, reader);
  if (isSeq(node)) return readList(node.items as (ParsedNode | null)[], at, path, reader);
  if (!isScalar(node)) return { value: null, place: { ...at, form: 'scalar', children: new Map() } };
  const blank = node.value === null && (node.source ?? '') === '';
  const plain = node.type === 'PLAIN' && !blank ? { plain: node.source ?? '' } : {};
  return { value: node.value, place: { ...at, ...plain, form: blank ? 'blank' : 'scalar', children: new Map() } };
}

type At = Pick<Place, 'key' | 'value' | 'end'>;

function readMap(items: readonly unknown[], at: At, path: Path, reader: Reader): Read {
  const entries: [string, unknown][] = [];
  const children = new Map<string | number, Place>();
  for (const item of items) {
    if (!isPair<ParsedNode, ParsedNode | null>(item)) continue;
    const start = item.key?.range?.[0] ?? at.value;
    const name: unknown = isScalar(item.key) ? item.key.value : undefined;
    if (item.key !== null) refuseSpecials(item.key, start, path, reader);
    if (typeof name !== 'string') {
      reader.faults.push(fault(start, path, `expected the name of a field, got ${describeKey(item.key)}`));
      continue;
    }
    const inner = [...path, name];
    const earlier = children.get(name);
    if (name === '<<') {
      reader.faults.push(fault(start, inner, 'merge keys (<<) are not supported; write the fields out'));
      reader.refused = true;
    } else if (name === '__proto__') {
      reader.faults.push(fault(start, inner, 'unknown field "__proto__"'));
    } else if (earlier !== undefined) {
      reader.faults.push(fault(start, inner, `duplicate field "${cut(name)}"; keep one of the two`));
    } else {
      const child = read(item.value, start, inner, reader);
      children.set(name, child.place);
      entries.push([name, child.value]);
    }
  }
  return { value: Object.fromEntries(entries), place: { ...at, form: 'map', children } };
}

function readList(items: readonly (ParsedNode | null)[], at: At, path: Path, reader: Reader): Read {
  const values: unknown[] = [];
  const children = new Map<string | number, Place>();
  for (const [index, item] of items.entries()) {
    const child = read(item, undefined, [...path, index], reader);
    children.set(index, child.place);
    values.push(child.value);
  }
  return { value: values, place: { ...at, form: 'list', children } };
}

/** Anchors, aliases and tags let a text mean something else than what it shows. */
function refuseSpecials(node: ParsedNode | Node, offset: number, path: Path, reader: Reader): void {
  const refuse = (message: string) => {
    reader.faults.push(fault(offset, path, message));
    reader.refused = true;
  };
  if (isAlias(node)) return refuse(`aliases (*${cut(node.source)}) are not supported; write the value out`);
  if ('anchor' in node && typeof node.anchor === 'string') {
    refuse(`anchors (&${cut(node.anchor)}) are not supported; write the value out where it is used`);
  }
  if (node.tag !== undefined)
    refuse(
      `tags (${cut(node.tag.replace('tag:yaml.org,2002:', '!!'))}) are not supported; write the value plainly, a text in quotes`,
    );
}

/** The offset of the first value that is nested too deep, found without recursion. */
function nestedTooDeep(document: CST.Document): number | undefined {
  const open: { token: CST.Token; depth: number }[] = [];
  const visit = (token: CST.Token | null | undefined, depth: number) => {
    if (token) open.push({ token, depth });
  };
  visit(document.value, 1);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (depth > deepest) return token.offset;
    if (!('items' in token)) continue;
    for (const item of token.items) {
      visit(item.key, depth + 1);
      visit(item.value, depth + 1);
    }
  }
  return undefined;
}

function fault(offset: number, path: Path, message: string): TextFault {
  return { offset, path, message };
}

function describeKey(key: ParsedNode | null): string {
  if (!isScalar(key) || key.value === null) return key === null || isScalar(key) ? 'nothing' : 'a list or map';
  return `${typeof key.value === 'number' ? 'the number ' : ''}${cut(key.source)}: put it in quotes`;
}

/** What the parser says, in words that help. */
function explain(code: string, message: string): string {
  if (code === 'BLOCK_AS_IMPLICIT_KEY') {
    return 'a field inside a value; check the indentation, and put a text with ": " in quotes';
  }
  if (code === 'BAD_ALIAS') return 'a * or & begins an alias or anchor; put the text in quotes';
  const bracket = /must be sufficiently indented and end with a (.)/.exec(message)?.[1];
  if (bracket !== undefined) return `a ${bracket} is missing before this`;
  return message.replace(/\s+/g, ' ');
}

/** The offset of a tab among the white space that begins the line of an offset, where it is what the parser met. */
function tabInIndentation(text: string, offset: number): number | undefined {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const indentation = /^[ \t]*/.exec(text.slice(start, start + 1_000))?.[0] ?? '';
  const tab = indentation.indexOf('\t');
  return tab === -1 ? undefined : start + tab;
}

function lineOf(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1);
}

function cut(text: string | undefined): string {
  const shown = text ?? '';
  return shown.length > 40 ? `${shown.slice(0, 40)}…` : shown;
}
