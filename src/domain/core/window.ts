import { z } from 'zod';

/** Days as they are written in a window. */
export const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
type Weekday = (typeof weekdays)[number];

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Every window opens at least once in a week; a spring night can swallow one opening. */
const daysSearched = 15;

const timeOfDay = z
  .string()
  .regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, 'expected a time of day from 00:00 to 23:59, such as 22:00');
const endOfDay = z
  .string()
  .regex(/^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$/, 'expected a time of day from 00:00 to 24:00, such as 05:00');

const timeZone = z
  .string()
  .refine(isTimeZone, 'expected a time zone of the IANA list, such as Europe/Berlin or UTC')
  .meta({ examples: ['Europe/Berlin', 'UTC'] });

/**
 * A window in which work may start: from one time of day to another, on the given days, by the clocks of a named zone.
 * An end at or before the start means the next day; the days are those on which the window opens.
 */
export const windowSchema = z
  .strictObject({
    days: z.array(z.enum(weekdays)).min(1).max(7).optional().describe('Days on which the window opens [every day].'),
    from: timeOfDay.describe('When the window opens, such as 22:00.'),
    to: endOfDay.describe('When it closes, such as 05:00; at or before `from` it is the next day.'),
    timeZone: timeZone.describe('The zone whose clocks count, such as Europe/Berlin.'),
  })
  .refine((window) => window.from !== window.to, {
    message: 'opens and closes at the same time; write from 00:00 to 24:00 for a whole day',
    path: ['to'],
  });

const instant = z
  .string()
  .refine(isInstant, 'expected an instant with its offset, such as 2026-12-20T00:00:00+01:00')
  .meta({ format: 'date-time', examples: ['2026-12-20T00:00:00+01:00'] });

/** A period in which nothing starts, with the reason people are told. */
export const freezeSchema = z
  .strictObject({
    from: instant.describe('The first instant of the freeze.'),
    until: instant.describe('The instant at which it ends.'),
    reason: z.string().min(1).max(500).describe('Why; shown to everyone who waits for it.'),
  })
  .refine((freeze) => Date.parse(freeze.until) > Date.parse(freeze.from), {
    message: 'expected an instant after `from`',
    path: ['until'],
  });

/** One window, as written. */
export type Window = z.output<typeof windowSchema>;
/** One freeze, as written. */
export type Freeze = z.output<typeof freezeSchema>;

/** Whether work may start now, and else what holds it. All instants are epoch milliseconds. */
export type TimeGate =
  | { readonly kind: 'open'; readonly remainingMs: number }
  | { readonly kind: 'closed'; readonly opensAt: number }
  | { readonly kind: 'frozen'; readonly until: number; readonly reason: string };

/** True within a window, and always where there are none. `now` is in epoch milliseconds. */
export function isOpen(windows: readonly Window[] | undefined, now: number): boolean {
  if (windows === undefined || windows.length === 0) return true;
  return openings(windows, now).some((opening) => contains(opening, now));
}

/** The instant of the next opening in epoch milliseconds: `now` itself where a window is open. */
export function nextOpening(windows: readonly Window[] | undefined, now: number): number {
  if (windows === undefined || isOpen(windows, now)) return now;
  const later = openings(windows, now)
    .map((opening) => opening.start)
    .filter((start) => start > now);
  return Math.min(...later);
}

/**
 * Milliseconds until the windows close: 0 while they are closed, Infinity where there are none. Windows that overlap
 * or adjoin count as one.
 */
export function remaining(windows: readonly Window[] | undefined, now: number): number {
  if (windows === undefined || windows.length === 0) return Number.POSITIVE_INFINITY;
  const ordered = openings(windows, now).sort((a, b) => a.start - b.start);
  let end = now;
  for (const opening of ordered) {
    if (opening.start <= end && opening.end > end) end = opening.end;
  }
  // Windows repeat by the week: what stays open for longer than that never closes.
  return end - now > 8 * dayMs ? Number.POSITIVE_INFINITY : end - now;
}

/** A Monday, in a week in which no clock of the usual zones changes. */
const someMonday = Date.UTC(2026, 0, 5);

/** How long windows stay open at the longest, in milliseconds: in an ordinary week; Infinity where they never close. */
export function longestOpen(windows: readonly Window[] | undefined): number {
  let longest = 0;
  for (let at = someMonday; at < someMonday + 8 * dayMs;) {
    const opening = nextOpening(windows, at);
    const open = remaining(windows, opening);
    longest = Math.max(longest, open);
    at = opening + open + 1;
  }
  return longest;
}

/** The freeze that holds at `now` (epoch milliseconds) and ends last, if one does. */
export function activeFreeze(freezes: readonly Freeze[] | undefined, now: number): Freeze | undefined {
  return (freezes ?? [])
    .filter((freeze) => Date.parse(freeze.from) <= now && now < Date.parse(freeze.until))
    .sort((a, b) => Date.parse(b.until) - Date.parse(a.until))[0];
}

/**
 * Windows and freezes as one answer. A freeze outranks an open window; what remains ends where the window closes or
 * the next freeze begins, whichever is first.
 */
export function timeGate(
  windows: readonly Window[] | undefined,
  freezes: readonly Freeze[] | undefined,
  now: number,
): TimeGate {
  const freeze = activeFreeze(freezes, now);
  if (freeze !== undefined) return { kind: 'frozen', until: Date.parse(freeze.until), reason: freeze.reason };
  if (!isOpen(windows, now)) return { kind: 'closed', opensAt: nextOpening(windows, now) };
  const untilFreeze = (freezes ?? []).map((f) => Date.parse(f.from) - now).filter((ms) => ms > 0);
  return { kind: 'open', remainingMs: Math.min(remaining(windows, now), ...untilFreeze) };
}

/** A window in words: `Mon, Tue 22:00 to 05:00 Europe/Berlin`. */
export function formatWindow(window: Window): string {
  return `${window.days === undefined ? 'daily' : window.days.join(', ')} ${window.from} to ${window.to} ${window.timeZone}`;
}

/** True for a zone that the runtime's time zone data knows by name; a bare offset is none. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

interface Opening {
  readonly start: number;
  readonly end: number;
}

function contains(opening: Opening, now: number): boolean {
  return opening.start <= now && now < opening.end;
}

/** The openings from yesterday on, as instants; an opening that a clock change swallows is left out. */
function openings(windows: readonly Window[], now: number): Opening[] {
  return windows.flatMap((window) => {
    const clock = wallClock(window.timeZone);
    const today = Math.floor(clock(now) / dayMs);
    const overMidnight = minutesOf(window.to) <= minutesOf(window.from);
    return Array.from({ length: daysSearched }, (_, index) => today - 1 + index)
      .filter((day) => window.days === undefined || window.days.includes(weekdayOf(day)))
      .map((day) => ({
        start: firstInstantAt(clock, day * dayMs + minutesOf(window.from) * minuteMs),
        end: firstInstantAt(clock, (overMidnight ? day + 1 : day) * dayMs + minutesOf(window.to) * minuteMs),
      }))
      .filter((opening) => opening.start < opening.end);
  });
}

function minutesOf(time: string): number {
  const [hours = '0', minutes = '0'] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}

/** Days are counted from 1970-01-01, a Thursday. */
function weekdayOf(day: number): Weekday {
  return weekdays[(((day + 3) % 7) + 7) % 7] ?? 'Mon';
}

/** What the clocks of a zone show at an instant, as the epoch milliseconds at which UTC's clocks show the same. */
type WallClock = (instant: number) => number;

function wallClock(zone: string): WallClock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (at) => {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const part of format.formatToParts(at)) parts[part.type] = Number(part.value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) + (((at % 1_000) + 1_000) % 1_000);
  };
}

/**
 * The first instant at which the clocks show `shown` or later. Where the clocks skip that time it is the instant of
 * the skip, where they show it twice it is the first of the two: a window never stays open longer than it was meant to
 * because of a repeated hour after its end.
 */
function firstInstantAt(clock: WallClock, shown: number): number {
  const offsetAt = (at: number) => clock(at) - at;
  const offsetBefore = offsetAt(shown - dayMs);
  const offsetAfter = offsetAt(shown + dayMs);
  const byBefore = shown - offsetBefore;
  if (offsetAt(byBefore) === offsetBefore) return byBefore;
  const byAfter = shown - offsetAfter;
  if (offsetAt(byAfter) === offsetAfter) return byAfter;
  return transitionBetween(byAfter, byBefore, offsetAt);
}

/** The instant in (low, high] at which the zone's offset changes. */
function transitionBetween(low: number, high: number, offsetAt: (at: number) => number): number {
  const before = offsetAt(low);
  let [known, changed] = [low, high];
  while (changed - known > 1) {
    const middle = Math.floor((known + changed) / 2);
    if (offsetAt(middle) === before) known = middle;
    else changed = middle;
  }
  return changed;
}

function isInstant(text: string): boolean {
  const form =
    /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
  const [, year, month, day] = form.exec(text) ?? [];
  if (year === undefined || Number.isNaN(Date.parse(text))) return false;
  // Date.parse takes 31 April for 1 May.
  return new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
}
