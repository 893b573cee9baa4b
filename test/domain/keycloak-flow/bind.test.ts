import { describe, expect, test } from 'vitest';
import { decideBind, type BindQuestion } from '../../../src/domain/keycloak-flow/bind.ts';
import { offerHash, type BindOffer } from '../../../src/domain/keycloak-flow/offer.ts';
import type { ProofOutcome } from '../../../src/domain/keycloak-flow/proof.ts';
import { noRealmMarks, type RealmMarks } from '../../../src/domain/keycloak-flow/realm-marks.ts';
import type { Approval } from '../../../src/domain/keycloak-flow/state.ts';
import { HOUR, NAME, NOW } from './world.ts';

const passed: ProofOutcome = { kind: 'passed', shown: [] };
const failed: ProofOutcome = { kind: 'failed', reason: 'x', message: 'y' };
const notMade: ProofOutcome = { kind: 'notMade', reason: 'x', message: 'y' };
const mark = { by: 'ben', reason: '', at: NOW };

function offer(overrides: Partial<BindOffer> = {}): BindOffer {
  return { realm: 'shop', from: 'browser', candidate: 'c', treeHash: 't', proof: 'passed', after: null, ...overrides };
}

function approval(of: BindOffer, overrides: Partial<Approval> = {}): Approval {
  return {
    candidate: of.candidate,
    treeHash: of.treeHash,
    offerHash: offerHash(of),
    withoutProof: false,
    by: 'ana',
    reason: '',
    at: NOW - HOUR,
    ...overrides,
  };
}

function question(overrides: Partial<BindQuestion> = {}): BindQuestion {
  return {
    name: NAME,
    offer: offer(),
    bindSwitch: 'true',
    proof: passed,
    marks: noRealmMarks,
    hold: null,
    approval: null,
    rejection: null,
    noBind: false,
    forgivenAt: 0,
    now: NOW,
    ...overrides,
  };
}

function decided(overrides: Partial<BindQuestion> = {}): string {
  const decision = decideBind(question(overrides));
  return decision.kind === 'pending' ? decision.reason : decision.kind;
}

function boundBy(alias: string, away: number[] = [], at = NOW - HOUR): RealmMarks {
  return { ...noRealmMarks, bound: { of: NAME, alias, by: 'x', at, away } };
}

describe('a bind', () => {
  test('is made by the switch where a login was shown', () => {
    expect(decideBind(question())).toEqual({ kind: 'bind', by: 'the bind switch', away: [] });
  });

  test('is made by an approval where the switch is absent', () => {
    expect(decided({ bindSwitch: 'absent' })).toBe('AwaitingApproval');
    expect(decideBind(question({ bindSwitch: 'absent', approval: approval(offer()) }))).toMatchObject({
      kind: 'bind',
      by: 'ana',
    });
  });

  test.each<[string, Partial<BindQuestion>, string]>([
    ['R12 the switch is off', { bindSwitch: 'false' }, 'SwitchedOff'],
    ['binding is held', { hold: mark }, 'Held'],
    ['the run was told not to', { noBind: true }, 'NoBind'],
    ['its proof failed', { proof: failed }, 'never'],
  ])('is never made while %s, whatever says yes', (_, no, reason) => {
    for (const bindSwitch of ['true', 'absent'] as const) {
      const asked = { bindSwitch, approval: approval(offer(), { withoutProof: true }), ...no };
      expect(decided(asked)).toBe(reason);
    }
  });

  test('that nobody was shown a login for needs a yes that says so', () => {
    const of = offer({ proof: 'notMade' });
    for (const bindSwitch of ['true', 'absent'] as const) {
      const asked = { bindSwitch, offer: of, proof: notMade };
      expect(decided(asked)).toBe('AwaitingApproval');
      expect(decided({ ...asked, approval: approval(of) })).toBe('AwaitingApproval');
      expect(decided({ ...asked, approval: approval(of, { withoutProof: true }) })).toBe('bind');
    }
    // A yes to what was shown does not cover what is no longer shown.
    expect(decided({ offer: of, proof: notMade, approval: approval(offer()) })).toBe('AwaitingApproval');
  });

  test.each<[string, Partial<BindOffer>]>([
    ['another candidate', { candidate: 'c-r2' }],
    ['another tree', { treeHash: 'u' }],
    ['another flow in place of which it would be bound', { from: 'other' }],
    ['another realm', { realm: 'other' }],
    ['another proof', { proof: 'notMade' }],
    ['another time, something having been bound since', { after: NOW }],
  ])('by approval is not made for %s', (_, change) => {
    expect(offerHash(offer(change))).not.toBe(offerHash(offer()));
    expect(
      decided({ bindSwitch: 'absent', offer: offer(change), approval: approval(offer(), { withoutProof: true }) }),
    ).toBe('AwaitingApproval');
  });

  test('by approval is made once', () => {
    const asked = { bindSwitch: 'absent' as const, approval: approval(offer(), { at: NOW - 2 * HOUR }) };
    expect(decided({ ...asked, marks: boundBy('c', [], NOW - HOUR) })).toBe('AwaitingApproval');
    expect(decided({ ...asked, marks: boundBy('c', [], NOW - 2 * HOUR) })).toBe('AwaitingApproval');
    expect(decided({ ...asked, marks: boundBy('c', [], NOW - 3 * HOUR) })).toBe('bind');
    expect(decided({ ...asked, marks: boundBy('other', [], NOW - HOUR) })).toBe('bind');
  });

  test('that was turned down is not asked for again, unless something about it differs', () => {
    const rejection = { ...mark, candidate: 'c', offerHash: offerHash(offer()) };
    expect(decided({ bindSwitch: 'absent', rejection })).toBe('Rejected');
    expect(decided({ bindSwitch: 'absent', rejection, offer: offer({ from: 'other' }) })).toBe('AwaitingApproval');
  });
});

describe('bound away by others', () => {
  test('once is put right, and remembered', () => {
    expect(decideBind(question({ marks: boundBy('c') }))).toEqual({ kind: 'bind', by: 'the bind switch', away: [NOW] });
  });

  test('twice within a day stops binding', () => {
    expect(decided({ marks: boundBy('c', [NOW - 23 * HOUR]) })).toBe('stop');
    expect(decided({ marks: boundBy('c', [NOW - 24 * HOUR]) })).toBe('bind');
    expect(decided({ marks: boundBy('c', [NOW - 25 * HOUR]) })).toBe('bind');
  });

  test('what a person forgave does not count', () => {
    expect(decided({ marks: boundBy('c', [NOW - HOUR]), forgivenAt: NOW - HOUR })).toBe('bind');
  });

  test('is not what this KeycloakFlow bound last, nor what another one did', () => {
    const ours = boundBy('browser', [NOW - HOUR]);
    expect(decideBind(question({ marks: ours }))).toMatchObject({ kind: 'bind', away: [NOW - HOUR] });
    const theirs = { ...noRealmMarks, bound: { of: 'other', alias: 'c', by: 'x', at: 1, away: [NOW - HOUR] } };
    expect(decided({ marks: theirs })).toBe('bind');
  });
});
