/** A path that means to every server what it says: its segments and query, decoded. */
export interface RequestPath {
  readonly segments: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** A path that was read, or why it is refused. */
export type PathParse =
  { readonly ok: true; readonly path: RequestPath } | { readonly ok: false; readonly why: string };

const longest = 4_000;

/** Decoded, these are read by one server as a separator or as a second encoding, by another as themselves. */
const treacherous = /[\p{Cc}\p{Cs}/\\;%]/u;

/**
 * Reads the path and query of a request. Only one spelling of a path is accepted; others are refused, never put right,
 * so that nothing can be understood in one way here and in another way by a proxy or the server.
 *
 * @param text from the server's base URL on, such as `/admin/realms/shop/authentication/flows`
 */
export function parsePath(text: string): PathParse {
  if (text.length > longest) return refuse(`it has more than ${longest} characters`);
  if (!text.startsWith('/')) return refuse('it does not begin with /');
  const [path = '', ...queries] = text.split('?');
  if (queries.length > 1) return refuse('it has more than one ?');
  const segments: string[] = [];
  for (const raw of path.slice(1).split('/')) {
    const segment = canonical(raw);
    if (segment === null || segment.trim() === '' || segment === '.' || segment === '..' || treacherous.test(segment)) {
      return refuse(
        `"${raw.slice(0, 60)}" is no plain segment; where it is the name of a flow, rename that in Keycloak`,
      );
    }
    segments.push(segment);
  }
  const query = readQuery(queries[0]);
  return typeof query === 'string' ? refuse(query) : { ok: true, path: { segments, query } };
}

/** Builds the one accepted spelling. */
export function formatPath(segments: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const path = segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
  const fields = Object.entries(query).map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`);
  return fields.length === 0 ? path : `${path}?${fields.join('&')}`;
}

function readQuery(text: string | undefined): Record<string, string> | string {
  if (text === undefined) return {};
  const query: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const field of text.split('&')) {
    const [rawKey = '', rawValue, ...more] = field.split('=');
    const [key, value] = [canonical(rawKey), canonical(rawValue ?? '')];
    if (key === null || key === '' || value === null || rawValue === undefined || more.length > 0) {
      return `its query has a field that is not plain: "${field.slice(0, 60)}"`;
    }
    if (/\p{Cc}/u.test(key + value)) return 'its query holds a control character';
    if (key in query) return `its query says ${key} twice`;
    query[key] = value;
  }
  return query;
}

/** The decoded text, where it was encoded in the one way in which `encodeURIComponent` does; null otherwise. */
function canonical(raw: string): string | null {
  try {
    const decoded = decodeURIComponent(raw);
    return encodeURIComponent(decoded) === raw ? decoded : null;
  } catch {
    return null;
  }
}

function refuse(why: string): PathParse {
  return { ok: false, why };
}
