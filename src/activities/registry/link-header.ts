const linkValue = /\s*<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^",;\s]*))?)*)\s*(?:,|$)/y;

/**
 * The target with `rel="next"` of a `Link` header (RFC 8288), exactly as written: its query is the registry's own.
 *
 * @returns null where no link is called next
 * @throws RangeError where the header is no list of links: what comes next is then not known
 */
export function nextLink(header: string): string | null {
  linkValue.lastIndex = 0;
  while (linkValue.lastIndex < header.length) {
    const link = linkValue.exec(header);
    if (link === null) throw new RangeError('the Link header cannot be read');
    const [, target = '', params = ''] = link;
    if (relationOf(params).includes('next')) return target;
  }
  return null;
}

function relationOf(params: string): readonly string[] {
  const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(params);
  return (rel?.[1] ?? rel?.[2] ?? '').toLowerCase().split(/\s+/);
}
