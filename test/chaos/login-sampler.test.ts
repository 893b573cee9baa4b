import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createProbeUsers, type ProbeUsers } from '../activities/keycloak/probe-users.ts';
import { bindCommand, built, startFlowRig, type FlowRig } from '../activities/keycloak/flow-rig.ts';
import { createTestRealm, type TestRealm } from '../lab/keycloak-realm.ts';
import { keycloakOf } from '../lab/parts/keycloak.ts';
import { startLoginSampler, weakLogin } from './login-sampler.ts';
import { createApp, weakLogins } from './weak-logins.ts';

/* What the tests of kills and sabotage rely on: their sampler sees a flow that lets people in with too little. */

let realm: TestRealm;
let rig: FlowRig;
let users: ProbeUsers;

beforeAll(async () => {
  realm = await createTestRealm(await keycloakOf(inject('lab')));
  rig = await startFlowRig(realm);
  users = await createProbeUsers(rig);
  await createApp(realm);
});

afterAll(() => rig.close());

async function bind(browserFlow: string): Promise<void> {
  const { smtpServer: _, ...now } = await realm.ask<Record<string, unknown>>('GET', '');
  await realm.ask('PUT', '', { ...now, browserFlow });
}

/** A top level flow of required executions, made past the product. */
async function addFlow(alias: string, providers: readonly string[]): Promise<void> {
  await realm.ask('POST', '/authentication/flows', { alias, providerId: 'basic-flow', topLevel: true, builtIn: false });
  for (const provider of providers) {
    await realm.ask('POST', `/authentication/flows/${alias}/executions/execution`, { provider });
  }
  const rows = await realm.ask<Record<string, unknown>[]>('GET', `/authentication/flows/${alias}/executions`);
  for (const row of rows) {
    await realm.ask('PUT', `/authentication/flows/${alias}/executions`, { ...row, requirement: 'REQUIRED' });
  }
}

describe('the sampler of weak logins', () => {
  test('gets no code by the flow of a new realm and by the declared one, and is asked for more each time', async () => {
    const logins = weakLogins(users);
    for (const flow of ['browser', 'declared']) {
      if (flow === 'declared') await rig.run('bindCandidate', { command: bindCommand(rig, await built(rig)) });
      const sampler = startLoginSampler(realm.url, realm.realm, logins, 0);
      await sampler.round();
      const report = await sampler.stop();
      expect(report.codes).toEqual([]);
      expect(report.unread).toEqual([]);
      expect(report.asked).toBe(report.attempts);
      expect(report.attempts).toBeGreaterThanOrEqual(logins.length);
    }
  });

  test('gets a code with the username alone from a bound flow that asks for no password', async () => {
    await addFlow('username-alone', ['auth-username-form']);
    await bind('username-alone');
    const sampler = startLoginSampler(realm.url, realm.realm, weakLogins(users), 0);
    await sampler.round();
    const { codes, by } = await sampler.stop();
    for (const who of Object.keys(by)) expect(codes.join('\n')).toContain(who);
  });

  test('gets a code with the password alone from a bound flow that asks administrators for no second factor', async () => {
    await addFlow('password-alone', ['auth-username-password-form']);
    await bind('password-alone');
    const ends = new Map<string, string>();
    for (const login of weakLogins(users)) ends.set(login.who, (await weakLogin(realm.url, realm.realm, login)).kind);
    expect(ends.get('an administrator with the password alone')).toBe('code');
    expect(ends.get('a member with the username alone')).toBe('asked');
  });

  test('tells a server that does not answer from one that lets nobody in', async () => {
    const [login] = weakLogins(users);
    if (login === undefined) throw new Error('there are no weak logins');
    expect(await weakLogin('http://127.0.0.1:1', realm.realm, login)).toMatchObject({ kind: 'unread' });
    expect(await weakLogin(realm.url, 'no-such-realm', login)).toMatchObject({ kind: 'unread' });
  });
});
