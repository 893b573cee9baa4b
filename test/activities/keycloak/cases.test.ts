import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createKeycloakClient } from '../../../src/activities/keycloak/client.ts';
import { createRealmReader, type RealmReader } from '../../../src/activities/keycloak/reads.ts';
import { read } from '../../../src/domain/core/verdict.ts';
import { readingScope } from '../../../src/domain/keycloak-flow/screen-scope.ts';
import type { ExecutionRow, FlowRepresentation } from '../../../src/domain/keycloak-flow/representation.ts';
import { startSmtpServer } from '../../doubles/smtp-server.ts';
import { desired, type ExampleInput } from '../../domain/keycloak-flow/world.ts';
import { createTestRealm, OBSERVE_ROLES, type TestRealm } from '../../lab/keycloak-realm.ts';
import { keycloakOf } from '../../lab/parts/keycloak.ts';
import { waitFor } from '../../lab/wait.ts';
import { bindCommand, built, startFlowRig, type FlowRig } from './flow-rig.ts';

let realm: TestRealm;
let rig: FlowRig;

async function start(overrides: Record<string, unknown> = {}, change?: (input: ExampleInput) => void): Promise<void> {
  realm = await createTestRealm(await keycloakOf(inject('lab')), overrides);
  rig = await startFlowRig(realm, change);
}

afterEach(() => rig.close());

const browserFlow = async () => (await realm.ask<{ browserFlow: string }>('GET', '')).browserFlow;
const flows = () => realm.ask<FlowRepresentation[]>('GET', '/authentication/flows');
const rowsOf = (flow: string) => realm.ask<ExecutionRow[]>('GET', `/authentication/flows/${flow}/executions`);

async function bindFirst(): Promise<void> {
  const outcome = await rig.run('bindCandidate', { command: bindCommand(rig, await built(rig)) });
  expect(outcome).toMatchObject({ kind: 'written' });
}

describe('on a real Keycloak', () => {
  beforeEach(() => start());

  test('H-B01 a flow in use is never replaced: another one is built beside it and bound in one write, logins going on', async () => {
    await realm.ask('POST', '/clients', {
      clientId: 'app',
      publicClient: true,
      redirectUris: ['http://127.0.0.1/*'],
    });
    const query = 'client_id=app&response_type=code&redirect_uri=http%3A%2F%2F127.0.0.1%2F&scope=openid';
    const logins: number[] = [];
    const loginPage = async () => {
      const page = await fetch(`${realm.url}/realms/${realm.realm}/protocol/openid-connect/auth?${query}`);
      logins.push(page.status);
      expect(await page.text()).toContain('name="username"');
    };
    await bindFirst();
    const [old = ''] = rig.names;
    const before = await rowsOf(old);
    // The declaration changes: the second factor is for everybody.
    const next = desired((input) => {
      input.realm = realm.realm;
      const executions = input.flows['browser-mfa-password-and-otp']?.executions ?? [];
      const otp = executions.find(({ name }) => name === 'browser-mfa-conditional-otp');
      if (otp !== undefined) otp['requirement'] = 'REQUIRED';
    });
    const changed = await startFlowRig({ ...realm, delete: () => Promise.resolve() });
    try {
      changed.proxy.sabotage(({ method }) => (method === 'GET' ? undefined : { afterwards: loginPage }));
      const seen = await changed.run('observeRealm', { desired: next });
      const candidate = seen.candidates?.[0]?.candidate.alias ?? '';
      expect(candidate).not.toBe(old);
      const outcome = await changed.run('buildCandidate', { desired: next, candidate });
      expect(outcome.kind).toBe('built');
      if (outcome.kind !== 'built') return;
      expect(await browserFlow()).toBe(old);
      expect(await rowsOf(old)).toEqual(before);
      changed.proxy.clear();
      const command = bindCommand(changed, outcome, { candidate, from: old });
      expect(await changed.run('bindCandidate', { desired: next, command })).toMatchObject({ kind: 'written' });
      expect(changed.proxy.writes().map(({ method }) => method)).toEqual(['PUT']);
      expect(await browserFlow()).toBe(candidate);
      expect((await flows()).map(({ alias }) => alias)).toContain(old);
      expect(await rowsOf(old)).toEqual(before);
      expect(logins.length).toBeGreaterThan(20);
      expect(logins.every((status) => status === 200)).toBe(true);
    } finally {
      await changed.close();
    }
  });

  test('H-B02 a built-in flow is not built into, and a 400 is not taken for something that passes', async () => {
    await expect(
      realm.ask('POST', '/authentication/flows/browser/executions/execution', { provider: 'auth-otp-form' }),
    ).rejects.toThrow('400');
    const named = desired((input) => {
      input.realm = realm.realm;
      input.flows['browser'] = input.flows['browser-mfa'] ?? { topLevel: true, executions: [] };
      delete input.flows['browser-mfa'];
      input.browserFlow = 'browser';
    });
    const before = await rowsOf('browser');
    const seen = await rig.run('observeRealm', { desired: named });
    const candidate = seen.candidates?.[0]?.candidate.alias ?? '';
    expect(candidate).toMatch(/^browser-[0-9a-f]{12}$/);
    expect(await rig.run('buildCandidate', { desired: named, candidate })).toMatchObject({ kind: 'built' });
    expect(await rowsOf('browser')).toEqual(before);

    const misspelt = desired((input) => {
      input.realm = realm.realm;
      const [first] = input.flows['browser-mfa']?.executions ?? [];
      if (first !== undefined) first['name'] = 'auth-cookies';
    });
    const again = await rig.run('observeRealm', { desired: misspelt });
    expect(again.unknownAuthenticators).toEqual({ kind: 'read', value: ['auth-cookies'] });
    rig.proxy.clear();
    const wrong = again.candidates?.[0]?.candidate.alias ?? '';
    const outcome = await rig.run('buildCandidate', { desired: misspelt, candidate: wrong });
    expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringContaining('auth-cookies') as string });
    const refused = rig.proxy.writes().filter(({ status }) => status === 400);
    expect(refused).toHaveLength(1);
  });

  test('H-B04 executions are created in order and read back; equal priorities are no order, and not bound', async () => {
    const result = await built(rig);
    const [candidate = ''] = rig.names;
    const names = (await rowsOf(candidate)).map(
      (row) => row.providerId ?? row.displayName?.replace(/-[0-9a-f]{12}$/, ''),
    );
    expect(names).toEqual([
      'auth-cookie',
      'identity-provider-redirector',
      'browser-mfa-forms',
      'auth-username-form',
      'browser-mfa-passkey-or-password',
      'webauthn-authenticator-passwordless',
      'browser-mfa-password-and-otp',
      'auth-password-form',
      'browser-mfa-conditional-otp',
      'conditional-user-role',
      'auth-otp-form',
    ]);
    const second = (await rowsOf(candidate))[1];
    await realm.ask('PUT', `/authentication/flows/${candidate}/executions`, {
      id: second?.id,
      requirement: second?.requirement,
      priority: 0,
    });
    rig.proxy.clear();
    const outcome = await rig.run('bindCandidate', { command: bindCommand(rig, result) });
    expect(outcome).toMatchObject({ kind: 'stopped', reason: 'CandidateChanged' });
    expect(rig.proxy.writes()).toEqual([]);
  });

  test('H-B05 R30 a policy field that is answered 204 and not stored is named, and looked at again the next time', async () => {
    const field = 'webAuthnPolicyPasswordlessUserVerificationRequirement';
    const { smtpServer: _, ...now } = await realm.ask<Record<string, unknown>>('GET', '');
    await realm.ask('PUT', '', { ...now, [field]: 'preferred' });
    rig.proxy.sabotage(({ method }) =>
      method === 'PUT' ? { changeBody: (body) => ({ ...(body as object), [field]: 'preferred' }) } : undefined,
    );
    const outcome = await rig.run('writePolicy');
    expect(outcome).toMatchObject({ kind: 'failed', reason: 'NotStored' });
    expect(JSON.stringify(outcome)).toContain('UserVerificationRequirement');
    const seen = await rig.run('observeRealm');
    expect(seen.realm).toMatchObject({ value: { policyDrift: [{ key: 'UserVerificationRequirement' }] } });
  });

  test('H-B06 a required action that is not registered is named, and never registered', async () => {
    await realm.ask('DELETE', '/authentication/required-actions/webauthn-register-passwordless');
    const seen = await rig.run('observeRealm');
    expect(seen.requiredAction).toMatchObject({ kind: 'read', value: { state: { kind: 'unregistered' } } });
    expect(JSON.stringify(seen.requiredAction)).toContain('Webauthn Register Passwordless');
    expect(await rig.run('writeRequiredAction')).toMatchObject({ kind: 'stopped', reason: 'Unregistered' });
    expect(rig.proxy.writes()).toEqual([]);
  });

  test('R1 a flow that a client or an identity provider uses is protected as the bound one is', async () => {
    const [candidate = ''] = rig.names;
    const result = await built(rig);
    const [client] = await realm.ask<{ id: string; clientId: string }[]>('GET', '/clients?clientId=account');
    const whole = await realm.ask<Record<string, unknown>>('GET', `/clients/${client?.id ?? ''}`);
    const path = `/clients/${client?.id ?? ''}`;
    // Half of it is taken away, so that a build would want to write.
    const last = (await rowsOf(candidate)).at(-1);
    await realm.ask('DELETE', `/authentication/executions/${last?.id ?? ''}`);
    await realm.ask('PUT', path, { ...whole, authenticationFlowBindingOverrides: { browser: result.flowId } });
    rig.proxy.clear();
    const outcome = await rig.run('buildCandidate', { candidate });
    expect(outcome).toMatchObject({ kind: 'left', why: expect.stringContaining('in use') as string });
    expect(rig.proxy.writes()).toEqual([]);
    // The probe client's own override protects nothing; an identity provider's flow is in use whoever asks.
    const provider = {
      alias: 'corp',
      providerId: 'oidc',
      config: { authorizationUrl: 'https://a.example.com', tokenUrl: 'https://a.example.com', clientId: 'x' },
    };
    await realm.ask('POST', '/identity-provider/instances', { ...provider, postBrokerLoginFlowAlias: candidate });
    const still = await rig.run('buildCandidate', { candidate, probeClient: 'account' });
    expect(still).toMatchObject({ kind: 'left', why: expect.stringContaining('in use') as string });
    await realm.ask('DELETE', '/identity-provider/instances/corp');
    expect(await rig.run('buildCandidate', { candidate, probeClient: 'account' })).toMatchObject({ kind: 'built' });
  });

  test('R3 R21 without view-clients nothing is known of what is in use, and nothing is written', async () => {
    const secret = await realm.serviceAccount('half', ['manage-realm', 'query-clients', 'view-identity-providers']);
    const half = await startFlowRig({
      ...realm,
      clientId: 'half',
      clientSecret: secret,
      delete: () => Promise.resolve(),
    });
    try {
      const outcome = await half.run('buildCandidate', { candidate: half.names[0] ?? '' });
      // Keycloak answers with an empty list instead of a refusal.
      expect(outcome).toMatchObject({ kind: 'unmeasured', why: 'truncated' });
      expect(half.proxy.writes()).toEqual([]);
    } finally {
      await half.close();
    }
  });

  test('a service account that may not write is told so, by what it was refused', async () => {
    const secret = await realm.serviceAccount('reader', OBSERVE_ROLES);
    const reader = await startFlowRig({
      ...realm,
      clientId: 'reader',
      clientSecret: secret,
      delete: () => Promise.resolve(),
    });
    try {
      expect(await reader.run('writePolicy')).toMatchObject({ kind: 'failed', reason: 'Denied' });
      const outcome = await reader.run('buildCandidate', { candidate: reader.names[0] ?? '' });
      expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringContaining('403') as string });
      expect(await reader.run('observeRealm')).toMatchObject({ realm: { kind: 'read' }, bound: { kind: 'read' } });
    } finally {
      await reader.close();
    }
  });

  test('each of the least roles is needed: without it one reading is denied, and says so', async () => {
    const scope = readingScope(realm.realm, realm.realm, 'Observe');
    const reads: Record<(typeof OBSERVE_ROLES)[number], (reader: RealmReader) => Promise<unknown>> = {
      'view-realm': (reader) => reader.realm(),
      'view-clients': (reader) => reader.clients(),
      'view-identity-providers': (reader) => reader.identityProviders(),
      'view-events': (reader) => reader.realmUpdates(10),
    };
    for (const role of OBSERVE_ROLES) {
      const clientId = `without-${role}`;
      const others = OBSERVE_ROLES.filter((other) => other !== role);
      const clientSecret = await realm.serviceAccount(clientId, others);
      const client = createKeycloakClient({
        url: realm.url,
        plainHttp: true,
        tokenRealm: realm.realm,
        credentials: () => Promise.resolve(read({ clientId, clientSecret })),
      });
      for (const [other, reading] of Object.entries(reads)) {
        const expected = other === role ? { kind: 'unmeasured', why: 'denied' } : { kind: 'read' };
        expect(await reading(createRealmReader(client, scope))).toMatchObject(expected);
      }
      await client.close();
    }
  });

  test.each([1, 2, 4, 12, 20, 23])(
    'a worker killed at write %i, before and after its effect: the build goes on',
    async (number) => {
      const [candidate = ''] = rig.names;
      for (const when of ['after', 'before'] as const) {
        const env = new MockActivityEnvironment();
        let count = 0;
        rig.proxy.sabotage(({ method, path }) => {
          if (method === 'GET' || path.startsWith('/realms/')) return undefined;
          count += 1;
          // The second kill meets a build that the first one has begun.
          if (count !== (when === 'after' ? number : 1)) return undefined;
          const kill = () => {
            env.cancel('WORKER_SHUTDOWN');
            return Promise.resolve();
          };
          if (when === 'after') return { afterwards: kill };
          void kill();
          return 'dropBefore';
        });
        await rig.run('buildCandidate', { candidate }, env).catch(() => undefined);
        expect(await browserFlow()).toBe('browser');
      }
      rig.proxy.sabotage(() => undefined);
      expect(await rig.run('buildCandidate', { candidate })).toMatchObject({ kind: 'built' });
      expect((await flows()).filter(({ alias }) => alias.startsWith('browser-mfa'))).toHaveLength(1);
      expect(await rowsOf(candidate)).toHaveLength(11);
    },
  );

  test('R4 R22 sabotage on the way: a changed requirement and a swallowed key are never called built', async () => {
    rig.proxy.sabotage(({ method, path }) =>
      method === 'PUT' && path.endsWith('/executions')
        ? { changeBody: (body) => ({ ...(body as object), requirement: 'DISABLED' }) }
        : undefined,
    );
    expect(await rig.run('buildCandidate', { candidate: rig.names[0] ?? '' })).toMatchObject({ kind: 'left' });
    rig.proxy.sabotage(({ path }) =>
      path.endsWith('/config')
        ? { changeBody: (body) => ({ ...(body as object), config: { negate: 'false' } }) }
        : undefined,
    );
    expect(await rig.run('buildCandidate', { candidate: rig.names[1] ?? '' })).toMatchObject({ kind: 'left' });
    rig.proxy.sabotage(() => undefined);
    const seen = await rig.run('observeRealm');
    expect(seen.candidates?.slice(0, 2).map(({ state }) => state.kind)).not.toContain('verified');
    expect(await browserFlow()).toBe('browser');
  });

  test('a reply of the bind that never comes is settled by reading, and the bind is not sent twice', async () => {
    const command = bindCommand(rig, await built(rig));
    rig.proxy.clear();
    rig.proxy.sabotage(({ method }) => (method === 'PUT' ? 'dropReply' : undefined));
    expect(await rig.run('bindCandidate', { command })).toMatchObject({ kind: 'written' });
    expect(rig.proxy.writes()).toHaveLength(1);
    // Another try, as after a kill, finds it done.
    expect(await rig.run('bindCandidate', { command })).toMatchObject({ kind: 'written' });
    expect(rig.proxy.writes()).toHaveLength(1);
  });

  test('a converged pass makes no admin event at all', async () => {
    await rig.run('writePolicy');
    await bindFirst();
    const events = () => realm.ask<{ time: number }[]>('GET', '/admin-events?max=1000');
    const before = await events();
    for (let pass = 0; pass < 3; pass++) await rig.run('observeRealm');
    expect(await events()).toEqual(before);
  });
});

describe('the mail password', () => {
  test('H-B07 survives a policy write, a bind and a rollback, and smtpServer is never sent', async () => {
    const smtp = await startSmtpServer();
    try {
      const password = 'kept-as-it-is';
      const smtpServer = { host: '127.0.0.1', port: String(smtp.port), from: 'login@example.com', auth: 'true' };
      await start({ smtpServer: { ...smtpServer, user: 'mailer', password } });
      await realm.ask('POST', '/users', { username: 'carol', email: 'carol@example.com', enabled: true });
      const [carol] = await realm.ask<{ id: string }[]>('GET', '/users?username=carol');
      const mail = async (count: number) => {
        await realm.ask('PUT', `/users/${carol?.id ?? ''}/execute-actions-email`, ['UPDATE_PASSWORD']);
        await waitFor('the mail is handed over', () => smtp.mails.length >= count);
      };
      await mail(1);
      expect(await rig.run('writePolicy')).toMatchObject({ kind: 'written' });
      await bindFirst();
      await mail(2);
      expect(await rig.run('rollBack', { hold: { by: 'a', reason: '', at: 1 } })).toMatchObject({ kind: 'written' });
      await mail(3);
      expect(smtp.mails.map((handed) => handed.password)).toEqual([password, password, password]);
      const puts = rig.proxy.writes().filter(({ path }) => path === `/admin/realms/${realm.realm}`);
      expect(puts).toHaveLength(3);
      expect(puts.filter(({ body }) => Object.hasOwn(body as object, 'smtpServer'))).toEqual([]);
    } finally {
      await smtp.close();
    }
  });
});
