import { describe, expect, test } from 'vitest';
import { enrolmentAction } from '../../../src/domain/keycloak-flow/desired.ts';
import { lostEdits } from '../../../src/domain/keycloak-flow/lost-edits.ts';
import { describeDrift, policyBody, policyDrift, samePolicyValue } from '../../../src/domain/keycloak-flow/policy.ts';
import { movedFields, policyReadBack } from '../../../src/domain/keycloak-flow/policy-write.ts';
import { bindingBody, marksBody } from '../../../src/domain/keycloak-flow/realm-body.ts';
import {
  noRealmMarks,
  readRealmMarks,
  withRealmMarks,
  type RealmMarks,
} from '../../../src/domain/keycloak-flow/realm-marks.ts';
import type {
  AdminEvent,
  RealmRepresentation,
  RequiredAction,
} from '../../../src/domain/keycloak-flow/representation.ts';
import { readAs, realmSchema } from '../../../src/domain/keycloak-flow/representation.ts';
import {
  missingDefaultActions,
  requiredActionBody,
  requiredActionState,
} from '../../../src/domain/keycloak-flow/required-action.ts';
import { desired, NOW, realm } from './world.ts';

const of = desired();
const policy = of.webAuthnPolicyPasswordless;

/** The example realm with fields of the policy, named without prefix, as somebody left them. */
function drifted(fields: Record<string, unknown>): RealmRepresentation {
  const changed = Object.entries(fields).map(([key, value]) => [`webAuthnPolicyPasswordless${key}`, value]);
  return realm(of, Object.fromEntries(changed) as Partial<RealmRepresentation>);
}

describe('the policy', () => {
  test('a realm as declared has no drift, so that nothing is written', () => {
    expect(policyDrift(policy, realm(of))).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['RpId', 'other'],
    ['RpEntityName', 'keycloak'],
    ['SignatureAlgorithms', ['ES256']],
    ['AttestationConveyancePreference', 'direct'],
    ['AuthenticatorAttachment', 'platform'],
    ['RequireResidentKey', 'No'],
    ['UserVerificationRequirement', 'not specified'],
    ['CreateTimeout', 0],
    ['AvoidSameAuthenticatorRegister', false],
    ['AcceptableAaguids', ['a']],
  ])('%s drifted by hand is found, and put right alone', (key, value) => {
    const found = drifted({ [key]: value });
    const drift = policyDrift(policy, found);
    expect(drift.map((d) => d.key)).toEqual([key]);
    const { smtpServer: _, ...whole } = realm(of) as Record<string, unknown>;
    expect(policyBody(found, drift)).toEqual(whole);
  });

  test('a key that the server does not say is drift', () => {
    const drift = policyDrift(policy, drifted({ RpId: undefined }));
    expect(drift.map(describeDrift)).toEqual(['RpId is not set instead of "login.example.com"']);
  });

  test('R31 AAGUIDs in another order are the same', () => {
    expect(samePolicyValue('AcceptableAaguids', ['a', 'b'], ['b', 'a'])).toBe(true);
    expect(samePolicyValue('AcceptableAaguids', ['a', 'b'], ['b', 'a', 'a'])).toBe(true);
    expect(samePolicyValue('AcceptableAaguids', ['a', 'b'], ['b'])).toBe(false);
    expect(samePolicyValue('AcceptableAaguids', [], undefined)).toBe(false);
  });

  test('R32 signature algorithms in another order are corrected', () => {
    const drift = policyDrift(policy, drifted({ SignatureAlgorithms: ['RS256', 'ES256'] }));
    expect(drift).toEqual([{ key: 'SignatureAlgorithms', wanted: ['ES256', 'RS256'], found: ['RS256', 'ES256'] }]);
  });

  test('R33 a key that is not declared keeps its value', () => {
    const found = drifted({ RpId: 'theirs', CreateTimeout: 1 });
    expect(policyDrift({ CreateTimeout: 60 }, found).map((d) => d.key)).toEqual(['CreateTimeout']);
    const body = policyBody(found, policyDrift({ CreateTimeout: 60 }, found));
    expect(body).toMatchObject({
      webAuthnPolicyPasswordlessRpId: 'theirs',
      webAuthnPolicyPasswordlessCreateTimeout: 60,
    });
  });

  test('R26 the body holds all that was read, keys of later versions and of other features included', () => {
    const body = policyBody(drifted({ RpId: 'x' }), policyDrift(policy, drifted({ RpId: 'x' })));
    expect(body).toMatchObject({
      webAuthnPolicyPasswordlessExtraOrigins: ['https://other.example.com'],
      attributes: { cibaExpiresIn: '120', parRequestUriLifespan: '60' },
      sslRequired: 'external',
    });
  });

  test('R27 the body keeps the bound flow', () => {
    const bound = { ...drifted({ RpId: 'x' }), browserFlow: 'browser-mfa' };
    expect(policyBody(bound, policyDrift(policy, bound))['browserFlow']).toBe('browser-mfa');
  });

  test('an edit of another field between the readings stops the write, one of a drifted key does not', () => {
    const first = drifted({ RpId: 'x' });
    const drift = policyDrift(policy, first);
    expect(movedFields(first, drifted({ RpId: 'y' }), drift)).toEqual([]);
    expect(movedFields(first, { ...first, sslRequired: 'none' }, drift)).toEqual(['sslRequired']);
    expect(movedFields(first, { ...first, browserFlow: 'other' }, drift)).toEqual(['browserFlow']);
    expect(movedFields(first, { ...first, newField: 1 }, drift)).toEqual(['newField']);
    expect(movedFields(first, { ...first, attributes: {} }, drift)).toEqual(['attributes']);
  });

  test('R30 H-B05 a field that was accepted and not stored is told by its name', () => {
    const before = drifted({ UserVerificationRequirement: 'not specified', RpId: 'x' });
    const after = drifted({ UserVerificationRequirement: 'not specified' });
    expect(policyReadBack(policy, before, after)).toEqual([
      'not stored: UserVerificationRequirement is "not specified" instead of "required"',
    ]);
    expect(policyReadBack(policy, before, realm(of))).toEqual([]);
  });

  test('attributes that Keycloak adds at the first PUT of a realm are no edit; one that changed or vanished is', () => {
    const before = drifted({ RpId: 'other' });
    const attributes = { ...before.attributes, scimApiEnabled: 'false' };
    expect(policyReadBack(policy, before, { ...realm(of), attributes })).toEqual([]);
    const changed = ['attributes changed as well'];
    expect(policyReadBack(policy, before, { ...realm(of), attributes: { ...attributes, cibaExpiresIn: '1' } })).toEqual(
      changed,
    );
    expect(policyReadBack(policy, before, { ...realm(of), attributes: { scimApiEnabled: 'false' } })).toEqual(changed);
  });

  test('a field that changed along with it is told by its name', () => {
    const before = drifted({ RpId: 'x' });
    expect(policyReadBack(policy, before, { ...realm(of), browserFlow: 'browser-2' })).toEqual([
      'browserFlow changed as well',
    ]);
    expect(policyReadBack(policy, before, drifted({ ExtraOrigins: [] }))).toEqual([
      'webAuthnPolicyPasswordlessExtraOrigins changed as well',
    ]);
  });
});

describe('a realm that answers with little more than its name', () => {
  test('is not measured', () => {
    const reading = readAs(realmSchema, { realm: 'shop', displayName: 'Shop' }, 'GET /admin/realms/shop');
    expect(reading).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    expect(readAs(realmSchema, '<html>', 'GET x').kind).toBe('unmeasured');
    expect(readAs(realmSchema, realm(of), 'GET x').kind).toBe('read');
  });
});

describe('the required action', () => {
  const action: RequiredAction = {
    alias: enrolmentAction,
    name: 'Webauthn Register Passwordless',
    providerId: enrolmentAction,
    enabled: true,
    defaultAction: false,
    priority: 80,
    config: { a: 'b' },
  };

  test('as declared is left alone', () => {
    expect(requiredActionState([action], [])).toEqual({ kind: 'asDeclared' });
  });

  test('R34 is put right in two fields, the others as they were read', () => {
    const found = { ...action, enabled: false, defaultAction: true };
    expect(requiredActionState([found], [])).toMatchObject({
      kind: 'drifted',
      differences: [expect.any(String), expect.any(String)],
    });
    expect(requiredActionBody(found)).toEqual(action);
  });

  test('H-B06 that is not registered is named, and never registered from here', () => {
    const unregistered = [{ providerId: enrolmentAction, name: 'Webauthn Register Passwordless' }];
    expect(requiredActionState([], unregistered)).toEqual({
      kind: 'unregistered',
      message:
        'required action "Webauthn Register Passwordless" (webauthn-register-passwordless) is not registered in the realm; register it in the admin console under Authentication, Required actions',
    });
    expect(requiredActionState([], [])).toMatchObject({ kind: 'notOnServer' });
  });

  test('R35 default actions that are missing are told', () => {
    const all = [
      'CONFIGURE_TOTP',
      'TERMS_AND_CONDITIONS',
      'UPDATE_PASSWORD',
      'UPDATE_PROFILE',
      'VERIFY_EMAIL',
      'VERIFY_PROFILE',
      'delete_account',
      'delete_credential',
      'update_user_locale',
      'webauthn-register',
    ].map((alias) => ({ alias, enabled: true, defaultAction: false }));
    expect(missingDefaultActions(all)).toEqual([]);
    for (const { alias } of all) {
      expect(missingDefaultActions(all.filter((a) => a.alias !== alias))).toEqual([alias]);
    }
    expect(missingDefaultActions([action])).toHaveLength(10);
  });
});

describe('marks in the realm', () => {
  const marks: RealmMarks = {
    bound: { of: 'shop-login', alias: 'browser-mfa-0123456789ab', by: 'ana', at: NOW, away: [NOW - 1] },
    previous: 'browser',
    hold: { by: 'ben', reason: 'passkeys fail', at: NOW },
  };

  test('are read as they were written, beside the attributes of others', () => {
    const attributes = withRealmMarks({ a: 'b' }, marks);
    expect(attributes['a']).toBe('b');
    expect(readRealmMarks(attributes)).toEqual({ kind: 'read', value: marks });
    expect(readRealmMarks({ a: 'b' })).toEqual({ kind: 'read', value: noRealmMarks });
    expect(readRealmMarks(undefined)).toEqual({ kind: 'read', value: noRealmMarks });
  });

  test('are taken away one by one', () => {
    const attributes = withRealmMarks(withRealmMarks({ a: 'b' }, marks), { ...marks, hold: null });
    expect(readRealmMarks(attributes)).toEqual({ kind: 'read', value: { ...marks, hold: null } });
    expect(withRealmMarks(attributes, noRealmMarks)).toEqual({ a: 'b' });
  });

  test.each(['holdfast.browserFlow.hold', 'holdfast.browserFlow.bound'])(
    'a %s that cannot be read leaves it unknown whether binding is held',
    (name) => {
      for (const value of ['', 'yes', '{}', '{"by":1}', '[]']) {
        expect(readRealmMarks({ [name]: value })).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
      }
    },
  );

  test('go in one body with the binding, and in one without it', () => {
    const before = realm(of);
    expect(bindingBody(before, 'other', marks)).toMatchObject({ browserFlow: 'other', sslRequired: 'external' });
    expect(bindingBody(before, 'other', marks)).not.toHaveProperty('smtpServer');
    expect(marksBody(before, marks)).toMatchObject({ browserFlow: 'browser' });
  });
});

describe('an edit in the window that no precondition closes', () => {
  const before = realm(of, { browserFlow: 'browser' });
  const sent = bindingBody(before, 'candidate', noRealmMarks);
  const window = { from: 100, until: 200, userId: 'us' };
  const event = (overrides: Partial<AdminEvent>): AdminEvent => ({
    time: 150,
    operationType: 'UPDATE',
    resourceType: 'REALM',
    representation: JSON.stringify({
      ...before,
      displayName: 'New name',
      attributes: { ...before.attributes, x: '1' },
    }),
    authDetails: { clientId: 'c1', userId: 'them', ipAddress: '192.0.2.1' },
    ...overrides,
  });
  const find = (events: AdminEvent[], after: RealmRepresentation = { ...before, browserFlow: 'candidate' }) =>
    lostEdits(events, window, { before, sent, after });

  test('is reported with the values that were lost', () => {
    expect(find([event({})])).toEqual([
      {
        at: 150,
        by: 'client c1, user them, from 192.0.2.1',
        values: { displayName: 'New name', 'attributes.x': '1' },
      },
    ]);
  });

  test('of one attribute is reported as that one, and not with all others, nor for those that Keycloak adds', () => {
    const attributes = { a: '1', theirs: 'new', b: '2' };
    const edit = event({ representation: JSON.stringify({ ...before, attributes }) });
    const write = { before: { ...before, attributes: { a: '1', b: '2' } }, sent };
    const after = { ...before, browserFlow: 'candidate', attributes: { a: '1', b: '2', scimApiEnabled: 'false' } };
    expect(lostEdits([edit], window, { ...write, after })).toMatchObject([{ values: { 'attributes.theirs': 'new' } }]);
    const none = event({ representation: JSON.stringify({ ...before, attributes: { a: '1', b: '2' } }) });
    expect(lostEdits([none], window, { ...write, after })).toEqual([]);
  });

  test('that took an attribute away is reported where our write has put it back', () => {
    const was = { ...before, attributes: { a: '1', theirs: 'x', 'holdfast.browserFlow.previous': 'browser' } };
    const edit = event({ representation: JSON.stringify({ ...before, attributes: { a: '1' } }) });
    const find = (after: typeof was) => lostEdits([edit], window, { before: was, sent: was, after });
    expect(find(was)).toMatchObject([{ values: { 'attributes.theirs': null } }]);
    expect(find({ ...was, attributes: { a: '1' } as never })).toEqual([]);
    const partly = event({ representation: JSON.stringify({ displayName: before['displayName'] }) });
    expect(lostEdits([partly], window, { before: was, sent: was, after: was })).toEqual([]);
  });

  test('is not one where the values are there after all, or were there before', () => {
    expect(
      find([event({ representation: JSON.stringify({ displayName: 'New name' }) })], {
        ...before,
        displayName: 'New name',
      }),
    ).toEqual([]);
    expect(find([event({ representation: JSON.stringify(before) })])).toEqual([]);
  });

  test('is not our own write, nor one outside of the window, nor of something else', () => {
    expect(find([event({ authDetails: { userId: 'us' }, representation: JSON.stringify(sent) })])).toEqual([]);
    expect(find([event({ time: 99 }), event({ time: 201 })])).toEqual([]);
    expect(find([event({ resourceType: 'CLIENT' }), event({ operationType: 'ACTION' })])).toEqual([]);
  });

  test('is one where another program uses our account', () => {
    expect(find([event({ authDetails: { userId: 'us' } })])).toHaveLength(1);
  });

  test('is known without its values where the realm keeps no details', () => {
    expect(find([event({ representation: null })])).toMatchObject([{ values: {} }]);
    expect(find([event({ representation: 'not json' })])).toMatchObject([{ values: {} }]);
    expect(find([event({ representation: null, authDetails: { userId: 'us' } })])).toEqual([]);
    expect(find([event({ representation: null, authDetails: null })])).toMatchObject([{ by: 'somebody' }]);
  });
});
