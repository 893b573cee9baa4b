/** The cookies of one login. All of them are for the one realm, so that their paths are not looked at. */
export interface CookieJar {
  keep(setCookies: readonly string[]): void;
  /** As the header of a request; empty where there is none. */
  header(): string;
}

/** An empty jar: each login is one of a browser that was never there. */
export function createCookieJar(clock: () => number): CookieJar {
  const cookies = new Map<string, string>();
  return {
    keep(setCookies) {
      for (const text of setCookies) {
        const [pair = '', ...attributes] = text.split(';');
        const cut = pair.indexOf('=');
        const name = pair.slice(0, Math.max(0, cut)).trim();
        if (name === '') continue;
        if (isOver(attributes, clock())) cookies.delete(name);
        else cookies.set(name, pair.slice(cut + 1).trim());
      }
    },
    header: () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
  };
}

/** RFC 6265 5.3: Max-Age outranks Expires. */
function isOver(attributes: readonly string[], now: number): boolean {
  const value = (name: string) =>
    attributes
      .map((attribute) => attribute.trim())
      .find((attribute) => attribute.toLowerCase().startsWith(`${name}=`))
      ?.slice(name.length + 1);
  const maxAge = value('max-age');
  if (maxAge !== undefined) return Number(maxAge) <= 0;
  const expires = Date.parse(value('expires') ?? '');
  return !Number.isNaN(expires) && expires <= now;
}
