import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { incumbentGate, standingOf } from '../../../src/domain/core/incumbent.ts';
import type { Incumbent } from '../../../src/domain/core/incumbent.ts';
import { modes } from '../../../src/domain/core/mode.ts';
import { read, unmeasured } from '../../../src/domain/core/verdict.ts';
import type { UnmeasuredCause } from '../../../src/domain/core/verdict.ts';

const ref = 'CronJob ops/nightly';

function found(exists: boolean, suspended: boolean): Incumbent {
  return { ref, state: read({ exists, suspended }) };
}

function unread(why: UnmeasuredCause): Incumbent {
  return { ref, state: unmeasured(ref, 'API server', why, `GET answered ${why}`) };
}

describe('the standing of an incumbent', () => {
  test.each([
    [found(false, false), 'gone'],
    [found(false, true), 'gone'],
    [found(true, true), 'suspended'],
    [found(true, false), 'active'],
    [unread('missing'), 'gone'],
  ])('%j is %s', (incumbent, standing) => {
    expect(standingOf(incumbent)).toBe(standing);
  });

  test.each<UnmeasuredCause>([
    'denied',
    'timeout',
    'unreachable',
    'truncated',
    'empty',
    'unparsed',
    'throttled',
    'not-ready',
    'not-served',
    'error',
  ])('one that could not be read (%s) is never gone', (why) => {
    expect(standingOf(unread(why))).toBe('unknown');
    expect(incumbentGate('Enforce', [unread(why)], 1).mode).toBe('Shadow');
  });
});

describe('the gate', () => {
  test('lets Enforce through where every incumbent is gone or suspended', () => {
    expect(incumbentGate('Enforce', [found(false, false), found(true, true), unread('missing')], 3)).toEqual({
      mode: 'Enforce',
      reasons: [],
    });
    expect(incumbentGate('Enforce', [], 0)).toEqual({ mode: 'Enforce', reasons: [] });
  });

  test('names each that holds, with the way out', () => {
    expect(
      incumbentGate('Enforce', [found(true, false), unread('denied'), unread('not-served'), unread('timeout')], 5),
    ).toEqual({
      mode: 'Shadow',
      reasons: [
        'incumbent CronJob ops/nightly is active; suspend or delete it',
        'incumbent CronJob ops/nightly may not be read, which counts as active; grant get on it: GET answered denied',
        'incumbent CronJob ops/nightly is of a kind that the cluster does not serve, which counts as active; correct its apiVersion and kind, or remove it from the spec: GET answered not-served',
        'incumbent CronJob ops/nightly could not be read, which counts as active: GET answered timeout',
        '1 of 5 incumbents were not read, which counts as active',
      ],
    });
  });

  test('never widens a mode, and never writes beside an incumbent that is not proven idle', () => {
    const incumbent = fc.constantFrom(
      found(true, false),
      found(true, true),
      found(false, false),
      unread('denied'),
      unread('missing'),
      unread('error'),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...modes),
        fc.array(incumbent, { maxLength: 4 }),
        fc.nat(2),
        (mode, incumbents, more) => {
          const gate = incumbentGate(mode, incumbents, incumbents.length + more);
          expect(modes.indexOf(gate.mode)).toBeLessThanOrEqual(modes.indexOf(mode));
          const idle = more === 0 && incumbents.every((i) => ['gone', 'suspended'].includes(standingOf(i)));
          expect(gate.mode).toBe(idle || mode !== 'Enforce' ? mode : 'Shadow');
          expect(gate.reasons.length === 0).toBe(idle);
        },
      ),
    );
  });
});
