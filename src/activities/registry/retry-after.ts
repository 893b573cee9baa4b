/** Longest that a registry can ask to be left alone; beyond it, it is asked again all the same. */
const longestMs = 60 * 60_000;

/**
 * Reads a `Retry-After` header (RFC 9110, section 10.2.3): seconds or a date.
 *
 * @param now epoch milliseconds
 * @returns milliseconds from now, at most an hour; undefined where the header is absent or neither form
 */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text) * 1_000, longestMs);
  // Date.parse takes nearly anything for a date, also a bare year; HTTP's dates start with the day's name.
  const date = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), longestMs);
}
