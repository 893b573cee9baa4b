/** An input of a form. */
export interface FormField {
  readonly name: string;
  /** In lower case; `text` where the page does not say. */
  readonly type: string;
  readonly value: string;
  readonly checked: boolean;
}

/** A form of a page, as a browser would submit it. */
export interface HtmlForm {
  readonly id: string;
  readonly action: string;
  /** In lower case. */
  readonly method: string;
  readonly fields: readonly FormField[];
}

/** What is read of a page. */
export interface HtmlForms {
  readonly forms: readonly HtmlForm[];
  /** The ids of all elements. */
  readonly ids: ReadonlySet<string>;
}

type Attributes = ReadonlyMap<string, string>;

interface Tag {
  readonly name: string;
  readonly closes: boolean;
  readonly attributes: Attributes;
}

/** What stands in these is text, whatever it looks like. */
const rawText: readonly string[] = ['script', 'style', 'textarea', 'title', 'template', 'noscript'];

/**
 * Reads the forms of a page: `form`, `input` and ids, and nothing else. Strict where a browser is lenient: a page that
 * is cut short, or in which a tag is not well formed or a form stands in another, is not read at all.
 *
 * @returns null where the page is not one that can be read without guessing
 */
export function readForms(html: string): HtmlForms | null {
  const tags = readTags(html);
  if (tags === null || !tags.some((tag) => tag.closes && tag.name === 'html')) return null;
  const ids = new Set<string>();
  const forms: HtmlForm[] = [];
  let open: { readonly attributes: Attributes; readonly fields: FormField[] } | null = null;
  for (const { name, closes, attributes } of tags) {
    const id = attributes.get('id');
    if (id !== undefined) ids.add(id);
    if (name === 'form' && closes) {
      if (open === null) return null;
      forms.push(formOf(open.attributes, open.fields));
      open = null;
    } else if (name === 'form') {
      if (open !== null) return null;
      open = { attributes, fields: [] };
    } else if (name === 'input' && open !== null) {
      open.fields.push(fieldOf(attributes));
    }
  }
  return open === null ? { forms, ids } : null;
}

function formOf(attributes: Attributes, fields: readonly FormField[]): HtmlForm {
  return {
    id: attributes.get('id') ?? '',
    action: attributes.get('action') ?? '',
    method: (attributes.get('method') ?? 'get').toLowerCase(),
    fields,
  };
}

function fieldOf(attributes: Attributes): FormField {
  return {
    name: attributes.get('name') ?? '',
    type: (attributes.get('type') ?? 'text').toLowerCase(),
    value: attributes.get('value') ?? '',
    checked: attributes.has('checked'),
  };
}

/** Null where a tag does not end. */
function readTags(html: string): Tag[] | null {
  const tags: Tag[] = [];
  const lower = html.toLowerCase();
  let at = html.indexOf('<');
  while (at !== -1) {
    let next: number;
    if (html.startsWith('<!--', at)) {
      next = endOf(html, '-->', at + 4);
    } else if (html.startsWith('<!', at) || html.startsWith('<?', at)) {
      next = endOf(html, '>', at + 2);
    } else if (/[a-zA-Z/]/.test(html[at + 1] ?? '')) {
      const tag = readTag(html, at);
      if (tag === null) return null;
      tags.push(tag.tag);
      next = tag.end;
      const { name, closes } = tag.tag;
      if (!closes && rawText.includes(name)) next = lower.indexOf(`</${name}`, next);
    } else {
      // A lone "<" is text.
      next = at + 1;
    }
    if (next === -1) return null;
    at = html.indexOf('<', next);
  }
  return tags;
}

/** Behind what ends it; -1 where nothing does. */
function endOf(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found === -1 ? -1 : found + mark.length;
}

function readTag(html: string, at: number): { readonly tag: Tag; readonly end: number } | null {
  const head = /<(\/?)([a-zA-Z][a-zA-Z0-9:-]*)/y;
  const attribute = /[\s/]*([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/y;
  const end = /[\s/]*>/y;
  head.lastIndex = at;
  const started = head.exec(html);
  if (started === null) return null;
  const attributes = new Map<string, string>();
  let next = head.lastIndex;
  for (;;) {
    end.lastIndex = next;
    if (end.test(html)) break;
    attribute.lastIndex = next;
    const found = attribute.exec(html);
    if (found === null) return null;
    const [, name = '', doubled, single, bare] = found;
    const key = name.toLowerCase();
    // Of two the first counts, as in every browser.
    if (!attributes.has(key)) attributes.set(key, unescapeHtml(doubled ?? single ?? bare ?? ''));
    next = attribute.lastIndex;
  }
  const [, slash = '', name = ''] = started;
  return { tag: { name: name.toLowerCase(), closes: slash !== '', attributes }, end: end.lastIndex };
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Numbers, and the five names that templates escape to; anything else stays as it is. */
function unescapeHtml(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));/gi, (all, hex, decimal, name) => {
    if (typeof name === 'string') return named[name.toLowerCase()] ?? all;
    const code = typeof hex === 'string' ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
