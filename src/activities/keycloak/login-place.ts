import { unmeasured, type Unmeasured, type UnmeasuredCause } from '../../domain/core/verdict.ts';
import { formatPath } from '../../domain/keycloak-flow/request-path.ts';

/** Where a login is sent to: back to the client with an answer, on to another page of the realm, or elsewhere. */
export type Destination =
  /** `error` is OAuth's (RFC 6749 4.1.2.1), null where there is a code. The code itself is not kept. */
  | { readonly kind: 'client'; readonly error: string | null; readonly state: string | null }
  | { readonly kind: 'step'; readonly path: string; readonly query: Readonly<Record<string, string>> }
  | { readonly kind: 'elsewhere' };

/**
 * Reads a redirect or the action of a form. What host it names is not looked at, since whatever is asked for next is
 * asked of the one server that is configured, which may be known to browsers by another name.
 *
 * @param redirectUri of the client: a redirect there ends a login and is never opened
 */
export function readDestination(text: string, redirectUri: string): Destination {
  const [url, client] = [URL.parse(text), URL.parse(redirectUri)];
  if (url === null || client === null || url.username !== '' || url.password !== '') return { kind: 'elsewhere' };
  if (url.origin === client.origin && url.pathname === client.pathname) {
    const [code, error] = [url.searchParams.get('code') ?? '', url.searchParams.get('error')];
    if (code === '' && error === null) return { kind: 'elsewhere' };
    return { kind: 'client', error: code === '' ? error : null, state: url.searchParams.get('state') };
  }
  const from = url.pathname.indexOf('/realms/');
  const segments = decodedSegments(url.pathname.slice(from + 1));
  const fields = [...url.searchParams];
  const query = Object.fromEntries(fields);
  const plain = from !== -1 && segments !== null && Object.keys(query).length === fields.length;
  return plain ? { kind: 'step', path: formatPath(segments, query), query } : { kind: 'elsewhere' };
}

function decodedSegments(path: string): string[] | null {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return null;
  }
}

/** A step of a login whose answer says nothing about the flow. */
export function loginUnread(why: UnmeasuredCause, message: string): Unmeasured {
  return unmeasured('a login', 'Keycloak', why, message);
}
