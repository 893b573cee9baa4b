import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { decodeBase32, totp } from '../../src/activities/keycloak/totp.ts';
import { bindCommand, built, startFlowRig, type Built, type FlowRig } from '../activities/keycloak/flow-rig.ts';
import { createProbeUsers, otpPolicy, probe, type ProbeUsers } from '../activities/keycloak/probe-users.ts';
import { findBrowser, startBrowser, type LabBrowser, type Person } from '../lab/browser.ts';
import { createTestRealm } from '../lab/keycloak-realm.ts';
import { keycloakOf } from '../lab/parts/keycloak.ts';
import { waitFor } from '../lab/wait.ts';
import { openLogin, type LoginPlace } from './browser-login.ts';

const found = await findBrowser();

/** An application of the realm, which has no flow of its own. */
const APPLICATION = 'shop-web';

describe.skipIf('missing' in found)(`people at a browser${'missing' in found ? ` (${found.missing})` : ''}`, () => {
  let rig: FlowRig;
  let users: ProbeUsers;
  let browser: LabBrowser;
  /** Has a passkey in her authenticator, and a password. */
  let ada: Person;
  let candidate: Built;
  let lastOtp = '';

  beforeAll(async () => {
    const realm = await createTestRealm(await keycloakOf(inject('lab')), otpPolicy);
    rig = await startFlowRig(realm, (input) => {
      input.webAuthnPolicyPasswordless.RpId = 'localhost';
    });
    users = await createProbeUsers(rig);
    await realm.ask('POST', '/clients', {
      clientId: APPLICATION,
      publicClient: true,
      standardFlowEnabled: true,
      redirectUris: [probe.redirectUri],
    });
    expect(await rig.run('writePolicy')).toMatchObject({ kind: 'written' });
    candidate = await built(rig);
    browser = await startBrowser('program' in found ? found.program : '');
    ada = await browser.person();
  });

  afterAll(async () => {
    await browser.close();
    await rig.close();
  });

  const place = (clientId: string): LoginPlace => ({
    url: rig.realm.url.replace('127.0.0.1', 'localhost'),
    realm: rig.realm.realm,
    clientId,
    redirectUri: probe.redirectUri,
  });

  /** Keycloak takes each one-time password once. */
  async function nextOtp(): Promise<string> {
    const key = decodeBase32(users.totp);
    if (key === null) throw new Error('no key');
    const policy = { algorithm: 'sha1', digits: 6, periodMs: otpPolicy.otpPolicyPeriod * 1000 } as const;
    lastOtp = await waitFor('a new one-time password', () => {
      const code = totp(key, policy, Date.now());
      return code === lastOtp ? null : code;
    });
    return lastOtp;
  }

  async function aim(browserFlow: string): Promise<void> {
    const client = await rig.realm.ask<Record<string, unknown>>('GET', `/clients/${users.clientId}`);
    const body = { ...client, authenticationFlowBindingOverrides: { browser: browserFlow } };
    await rig.realm.ask('PUT', `/clients/${users.clientId}`, body);
  }

  test('ada makes a passkey where the realm asks her to, before any of it is bound', async () => {
    const user = await rig.realm.ask<Record<string, unknown>>('GET', `/users/${users.member.id}`);
    const requiredActions = ['webauthn-register-passwordless'];
    await rig.realm.ask('PUT', `/users/${users.member.id}`, { ...user, requiredActions });
    ada.page.on('dialog', (dialog) => void dialog.accept('her key'));
    const login = await openLogin(ada, place(APPLICATION));
    const { username, password } = users.member;
    expect(await login.sees()).toBe('username');
    expect(await login.gives({ username, password })).toBe('enrolPasskey');
    expect(await login.takesPasskey()).toBe('code');
    expect(await ada.passkeys()).toBe(1);
  });

  /** Of several ways Keycloak shows the one first that stands first among a person's credentials. */
  async function adaPrefers(type: string): Promise<void> {
    const path = `/users/${users.member.id}/credentials`;
    const credentials = await rig.realm.ask<{ id: string; type: string }[]>('GET', path);
    const id = credentials.find((credential) => credential.type === type)?.id ?? '';
    await rig.realm.ask('POST', `${path}/${id}/moveToFirst`);
  }

  /* What holds through the candidate before it is bound holds for everybody once it is. */
  describe.each([
    ['through the candidate, by the override of the probe client', probe.client],
    ["through the realm's own browser flow, once it is bound", APPLICATION],
  ])('%s', (_, clientId) => {
    beforeAll(async () => {
      if (clientId === probe.client) {
        await aim(candidate.flowId);
        return;
      }
      await aim('');
      expect(await rig.run('bindCandidate', { command: bindCommand(rig, candidate) })).toMatchObject({
        kind: 'written',
      });
    });

    /** @returns what a new browser comes to, page after page */
    async function pages(...given: readonly Record<string, string>[]): Promise<string[]> {
      const person = await browser.person();
      const login = await openLogin(person, place(clientId));
      const seen: string[] = [await login.sees()];
      for (const fields of given) seen.push(await login.gives(fields));
      await person.context.close();
      return seen;
    }

    test('a passkey logs in, and nothing else is asked', async () => {
      await adaPrefers('webauthn-passwordless');
      await ada.forget();
      const login = await openLogin(ada, place(clientId));
      expect(await login.sees()).toBe('username');
      expect(await login.gives({ username: users.member.username })).toBe('passkey');
      expect(await login.takesPasskey()).toBe('code');
    });

    test('whoever has a passkey may give the password instead, and the other way round', async () => {
      await adaPrefers('webauthn-passwordless');
      await ada.forget();
      const login = await openLogin(ada, place(clientId));
      expect(await login.gives({ username: users.member.username })).toBe('passkey');
      expect(await login.takesInstead('Password')).toBe('password');
      expect(await login.gives({ password: users.member.password })).toBe('code');

      await adaPrefers('password');
      await ada.forget();
      const other = await openLogin(ada, place(clientId));
      expect(await other.gives({ username: users.member.username })).toBe('password');
      expect(await other.takesInstead('Passkey')).toBe('passkey');
      expect(await other.takesPasskey()).toBe('code');
    });

    test('the authenticator of somebody else does not log in', async () => {
      await adaPrefers('webauthn-passwordless');
      const stranger = await browser.person();
      const login = await openLogin(stranger, place(clientId));
      expect(await login.gives({ username: users.member.username })).toBe('passkey');
      expect(await login.takesPasskey()).toBe('passkeyFailed');
      await stranger.context.close();
    });

    test('an administrator logs in with password and OTP', async () => {
      const { username, password } = users.administrator;
      expect(await pages({ username }, { password }, { otp: await nextOtp() })).toEqual([
        'username',
        'password',
        'otp',
        'code',
      ]);
    });

    test('a wrong password does not get in, nor does an empty one', async () => {
      const { username } = users.administrator;
      expect(await pages({ username }, { password: 'wrong' })).toEqual(['username', 'password', 'password']);
      expect(await pages({ username }, { password: '' })).toEqual(['username', 'password', 'password']);
    });

    test('an OTP that is missing or wrong does not get in', async () => {
      const { username, password } = users.administrator;
      const asked = ['username', 'password', 'otp'];
      expect(await pages({ username }, { password })).toEqual(asked);
      expect(await pages({ username }, { password }, { otp: '' })).toEqual([...asked, 'otp']);
      expect(await pages({ username }, { password }, { otp: '00000000' })).toEqual([...asked, 'otp']);
    });

    test('an administrator with neither gets no code, and is asked to set a factor up', async () => {
      const { username, password } = users.bareAdministrator;
      expect(await pages({ username }, { password })).toEqual(['username', 'password', 'enrolOtp']);
    });
  });

  test('after a rollback the old login is there again', async () => {
    const hold = { by: 'ada', at: Date.now(), reason: 'page is blank' };
    expect(await rig.run('rollBack', { hold })).toMatchObject({ kind: 'written' });
    await ada.forget();
    const login = await openLogin(ada, place(APPLICATION));
    const { username, password } = users.member;
    expect(await login.gives({ username, password })).toBe('code');
  });
});
