import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOpen, nextOpening, remaining, weekdays, type Window } from '../../../src/domain/core/window.ts';

/*
 * Windows judged by the clock on the wall: every minute around a day on which something is odd, as Intl shows it, without any
 * arithmetic of offsets. A window opens in the first minute that shows its day and its beginning, or later, and closes in the
 * first that shows its end, or later.
 */

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const oddDays: readonly { readonly what: string; readonly timeZone: string; readonly around: string }[] = [
  { what: 'clocks go forward', timeZone: 'Europe/Berlin', around: '2026-03-29' },
  { what: 'clocks go back', timeZone: 'Europe/Berlin', around: '2026-10-25' },
  { what: 'clocks go forward', timeZone: 'America/New_York', around: '2026-03-08' },
  { what: 'clocks go back', timeZone: 'America/New_York', around: '2026-11-01' },
  { what: 'clocks go forward by half an hour', timeZone: 'Australia/Lord_Howe', around: '2026-10-04' },
  { what: 'clocks go back by half an hour', timeZone: 'Australia/Lord_Howe', around: '2026-04-05' },
  { what: 'clocks go forward at midnight', timeZone: 'Africa/Cairo', around: '2026-04-24' },
  { what: 'clocks go back at midnight', timeZone: 'Africa/Cairo', around: '2026-10-30' },
  { what: 'a day is left out', timeZone: 'Pacific/Apia', around: '2011-12-30' },
  { what: 'a leap day', timeZone: 'Europe/Berlin', around: '2028-02-29' },
  { what: 'a leap day east of the date line', timeZone: 'Pacific/Kiritimati', around: '2024-02-29' },
  { what: 'no leap day', timeZone: 'Asia/Kathmandu', around: '2027-02-28' },
  { what: 'the end of a year', timeZone: 'America/St_Johns', around: '2026-12-31' },
];

/** Clocks change at night. */
const hourOfDay = fc.oneof(fc.nat(3), fc.nat(23));
const time = fc.record({ h: hourOfDay, m: fc.constantFrom(0, 1, 15, 30, 45, 59) });
const shownTime = time.map(({ h, m }) => `${String(h).padStart(2, '0')}:${String(m).padStart(2, '0')}`);
const days = fc.option(fc.subarray([...weekdays], { minLength: 1 }), { nil: undefined });

function windowIn(timeZone: string): fc.Arbitrary<Window> {
  const to = fc.oneof({ weight: 9, arbitrary: shownTime }, { weight: 1, arbitrary: fc.constant('24:00') });
  return fc
    .record({ from: shownTime, to, days })
    .filter((one) => one.from !== one.to)
    .map(({ days: on, ...rest }) => ({ ...rest, timeZone, ...(on === undefined ? {} : { days: on }) }));
}

/** What the wall shows, minute by minute, as `2026-03-29 03:00`. */
function wallAround(timeZone: string, around: string) {
  const first = Date.parse(`${around}T12:00:00Z`) - 3 * dayMs;
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  const shown = Array.from({ length: (6 * dayMs) / minuteMs }, (_, index) => format.format(first + index * minuteMs));
  return { first, shown };
}

/** Which minutes a window is open in. */
function openMinutes(shown: readonly string[], window: Window): boolean[] {
  const open = shown.map(() => false);
  const start = Date.parse(`${shown[0]?.slice(0, 10)}T00:00:00Z`);
  for (let day = start - dayMs; day < start + 8 * dayMs; day += dayMs) {
    const weekday = weekdays[(new Date(day).getUTCDay() + 6) % 7] ?? 'Mon';
    if (window.days?.includes(weekday) === false) continue;
    const date = (at: number) => new Date(at).toISOString().slice(0, 10);
    const nextDay = window.to === '24:00' || window.to <= window.from;
    const end = `${date(nextDay ? day + dayMs : day)} ${window.to === '24:00' ? '00:00' : window.to}`;
    const [from, until] = [firstShowing(shown, `${date(day)} ${window.from}`), firstShowing(shown, end)];
    for (let minute = from; minute < until; minute++) open[minute] = true;
  }
  return open;
}

function firstShowing(shown: readonly string[], text: string): number {
  const found = shown.findIndex((one) => one >= text);
  return found < 0 ? shown.length : found;
}

describe('NR-5 a window is open, opens next and closes as the clock on the wall says', () => {
  test.each(oddDays)('around $around in $timeZone: $what', ({ timeZone, around }) => {
    const { first, shown } = wallAround(timeZone, around);
    // Far enough from both ends that no window which holds there began before them.
    const minute = fc.integer({ min: dayMs / minuteMs + 1, max: shown.length - dayMs / minuteMs });
    fc.assert(
      fc.property(fc.array(windowIn(timeZone), { minLength: 1, maxLength: 2 }), minute, (windows, at) => {
        const each = windows.map((window) => openMinutes(shown, window));
        const open = shown.map((_, index) => each.some((minutes) => minutes[index] === true));
        const now = first + at * minuteMs;
        expect(isOpen(windows, now)).toBe(open[at]);
        const closes = open.findIndex((is, index) => index >= at && !is);
        if (closes >= 0) expect(remaining(windows, now)).toBe((closes - at) * minuteMs);
        else expect(remaining(windows, now)).toBeGreaterThanOrEqual((shown.length - at) * minuteMs);
        const opens = open.findIndex((is, index) => index >= at && is);
        if (opens >= 0) expect(nextOpening(windows, now)).toBe(first + opens * minuteMs);
        else expect(nextOpening(windows, now)).toBeGreaterThanOrEqual(first + shown.length * minuteMs);
      }),
      { numRuns: 25 },
    );
  });
});
