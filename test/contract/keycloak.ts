import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKeycloakClient } from '../../src/activities/keycloak/client.ts';
import { createRealmReader } from '../../src/activities/keycloak/reads.ts';
import { read } from '../../src/domain/core/verdict.ts';
import type { RealmRepresentation, RequiredAction } from '../../src/domain/keycloak-flow/representation.ts';
import { readingScope } from '../../src/domain/keycloak-flow/screen-scope.ts';
import {
  bindCommand,
  built,
  startFlowRig,
  type FlowRig,
  type RealmUnderTest,
} from '../activities/keycloak/flow-rig.ts';

/** A realm with a second account that may do nothing in it. */
export interface ContractRealm extends RealmUnderTest {
  readonly nobody: { readonly clientId: string; readonly clientSecret: string };
}

type Realm = RealmRepresentation & Record<string, unknown>;

/**
 * What a KeycloakFlow relies on from Keycloak. The same tests run against a real one and against the double of this
 * repository, so that what the double teaches holds for the real part.
 *
 * @param make a new realm, untouched, with a mail server that has a password
 */
export function keycloakContract(name: string, make: () => Promise<ContractRealm>): void {
  describe(`a KeycloakFlow on ${name}`, () => {
    let realm: ContractRealm;
    let rig: FlowRig;

    beforeEach(async () => {
      realm = await make();
      rig = await startFlowRig(realm);
    });

    afterEach(() => rig.close());

    const realmNow = () => realm.ask<Realm>('GET', '');

    async function converge(): Promise<void> {
      expect(await rig.run('writePolicy')).toMatchObject({ kind: 'written' });
      const command = bindCommand(rig, await built(rig));
      expect(await rig.run('bindCandidate', { command })).toMatchObject({ kind: 'written' });
    }

    test('an untouched realm is read: what differs, what is bound, and that no candidate is there', async () => {
      const seen = await rig.run('observeRealm');
      expect(seen.realm).toMatchObject({ kind: 'read', value: { browserFlow: 'browser', hasEntityName: true } });
      if (seen.realm.kind === 'read') {
        const drifted = seen.realm.value.policyDrift.map(({ key }) => key);
        expect(drifted).toEqual(
          expect.arrayContaining(['RpEntityName', 'RpId', 'RequireResidentKey', 'CreateTimeout']),
        );
      }
      expect(seen.requiredAction).toMatchObject({
        kind: 'read',
        value: { state: { kind: 'asDeclared' }, missingDefaults: [] },
      });
      expect(seen.bound).toMatchObject({ kind: 'read', value: { alias: 'browser', asDeclared: false } });
      expect(seen.candidates?.map(({ state }) => state.kind)).toEqual(Array(5).fill('absent'));
      expect(seen.unknownAuthenticators).toEqual({ kind: 'read', value: [] });
      expect(rig.proxy.writes()).toEqual([]);
    });

    test('R26 R33 a policy write sends the whole realm, and changes nothing but what is declared', async () => {
      const before = await realmNow();
      await realm.ask('PUT', '', {
        ...without(before, 'smtpServer'),
        webAuthnPolicyPasswordlessExtraOrigins: ['https://a.example.com'],
      });
      rig.proxy.clear();
      const outcome = await rig.run('writePolicy');
      expect(outcome).toMatchObject({ kind: 'written' });
      const after = await realmNow();
      expect(after['webAuthnPolicyPasswordlessRpEntityName']).toBe('Shop');
      expect(after['webAuthnPolicyPasswordlessCreateTimeout']).toBe(60);
      expect(after['webAuthnPolicyPasswordlessExtraOrigins']).toEqual(['https://a.example.com']);
      expect(after['webAuthnPolicyPasswordlessResidentKey']).toBe(before['webAuthnPolicyPasswordlessResidentKey']);
      expect(after.browserFlow).toBe('browser');
      const [write] = rig.proxy.writes();
      expect(Object.keys(write?.body as object).length).toBeGreaterThan(Object.keys(before).length - 2);
      expect(write?.body).not.toHaveProperty('smtpServer');
    });

    test('R34 the required action is put right, and keeps its name, priority and config', async () => {
      const actions = await realm.ask<RequiredAction[]>('GET', '/authentication/required-actions');
      const action = actions.find(({ alias }) => alias === 'webauthn-register-passwordless');
      const put = (body: unknown) =>
        realm.ask('PUT', '/authentication/required-actions/webauthn-register-passwordless', body);
      await put({ ...action, enabled: false, defaultAction: true, name: 'Our passkey', priority: 42 });
      const seen = await rig.run('observeRealm');
      expect(seen.requiredAction).toMatchObject({ value: { state: { kind: 'drifted' } } });
      expect(await rig.run('writeRequiredAction')).toMatchObject({ kind: 'written' });
      const after = await realm.ask<RequiredAction[]>('GET', '/authentication/required-actions');
      expect(after.find(({ alias }) => alias === 'webauthn-register-passwordless')).toMatchObject({
        name: 'Our passkey',
        priority: 42,
        enabled: true,
        defaultAction: false,
      });
    });

    test('R19 a candidate is built beside the bound flow, verified, and found again', async () => {
      const result = await built(rig);
      expect(result.treeHash).toBe(rig.names[0]?.slice(-12));
      expect((await realmNow()).browserFlow).toBe('browser');
      const seen = await rig.run('observeRealm');
      expect(seen.candidates?.[0]?.state).toEqual({ kind: 'verified', ours: true, ...flowOf(result) });
      expect(seen.candidates?.slice(1).every(({ state }) => state.kind === 'absent')).toBe(true);
      // Asked for once more it is verified, and nothing is written.
      rig.proxy.clear();
      expect(await built(rig)).toEqual(result);
      expect(rig.proxy.writes()).toEqual([]);
    });

    test('R17 R18 once bound, a pass is at most twelve requests, and none of them a write', async () => {
      await converge();
      rig.proxy.clear();
      const seen = await rig.run('observeRealm');
      expect(seen.bound).toMatchObject({ value: { alias: rig.names[0], asDeclared: true, differences: [] } });
      expect(seen.realm).toMatchObject({ value: { policyDrift: [] } });
      expect(seen.candidates).toBeNull();
      expect(rig.proxy.passed.length + rig.proxy.tokens.length).toBeLessThanOrEqual(12);
      expect(rig.proxy.passed.length).toBe(5);
      expect(rig.proxy.writes()).toEqual([]);
    });

    test('a rollback binds the previous flow and holds binding in one write, which a bind then respects', async () => {
      await converge();
      rig.proxy.clear();
      const hold = { by: 'alice', reason: 'nobody gets in', at: 1 };
      expect(await rig.run('rollBack', { hold })).toMatchObject({ kind: 'written' });
      expect(rig.proxy.writes()).toHaveLength(1);
      expect((await realmNow()).browserFlow).toBe('browser');
      const command = bindCommand(rig, await built(rig));
      expect(await rig.run('bindCandidate', { command })).toMatchObject({ kind: 'stopped', reason: 'Held' });
      expect((await realmNow()).browserFlow).toBe('browser');
      // Again it comes to the same, and writes nothing.
      rig.proxy.clear();
      expect(await rig.run('rollBack', { hold })).toMatchObject({ kind: 'written' });
      expect(rig.proxy.writes()).toEqual([]);
      expect(await rig.run('liftHold', { by: 'bob' })).toMatchObject({ kind: 'written' });
      expect(await rig.run('bindCandidate', { command })).toMatchObject({ kind: 'written' });
    });

    test('what is not there is missing, what may not be read is denied, and a wrong secret says so', async () => {
      const scope = readingScope(realm.realm, realm.realm, 'Enforce');
      const here = createRealmReader(rig.client, scope);
      expect(await here.executions('no-such-flow')).toMatchObject({ kind: 'unmeasured', why: 'missing' });
      const as = async (credentials: { clientId: string; clientSecret: string }) => {
        const client = createKeycloakClient({
          url: rig.proxy.url,
          plainHttp: true,
          tokenRealm: realm.realm,
          credentials: () => Promise.resolve(read(credentials)),
        });
        const reading = await createRealmReader(client, scope).requiredActions();
        await client.close();
        return reading;
      };
      expect(await as(realm.nobody)).toMatchObject({ kind: 'unmeasured', why: 'denied' });
      const wrong = await as({ clientId: realm.clientId, clientSecret: 'not the secret' });
      expect(wrong).toMatchObject({ kind: 'unmeasured', why: 'denied' });
      expect(JSON.stringify(wrong)).not.toContain('not the secret');
    });

    test('H-B03 a sub-flow alias that somebody else holds leaves the candidate, and nothing of theirs is touched', async () => {
      const [first = ''] = rig.names;
      const suffix = first.slice(rig.desired.browserFlow.length);
      await realm.ask('POST', '/authentication/flows', {
        alias: `browser-mfa-conditional-otp${suffix}`,
        providerId: 'basic-flow',
        topLevel: true,
        builtIn: false,
        description: 'a leftover',
      });
      const outcome = await rig.run('buildCandidate', { candidate: first });
      expect(outcome).toMatchObject({ kind: 'left', created: true });
      expect(rig.proxy.writes().some(({ method }) => method === 'DELETE')).toBe(false);
      expect(await rig.run('buildCandidate', { candidate: rig.names[1] ?? '' })).toMatchObject({ kind: 'built' });
    });

    test('an alias of the candidate that a flow of somebody else has leaves it before anything was created', async () => {
      const [first = ''] = rig.names;
      await realm.ask('POST', '/authentication/flows', {
        alias: first,
        providerId: 'basic-flow',
        topLevel: true,
        builtIn: false,
        description: 'not ours',
      });
      expect(await rig.run('buildCandidate', { candidate: first })).toMatchObject({ kind: 'left', created: false });
      expect(rig.proxy.writes()).toEqual([]);
    });

    test('no reply to any write at all: each is settled by reading back', async () => {
      rig.proxy.sabotage(({ method }) => (method === 'GET' ? undefined : 'dropReply'));
      // The request for a token is no write.
      rig.proxy.sabotage(({ method, path }) =>
        method === 'GET' || path.startsWith('/realms/') ? undefined : 'dropReply',
      );
      await converge();
      const { browserFlow } = await realmNow();
      expect(browserFlow).toBe(rig.names[0]);
    });

    test('an edit between the last reading and the write is found among the admin events, with what was lost', async () => {
      rig.proxy.sabotage(({ method, path }) => {
        if (method !== 'PUT' || path !== `/admin/realms/${realm.realm}`) return undefined;
        const first = async () => {
          await realm.ask('PUT', '', { ...without(await realmNow(), 'smtpServer'), displayName: 'Edited meanwhile' });
        };
        return { first };
      });
      const outcome = await rig.run('writePolicy');
      expect(outcome).toMatchObject({ kind: 'written' });
      if (outcome.kind !== 'written') return;
      expect(outcome.notVerified).toBeUndefined();
      expect(outcome.lost).toHaveLength(1);
      expect(outcome.lost?.[0]).toContain('displayName = "Edited meanwhile"');
    });

    test('an edit between the two readings stops the policy write before anything is sent', async () => {
      let count = 0;
      rig.proxy.sabotage(({ method, path }) => {
        if (method !== 'GET' || path !== `/admin/realms/${realm.realm}`) return undefined;
        count += 1;
        if (count !== 1) return undefined;
        const afterwards = async () => {
          await realm.ask('PUT', '', { ...without(await realmNow(), 'smtpServer'), displayName: 'Edited meanwhile' });
        };
        return { afterwards };
      });
      expect(await rig.run('writePolicy')).toMatchObject({ kind: 'stopped', reason: 'EditedMeanwhile' });
      expect(rig.proxy.writes()).toEqual([]);
    });

    test('a candidate that is edited between its last reading and the bind is told of at once', async () => {
      const command = bindCommand(rig, await built(rig));
      const path = `/authentication/flows/${command.candidate}/executions/execution`;
      rig.proxy.sabotage(({ method }) => {
        if (method !== 'PUT') return undefined;
        return { first: () => realm.ask('POST', path, { provider: 'auth-otp-form' }).then(() => undefined) };
      });
      const outcome = await rig.run('bindCandidate', { command });
      expect(outcome).toMatchObject({ kind: 'failed', reason: 'EditedMeanwhile' });
      expect(JSON.stringify(outcome)).toContain('auth-otp-form DISABLED at level 0 is not declared');
    });

    test('a flow that somebody else bound since the run began is not bound over', async () => {
      const result = await built(rig);
      await realm.ask('POST', '/authentication/flows', {
        alias: 'theirs',
        providerId: 'basic-flow',
        topLevel: true,
        builtIn: false,
        description: '',
      });
      await realm.ask('PUT', '', { ...without(await realmNow(), 'smtpServer'), browserFlow: 'theirs' });
      rig.proxy.clear();
      const outcome = await rig.run('bindCandidate', { command: bindCommand(rig, result) });
      expect(outcome).toMatchObject({ kind: 'stopped', reason: 'BoundMeanwhile' });
      expect(rig.proxy.writes()).toEqual([]);
    });
  });
}

function flowOf({ flowId, treeHash }: { flowId: string; treeHash: string }) {
  return { flowId, treeHash };
}

function without(object: Realm, field: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== field));
}
