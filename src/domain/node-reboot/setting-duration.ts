/** Milliseconds in the units of systemd.time(7); those of Go (`time.ParseDuration`) are among them. */
const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  usec: 1e-3,
  ms: 1,
  msec: 1,
  '': 1_000,
  s: 1_000,
  sec: 1_000,
  second: 1_000,
  seconds: 1_000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
  hr: 3_600_000,
  hour: 3_600_000,
  hours: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  days: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
  weeks: 604_800_000,
};

/**
 * Reads a duration as systemd and the kubelet write it: `1min 30s`, `1m30s`, `90` (seconds), `infinity`. All parts count:
 * `1m30s` is 90 s.
 *
 * @returns milliseconds, Infinity for `infinity`; null where the text is no duration
 */
export function parseSettingDuration(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed === 'infinity') return Number.POSITIVE_INFINITY;
  const part = /(\d+(?:\.\d+)?)\s*([a-zµμ]*)\s*/g;
  if (trimmed === '' || trimmed.replace(part, '') !== '') return null;
  let total = 0;
  for (const [, number = '', unit = ''] of trimmed.matchAll(part)) {
    if (!Object.hasOwn(units, unit)) return null;
    total += Number(number) * (units[unit] ?? 0);
  }
  return total;
}
