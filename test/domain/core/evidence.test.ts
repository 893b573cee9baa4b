import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  appendEvidence,
  droppedEvidence,
  evidenceBounds,
  emptyEvidence,
  notVerified,
} from '../../../src/domain/core/evidence.ts';
import type { EvidenceKind, EvidenceLog } from '../../../src/domain/core/evidence.ts';

const small = { first: 2, last: 3 };

function logOf(kinds: readonly Exclude<EvidenceKind, 'gap'>[]): EvidenceLog {
  return kinds.reduce<EvidenceLog>(
    (log, kind, at) => appendEvidence(log, at, kind, `m${at}`, {}, small),
    emptyEvidence,
  );
}

function shown(log: EvidenceLog): string[] {
  return log.map((entry) => (entry.kind === 'gap' ? `gap of ${entry.dropped}` : entry.message));
}

describe('evidence', () => {
  test('keeps what happened, to what, how it came out and who did it', () => {
    expect(
      appendEvidence(emptyEvidence, 5, 'write', 'image set', {
        what: 'Deployment shop/web',
        outcome: '200',
        by: 'ada',
      }),
    ).toEqual([{ at: 5, kind: 'write', what: 'Deployment shop/web', outcome: '200', message: 'image set', by: 'ada' }]);
  });

  test('has no undefined fields, so that JSON holds it as it is', () => {
    const log = appendEvidence(emptyEvidence, 5, 'reading', 'm', {});
    expect(Object.keys(log[0] ?? {})).toEqual(['at', 'kind', 'message']);
    expect(JSON.parse(JSON.stringify(log))).toEqual(log);
  });

  test('grows up to its bounds, then leaves out the middle and counts it', () => {
    const ten = Array.from({ length: 10 }, () => 'reading' as const);
    expect(shown(logOf(ten.slice(0, 5)))).toEqual(['m0', 'm1', 'm2', 'm3', 'm4']);
    expect(shown(logOf(ten.slice(0, 6)))).toEqual(['m0', 'm1', 'gap of 1', 'm3', 'm4', 'm5']);
    expect(shown(logOf(ten))).toEqual(['m0', 'm1', 'gap of 5', 'm7', 'm8', 'm9']);
    expect(logOf(ten)[2]).toEqual({ at: 2, kind: 'gap', message: '5 entries are left out here', dropped: 5 });
    expect(droppedEvidence(logOf(ten))).toBe(5);
    expect(droppedEvidence(emptyEvidence)).toBe(0);
  });

  test('what nobody proved and what people overrode outlives readings', () => {
    const log = logOf(['reading', 'reading', 'notVerified', 'override', 'reading', 'reading', 'reading']);
    expect(shown(log)).toEqual(['m0', 'm1', 'gap of 2', 'm2', 'm3', 'm6']);
    expect(notVerified(log).map((entry) => entry.message)).toEqual(['m2']);
  });

  test('where nothing else can go, the oldest goes, and the newest is always there', () => {
    const log = logOf(['override', 'override', 'override', 'override', 'override', 'override', 'reading']);
    expect(shown(log)).toEqual(['m0', 'm1', 'gap of 2', 'm4', 'm5', 'm6']);
  });

  test('a message without end is cut', () => {
    expect(appendEvidence(emptyEvidence, 0, 'reading', 'x'.repeat(1_000))[0]?.message).toBe('x'.repeat(1_000));
    expect(appendEvidence(emptyEvidence, 0, 'reading', 'x'.repeat(1_001))[0]?.message).toBe(`${'x'.repeat(1_000)}…`);
  });

  test('the usual bounds keep a hundred from the beginning and two hundred from the end', () => {
    let log = emptyEvidence;
    for (let at = 0; at < 301; at++) log = appendEvidence(log, at, 'reading', `m${at}`);
    expect(evidenceBounds).toEqual({ first: 100, last: 200 });
    expect(shown(log).slice(98, 103)).toEqual(['m98', 'm99', 'gap of 1', 'm101', 'm102']);
    expect(log).toHaveLength(301);
  });

  test('whatever comes, nothing is lost uncounted, order stays, and storing it between entries changes nothing', () => {
    const kind = fc.constantFrom('reading' as const, 'write' as const, 'override' as const, 'notVerified' as const);
    fc.assert(
      fc.property(fc.array(kind, { maxLength: 30 }), (kinds) => {
        let stored = emptyEvidence;
        kinds.forEach((k, at) => {
          stored = appendEvidence(JSON.parse(JSON.stringify(stored)) as EvidenceLog, at, k, `m${at}`, {}, small);
        });
        expect(stored).toEqual(logOf(kinds));
        const entries = stored.filter((entry) => entry.kind !== 'gap');
        expect(entries.length + droppedEvidence(stored)).toBe(kinds.length);
        expect(entries.length).toBeLessThanOrEqual(5);
        expect(entries.map((entry) => entry.at)).toEqual([...entries.map((entry) => entry.at)].sort((a, b) => a - b));
        expect(entries.at(-1)?.at ?? kinds.length - 1).toBe(kinds.length - 1);
      }),
    );
  });
});
