/** One way to authenticate that a server offers. */
export interface Challenge {
  /** In lower case, such as `bearer`. */
  readonly scheme: string;
  /** By name in lower case. */
  readonly params: Readonly<Record<string, string>>;
}

const token = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const token68 = /[A-Za-z0-9._~+/-]+=*(?=\s*(?:,|$))/y;
const quoted = /"((?:[^"\\]|\\.)*)"/sy;

/**
 * Reads a `WWW-Authenticate` header (RFC 9110, section 11.6.1): several challenges in one value, parameters as tokens
 * or quoted strings, commas without meaning. What comes after text that is no challenge is not read.
 */
export function parseWwwAuthenticate(header: string): readonly Challenge[] {
  const challenges: Challenge[] = [];
  const at = { index: 0 };
  for (;;) {
    skip(header, at);
    const scheme = match(token, header, at);
    if (scheme === undefined) return challenges;
    challenges.push({ scheme: scheme[0].toLowerCase(), params: readParams(header, at) });
  }
}

function readParams(header: string, at: { index: number }): Record<string, string> {
  const params: Record<string, string> = {};
  if (!/\s/.test(header[at.index] ?? '')) return params;
  const spaceEnd = at.index + (/^\s+/.exec(header.slice(at.index))?.[0].length ?? 0);
  if (match(token68, header, { index: spaceEnd }) !== undefined) {
    token68.lastIndex = spaceEnd;
    at.index = spaceEnd + (token68.exec(header)?.[0].length ?? 0);
    return params;
  }
  for (;;) {
    const start = at.index;
    skip(header, at);
    const name = match(token, header, at);
    const equals = name && match(/\s*=\s*/y, header, at);
    if (!name || !equals) {
      // A word without a value starts the next challenge.
      at.index = start;
      return params;
    }
    const value = match(quoted, header, at)?.[1]?.replace(/\\(.)/gs, '$1') ?? match(token, header, at)?.[0];
    if (value === undefined) {
      at.index = header.length;
      return params;
    }
    const key = name[0].toLowerCase();
    // The first one counts: a repeated parameter is not allowed, and must not override what was read.
    if (!Object.hasOwn(params, key)) {
      Object.defineProperty(params, key, { value, enumerable: true, writable: true, configurable: true });
    }
  }
}

function skip(header: string, at: { index: number }): void {
  while (/[\s,]/.test(header[at.index] ?? '')) at.index++;
}

function match(pattern: RegExp, header: string, at: { index: number }): RegExpExecArray | undefined {
  pattern.lastIndex = at.index;
  const found = pattern.exec(header);
  if (found === null) return undefined;
  at.index = pattern.lastIndex;
  return found;
}
