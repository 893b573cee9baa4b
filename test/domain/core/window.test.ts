import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  activeFreeze,
  formatWindow,
  freezeSchema,
  isOpen,
  isTimeZone,
  nextOpening,
  remaining,
  timeGate,
  weekdays,
  windowSchema,
} from '../../../src/domain/core/window.ts';
import type { Window } from '../../../src/domain/core/window.ts';

const minute = 60_000;
const hour = 60 * minute;

function at(text: string): number {
  return Date.parse(text);
}

function shown(instant: number): string {
  return new Date(instant).toISOString();
}

const nights: Window = { from: '22:00', to: '05:00', timeZone: 'Europe/Berlin' };
const office: Window = { days: ['Mon', 'Tue'], from: '09:00', to: '17:00', timeZone: 'UTC' };

describe('a window within a day', () => {
  // 2026-06-01 is a Monday.
  test('opens at its start and is closed at its end', () => {
    expect(isOpen([office], at('2026-06-01T08:59:59.999Z'))).toBe(false);
    expect(isOpen([office], at('2026-06-01T09:00:00.000Z'))).toBe(true);
    expect(isOpen([office], at('2026-06-01T16:59:59.999Z'))).toBe(true);
    expect(isOpen([office], at('2026-06-01T17:00:00.000Z'))).toBe(false);
  });

  test('is closed on other days', () => {
    const noon = at('2026-06-01T12:00:00Z');
    const open = weekdays.map((_, day) => isOpen([office], noon + day * 24 * hour));
    expect(open).toEqual([true, true, false, false, false, false, false]);
  });

  test('says when it opens next: today, tomorrow, or after the days between', () => {
    expect(shown(nextOpening([office], at('2026-06-01T08:00:00Z')))).toBe('2026-06-01T09:00:00.000Z');
    expect(shown(nextOpening([office], at('2026-06-01T17:00:00Z')))).toBe('2026-06-02T09:00:00.000Z');
    expect(shown(nextOpening([office], at('2026-06-02T17:00:00Z')))).toBe('2026-06-08T09:00:00.000Z');
  });

  test('is open now where it is open', () => {
    expect(shown(nextOpening([office], at('2026-06-01T12:34:56.789Z')))).toBe('2026-06-01T12:34:56.789Z');
  });

  test('says how much is left, and nothing while it is closed', () => {
    expect(remaining([office], at('2026-06-01T12:00:00Z'))).toBe(5 * hour);
    expect(remaining([office], at('2026-06-01T16:59:59.999Z'))).toBe(1);
    expect(remaining([office], at('2026-06-01T17:00:00Z'))).toBe(0);
    expect(remaining([office], at('2026-06-01T08:00:00Z'))).toBe(0);
  });

  test('counts days before 1970 as well', () => {
    expect(isOpen([office], at('1969-12-29T12:00:00.500Z'))).toBe(true);
    expect(isOpen([office], at('1969-12-31T12:00:00.500Z'))).toBe(false);
  });
});

describe('a window across midnight', () => {
  test('belongs to the day on which it opens', () => {
    const fridays: Window = { ...nights, days: ['Fri'] };
    // 2026-06-05 is a Friday; Berlin is two hours ahead of UTC.
    expect(isOpen([fridays], at('2026-06-05T01:00:00+02:00'))).toBe(false);
    expect(isOpen([fridays], at('2026-06-05T22:00:00+02:00'))).toBe(true);
    expect(isOpen([fridays], at('2026-06-06T04:59:00+02:00'))).toBe(true);
    expect(isOpen([fridays], at('2026-06-06T05:00:00+02:00'))).toBe(false);
    expect(isOpen([fridays], at('2026-06-06T22:00:00+02:00'))).toBe(false);
  });

  test('has what is left of the night', () => {
    expect(remaining([nights], at('2026-06-05T22:00:00+02:00'))).toBe(7 * hour);
    expect(remaining([nights], at('2026-06-06T04:00:00+02:00'))).toBe(hour);
  });

  test('follows the clocks of its zone, not of the machine', () => {
    const tokyo: Window = { from: '00:00', to: '01:00', timeZone: 'Asia/Tokyo' };
    expect(isOpen([tokyo], at('2026-06-01T15:30:00Z'))).toBe(true);
    expect(isOpen([tokyo], at('2026-06-01T00:30:00Z'))).toBe(false);
  });
});

describe('whole days', () => {
  const always: Window = { from: '00:00', to: '24:00', timeZone: 'Europe/Berlin' };

  test('a day that ends at 24:00 is whole', () => {
    const mondays: Window = { ...always, days: ['Mon'], timeZone: 'UTC' };
    expect(isOpen([mondays], at('2026-06-01T00:00:00Z'))).toBe(true);
    expect(isOpen([mondays], at('2026-06-01T23:59:59.999Z'))).toBe(true);
    expect(isOpen([mondays], at('2026-06-02T00:00:00Z'))).toBe(false);
    expect(remaining([mondays], at('2026-06-01T00:00:00Z'))).toBe(24 * hour);
  });

  test('days that adjoin count as one window', () => {
    const days: Window = { ...always, days: ['Mon', 'Tue'], timeZone: 'UTC' };
    expect(remaining([days], at('2026-06-01T12:00:00Z'))).toBe(36 * hour);
  });

  test('six days end, a whole week never does, also across a clock change', () => {
    const six: Window = { ...always, days: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'], timeZone: 'UTC' };
    expect(remaining([six], at('2026-06-01T00:00:00Z'))).toBe(6 * 24 * hour);
    expect(remaining([always], at('2026-06-01T12:00:00Z'))).toBe(Number.POSITIVE_INFINITY);
    expect(remaining([always], at('2026-03-28T22:59:00Z'))).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('several windows', () => {
  test('one that is open is enough, the earliest opening is next, and overlaps are joined', () => {
    const early: Window = { from: '01:00', to: '03:00', timeZone: 'UTC' };
    const late: Window = { from: '02:00', to: '04:00', timeZone: 'UTC' };
    const apart: Window = { from: '05:00', to: '06:00', timeZone: 'UTC' };
    const all = [apart, late, early];
    expect(isOpen(all, at('2026-06-01T03:30:00Z'))).toBe(true);
    expect(isOpen(all, at('2026-06-01T04:30:00Z'))).toBe(false);
    expect(shown(nextOpening(all, at('2026-06-01T04:30:00Z')))).toBe('2026-06-01T05:00:00.000Z');
    expect(shown(nextOpening(all, at('2026-06-01T06:00:00Z')))).toBe('2026-06-02T01:00:00.000Z');
    expect(remaining(all, at('2026-06-01T01:00:00Z'))).toBe(3 * hour);
    expect(remaining(all, at('2026-06-01T05:00:00Z'))).toBe(hour);
  });

  test.each([[undefined], [[]]])('no window (%j) means no limit', (windows) => {
    expect(isOpen(windows, 5)).toBe(true);
    expect(nextOpening(windows, 5)).toBe(5);
    expect(remaining(windows, 5)).toBe(Number.POSITIVE_INFINITY);
  });
});

// In Berlin clocks go from 02:00 to 03:00 at 2026-03-29T01:00Z, and from 03:00 to 02:00 at 2026-10-25T01:00Z.
describe('when the clocks change', () => {
  test('the night on which they go forward is an hour shorter', () => {
    expect(remaining([nights], at('2026-03-28T22:00:00+01:00'))).toBe(6 * hour);
  });

  test('the night on which they go back is an hour longer', () => {
    expect(remaining([nights], at('2026-10-24T22:00:00+02:00'))).toBe(8 * hour);
  });

  test('a start that is skipped becomes the instant of the skip', () => {
    const skipped: Window = { from: '02:30', to: '04:00', timeZone: 'Europe/Berlin' };
    expect(shown(nextOpening([skipped], at('2026-03-29T00:00:00Z')))).toBe('2026-03-29T01:00:00.000Z');
    expect(remaining([skipped], at('2026-03-29T01:00:00Z'))).toBe(hour);
  });

  test('an end that is skipped becomes the instant of the skip', () => {
    const skipped: Window = { from: '23:00', to: '02:30', timeZone: 'Europe/Berlin' };
    expect(isOpen([skipped], at('2026-03-29T00:59:59.999Z'))).toBe(true);
    expect(isOpen([skipped], at('2026-03-29T01:00:00Z'))).toBe(false);
  });

  test('a window that is skipped whole does not open that day', () => {
    const skipped: Window = { from: '02:15', to: '02:45', timeZone: 'Europe/Berlin' };
    expect(isOpen([skipped], at('2026-03-29T01:00:00Z'))).toBe(false);
    expect(shown(nextOpening([skipped], at('2026-03-29T00:00:00Z')))).toBe('2026-03-30T00:15:00.000Z');
  });

  test('a time that comes twice is its first: opens early, closes early', () => {
    const opens: Window = { from: '02:30', to: '04:00', timeZone: 'Europe/Berlin' };
    expect(shown(nextOpening([opens], at('2026-10-25T00:00:00Z')))).toBe('2026-10-25T00:30:00.000Z');
    expect(remaining([opens], at('2026-10-25T00:30:00Z'))).toBe(2.5 * hour);
    const closes: Window = { from: '22:00', to: '02:30', timeZone: 'Europe/Berlin' };
    expect(isOpen([closes], at('2026-10-25T00:29:59.999Z'))).toBe(true);
    expect(isOpen([closes], at('2026-10-25T00:30:00Z'))).toBe(false);
    expect(isOpen([closes], at('2026-10-25T01:15:00Z'))).toBe(false);
  });

  test('half an hour is enough of a change (Lord Howe), and a day can be left out (Samoa)', () => {
    const howe: Window = { from: '02:15', to: '03:00', timeZone: 'Australia/Lord_Howe' };
    expect(shown(nextOpening([howe], at('2026-10-03T12:00:00Z')))).toBe('2026-10-03T15:30:00.000Z');
    const samoa: Window = { from: '10:00', to: '11:00', timeZone: 'Pacific/Apia' };
    // 2011-12-30 never was; the 29th is followed by the 31st.
    expect(shown(nextOpening([samoa], at('2011-12-29T22:00:00Z')))).toBe('2011-12-30T20:00:00.000Z');
  });

  test('open and closed agree with the clock on the wall for all but the repeated hours', () => {
    const zones = ['Europe/Berlin', 'America/New_York', 'UTC', 'Asia/Kathmandu', 'Pacific/Auckland'];
    const time = fc
      .record({ h: fc.nat(23), m: fc.constantFrom(0, 1, 15, 30, 59) })
      .map(({ h, m }) => `${pad(h)}:${pad(m)}`);
    const window = fc
      .record({ from: time, to: time, timeZone: fc.constantFrom(...zones) })
      .filter((w) => w.from !== w.to);
    const summer = fc.integer({ min: at('2026-04-10T00:00:00Z'), max: at('2026-09-20T00:00:00Z') });
    fc.assert(
      fc.property(window, summer, (w, now) => {
        const wall = new Intl.DateTimeFormat('en-GB', {
          timeZone: w.timeZone,
          hour: '2-digit',
          minute: '2-digit',
        }).format(now);
        const expected = w.from < w.to ? w.from <= wall && wall < w.to : wall >= w.from || wall < w.to;
        expect(isOpen([w], now)).toBe(expected);
      }),
    );
  });

  test('it is closed until the next opening, open from then on, and closed again when nothing remains', () => {
    const time = fc.record({ h: fc.nat(23), m: fc.nat(59) }).map(({ h, m }) => `${pad(h)}:${pad(m)}`);
    const days = fc.subarray([...weekdays], { minLength: 1, maxLength: 6 });
    const zone = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca');
    const window = fc.record({ from: time, to: time, days, timeZone: zone }).filter((w) => w.from !== w.to);
    const instant = fc.integer({ min: at('2026-01-01T00:00:00Z'), max: at('2026-12-31T00:00:00Z') });
    fc.assert(
      fc.property(fc.array(window, { minLength: 1, maxLength: 2 }), instant, (windows, now) => {
        const start = nextOpening(windows, now);
        expect(start).toBeGreaterThanOrEqual(now);
        expect(isOpen(windows, start)).toBe(true);
        if (start > now) expect(isOpen(windows, start - 1)).toBe(false);
        const left = remaining(windows, start);
        expect(left).toBeGreaterThan(0);
        if (left === Number.POSITIVE_INFINITY) return;
        expect(isOpen(windows, start + left - 1)).toBe(true);
        expect(isOpen(windows, start + left)).toBe(false);
      }),
    );
  });
});

describe('freezes', () => {
  const holidays = { from: '2026-12-20T00:00:00+01:00', until: '2027-01-06T00:00:00+01:00', reason: 'holidays' };
  const fair = { from: '2026-12-24T00:00:00Z', until: '2027-01-10T00:00:00Z', reason: 'trade fair' };

  test('hold from their start until their end', () => {
    expect(activeFreeze([holidays], at('2026-12-19T22:59:59.999Z'))).toBeUndefined();
    expect(activeFreeze([holidays], at('2026-12-19T23:00:00Z'))).toEqual(holidays);
    expect(activeFreeze([holidays], at('2027-01-05T22:59:59.999Z'))).toEqual(holidays);
    expect(activeFreeze([holidays], at('2027-01-05T23:00:00Z'))).toBeUndefined();
    expect(activeFreeze(undefined, 0)).toBeUndefined();
  });

  test('of two that hold, the one that ends last is named', () => {
    expect(activeFreeze([holidays, fair], at('2026-12-25T00:00:00Z'))).toEqual(fair);
    expect(activeFreeze([fair, holidays], at('2026-12-25T00:00:00Z'))).toEqual(fair);
  });

  test('outrank an open window, and bound what remains of one', () => {
    const utc: Window = { from: '22:00', to: '05:00', timeZone: 'UTC' };
    expect(timeGate([utc], [fair], at('2026-12-24T01:00:00Z'))).toEqual({
      kind: 'frozen',
      until: at('2027-01-10T00:00:00Z'),
      reason: 'trade fair',
    });
    expect(timeGate([utc], [fair], at('2026-12-23T23:00:00Z'))).toEqual({ kind: 'open', remainingMs: hour });
    expect(timeGate([utc], [fair], at('2026-12-22T23:00:00Z'))).toEqual({ kind: 'open', remainingMs: 6 * hour });
    expect(timeGate([utc], [fair], at('2026-12-23T12:00:00Z'))).toEqual({
      kind: 'closed',
      opensAt: at('2026-12-23T22:00:00Z'),
    });
    expect(timeGate([utc], [fair], at('2027-01-10T01:00:00Z'))).toEqual({ kind: 'open', remainingMs: 4 * hour });
    expect(timeGate(undefined, undefined, 0)).toEqual({ kind: 'open', remainingMs: Number.POSITIVE_INFINITY });
  });
});

describe('windows in a spec', () => {
  test('name their days, times and zone', () => {
    expect(windowSchema.parse({ ...office })).toEqual(office);
    expect(windowSchema.parse({ ...nights })).toEqual(nights);
    expect(windowSchema.safeParse({ ...nights, to: '24:00' }).success).toBe(true);
  });

  test.each([
    [{ ...nights, from: '9:00' }, 'from', 'expected a time of day from 00:00 to 23:59, such as 22:00'],
    [{ ...nights, from: '24:00' }, 'from', 'expected a time of day from 00:00 to 23:59, such as 22:00'],
    [{ ...nights, from: '22:60' }, 'from', 'expected a time of day from 00:00 to 23:59, such as 22:00'],
    [{ ...nights, from: 'at 22:00' }, 'from', 'expected a time of day from 00:00 to 23:59, such as 22:00'],
    [{ ...nights, from: '22:00:00' }, 'from', 'expected a time of day from 00:00 to 23:59, such as 22:00'],
    [{ ...nights, to: '24:01' }, 'to', 'expected a time of day from 00:00 to 24:00, such as 05:00'],
    [{ ...nights, to: '05:00 ' }, 'to', 'expected a time of day from 00:00 to 24:00, such as 05:00'],
    [{ ...nights, to: ' 05:00' }, 'to', 'expected a time of day from 00:00 to 24:00, such as 05:00'],
    [{ ...nights, to: '22:00' }, 'to', 'opens and closes at the same time; write from 00:00 to 24:00 for a whole day'],
    [
      { ...nights, timeZone: 'Berlin' },
      'timeZone',
      'expected a time zone of the IANA list, such as Europe/Berlin or UTC',
    ],
    [
      { ...nights, timeZone: '+01:00' },
      'timeZone',
      'expected a time zone of the IANA list, such as Europe/Berlin or UTC',
    ],
  ])('%j is refused at %s', (window, field, message) => {
    expect(windowSchema.safeParse(window).error?.issues.map((i) => [i.path, i.message])).toEqual([[[field], message]]);
  });

  test('no days at all, an unknown day and a missing zone are refused', () => {
    expect(windowSchema.safeParse({ ...nights, days: [] }).success).toBe(false);
    expect(windowSchema.safeParse({ ...nights, days: ['Monday'] }).success).toBe(false);
    expect(windowSchema.safeParse({ from: '22:00', to: '05:00' }).success).toBe(false);
  });

  test('a zone is one that has a name', () => {
    expect(['Europe/Berlin', 'UTC', 'Mars/Olympus', '+01:00', ''].map(isTimeZone)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  test('read as people say them', () => {
    expect(formatWindow(office)).toBe('Mon, Tue 09:00 to 17:00 UTC');
    expect(formatWindow(nights)).toBe('daily 22:00 to 05:00 Europe/Berlin');
  });
});

describe('freezes in a spec', () => {
  const freeze = { from: '2026-12-20T00:00:00+01:00', until: '2027-01-06T00:00:00+01:00', reason: 'holidays' };

  test.each([
    '2026-12-20T00:00:00Z',
    '2026-12-20T00:00Z',
    '2026-12-20T23:59:59.123-08:00',
    '2026-12-20T00:00:00+23:59',
    '2026-12-20T00:00:00.123456789Z',
    '2028-02-29T00:00:00Z',
  ])('%s is an instant', (until) => {
    expect(freezeSchema.safeParse({ from: '2020-01-01T00:00:00Z', until, reason: 'x' }).success).toBe(true);
  });

  test.each([
    '2026-12-20',
    '2026-12-20T00:00:00',
    '2026-12-20 00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-12-20T24:00:00Z',
    '2026-12-20T00:60:00Z',
    '2026-12-20T00:00:00+1:00',
    '2026-12-20T00:00:00+24:00',
    '2026-12-20T00:00:60Z',
    '2026-12-20T00:00:00.Z',
    'on 2026-12-20T00:00:00Z',
    '2026-12-20T00:00:00Z or so',
    'tomorrow',
  ])('%s is none', (from) => {
    expect(freezeSchema.safeParse({ ...freeze, from }).error?.issues[0]?.message).toBe(
      'expected an instant with its offset, such as 2026-12-20T00:00:00+01:00',
    );
  });

  test('a freeze ends after it begins, and says why', () => {
    expect(freezeSchema.safeParse(freeze).success).toBe(true);
    const same = freezeSchema.safeParse({ ...freeze, until: '2026-12-19T23:00:00Z' });
    expect(same.error?.issues.map((i) => [i.path, i.message])).toEqual([
      [['until'], 'expected an instant after `from`'],
    ]);
    expect(freezeSchema.safeParse({ ...freeze, reason: '' }).success).toBe(false);
  });
});

function pad(n: number): string {
  return String(n).padStart(2, '0');
}
