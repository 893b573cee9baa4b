import { CancelledFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { secretsFrom } from '../../../src/activities/keycloak/credentials.ts';
import type { ProveInput } from '../../../src/activities/keycloak/port.ts';
import { requiredChecks, type ProofOutcome } from '../../../src/domain/keycloak-flow/proof.ts';
import type { Probe } from '../../../src/domain/keycloak-flow/spec.ts';
import { desiredTree } from '../../../src/domain/keycloak-flow/tree.ts';
import { built, startFlowRig, type FlowRig } from '../../activities/keycloak/flow-rig.ts';
import { startKeycloakServer, type KeycloakServer } from '../../doubles/keycloak-server.ts';

const probe: Probe = {
  client: 'holdfast-probe',
  redirectUri: 'https://probe.invalid/callback',
  users: {
    member: { username: 'm', password: 'm-password' },
    administrator: { username: 'a', password: 'a-password', totp: 'a-totp' },
    bareAdministrator: { username: 'b', password: 'b-password' },
  },
};

let server: KeycloakServer;
let rig: FlowRig;
let command: ProveInput['command'];

beforeEach(async () => {
  server = await startKeycloakServer();
  server.fake.clients.push({
    id: 'u9',
    clientId: probe.client,
    redirectUris: [probe.redirectUri],
    authenticationFlowBindingOverrides: { direct_grant: directGrant() },
  });
  Object.assign(server.fake.realm, {
    otpPolicyType: 'totp',
    otpPolicyAlgorithm: 'HmacSHA1',
    otpPolicyDigits: 6,
    otpPolicyPeriod: 1,
  });
  const roles = ['platform-admin'];
  server.logins.users.push(
    { username: 'someone', password: 'of someone', roles: [], otp: null },
    { username: 'the-admin', password: 'of the admin', roles, otp: (code) => /^[0-9]{6}$/.test(code) },
    { username: 'the-bare', password: 'of the bare', roles, otp: null },
  );
  rig = await startFlowRig(server);
  const secrets = {
    m: 'someone',
    'm-password': 'of someone',
    a: 'the-admin',
    'a-password': 'of the admin',
    'a-totp': 'GEZDGNBVGY3TQOJQ',
    b: 'the-bare',
    'b-password': 'of the bare',
  };
  for (const [name, value] of Object.entries(secrets)) rig.secrets.set(name, value);
  const { flowId, treeHash } = await built(rig);
  const checks = requiredChecks(desiredTree(rig.desired), ['member', 'administrator', 'bareAdministrator']);
  command = { do: 'prove', candidate: rig.names[0] ?? '', flowId, treeHash, checks };
  rig.proxy.clear();
});

afterEach(() => rig.close());

function prove(overrides: Partial<ProveInput> = {}, env?: MockActivityEnvironment): Promise<ProofOutcome> {
  return rig.run('proveLogin', { probe, probeClient: probe.client, command, ...overrides }, env);
}

const directGrant = () => server.fake.flows.find(({ alias }) => alias === 'direct grant')?.id ?? '';
const overrides = () => server.fake.clients.find(({ id }) => id === 'u9')?.authenticationFlowBindingOverrides;

function aim(browser: string): void {
  server.fake.clients = server.fake.clients.map((client) =>
    client.id === 'u9' ? { ...client, authenticationFlowBindingOverrides: { browser } } : client,
  );
}

function editCandidate(): void {
  const otp = server.fake.readBack(command.candidate)?.rows.find((row) => row.providerId === 'auth-otp-form');
  const execution = server.fake.execution(otp?.id ?? '');
  if (execution !== undefined) execution.requirement = 'DISABLED';
}

const adminWrites = () => rig.proxy.writes().filter(({ path }) => path.startsWith('/admin'));

describe('a login proof', () => {
  test('passes where each login ends as it must, and leaves the other overrides of the client as they are', async () => {
    const outcome = await prove();
    expect(outcome).toMatchObject({ kind: 'passed' });
    expect(outcome.kind === 'passed' && outcome.shown).toHaveLength(6);
    expect(overrides()).toEqual({ direct_grant: directGrant(), browser: '' });
    expect(adminWrites()).toHaveLength(2);
    for (const value of rig.secrets.values()) expect(JSON.stringify(outcome)).not.toContain(value);
  });

  test('heartbeats nothing but that it is alive', async () => {
    const env = new MockActivityEnvironment();
    const beats: unknown[] = [];
    env.on('heartbeat', (details) => beats.push(details));
    await prove({}, env);
    expect(beats.length).toBeGreaterThan(0);
    expect(beats.every((details) => details === undefined)).toBe(true);
  });

  test('fails where a wrong password is taken', async () => {
    server.logins.users.unshift({
      username: 'someone',
      get password() {
        return (
          [...rig.proxy.passed]
            .reverse()
            .map(({ body }) => /password=([^&]*)/.exec(String(body))?.[1])
            .find((sent) => sent !== undefined) ?? ''
        );
      },
      roles: [],
      otp: null,
    });
    expect(await prove()).toMatchObject({ kind: 'failed', reason: 'LoginWithoutFactor' });
  });

  test('fails where administrators need no OTP', async () => {
    server.logins.users.splice(1, 1, { username: 'the-admin', password: 'of the admin', roles: [], otp: null });
    expect(await prove()).toMatchObject({ kind: 'failed', reason: 'LoginWithoutFactor' });
    expect(overrides()?.['browser']).toBe('');
  });

  test.each(['m', 'a-password', 'a-totp', 'b'])('is not made without the secret %s, which it names', async (name) => {
    rig.secrets.delete(name);
    const outcome = await prove();
    expect(outcome).toMatchObject({ kind: 'notMade', reason: 'NotShown' });
    expect(JSON.stringify(outcome)).toContain(`\\"${name}\\"`);
    expect(overrides()?.['browser']).toBe('');
  });

  test('is not made with an OTP secret that is none, and does not say what it is', async () => {
    rig.secrets.set('a-totp', 'not1base32');
    const outcome = await prove();
    expect(outcome).toMatchObject({ kind: 'notMade' });
    expect(JSON.stringify(outcome)).not.toContain('not1base32');
  });

  test('is not made where the spec names nobody who could show something that the tree asks for', async () => {
    const { member, administrator } = probe.users;
    const users = { ...(member && { member }), ...(administrator && { administrator }) };
    expect(await prove({ probe: { ...probe, users } })).toMatchObject({ kind: 'notMade', reason: 'NotShown' });
  });

  test.each([
    ['a client that is not there', { probe: { ...probe, client: 'no-such-client' } }],
    ['a server that this worker does not have', { server: 'other' }],
    ['a mode that writes nothing', { mode: 'Observe' as const }],
  ])('is not made with %s, and writes nothing', async (_, of) => {
    expect(await prove(of)).toMatchObject({ kind: 'notMade' });
    expect(adminWrites()).toEqual([]);
  });

  test.each([
    ['another hash', { treeHash: '000000000000' }],
    ['another id', { flowId: 'flow-1' }],
    ['another name', { candidate: 'browser' }],
  ])('is not made of a candidate of %s than was verified', async (_, of) => {
    expect(await prove({ command: { ...command, ...of } })).toMatchObject({ kind: 'notMade' });
    expect(adminWrites()).toEqual([]);
  });

  test('that was cut off by a kill is taken from there: the override goes, whatever comes of the next one', async () => {
    aim(command.flowId);
    expect(await prove({ command: { ...command, treeHash: '000000000000' } })).toMatchObject({ kind: 'notMade' });
    expect(overrides()?.['browser']).toBe('');
  });

  test('that is cancelled puts the client back before it ends', async () => {
    const env = new MockActivityEnvironment();
    rig.proxy.sabotage(({ method, path }) =>
      method === 'POST' && path.includes('/login-actions/')
        ? { first: () => Promise.resolve(env.cancel()) }
        : undefined,
    );
    await expect(prove({}, env)).rejects.toThrow(CancelledFailure);
    expect(overrides()?.['browser']).toBe('');
  });

  test('asks nothing of Keycloak in a mode that writes nothing', async () => {
    expect(await prove({ mode: 'Shadow' })).toMatchObject({ kind: 'notMade', reason: 'Mode' });
    expect(rig.proxy.passed).toEqual([]);
  });

  test.each([
    ['the candidate is edited', () => editCandidate()],
    ['the client is aimed elsewhere', () => aim('')],
  ])('is not made where %s while people log in', async (_, edit) => {
    let done = false;
    rig.proxy.sabotage(({ method, path }) => {
      // The last page of the last login, so that no later one goes through what was changed.
      if (method !== 'GET' || !path.includes('/login-actions/required-action') || done) return undefined;
      done = true;
      return { afterwards: () => Promise.resolve(edit()) };
    });
    expect(await prove()).toMatchObject({ kind: 'notMade' });
    expect(done).toBe(true);
    expect(overrides()?.['browser']).toBe('');
  });

  test('leaves a client of somebody else alone', async () => {
    aim('flow-1');
    expect(await prove()).toMatchObject({ kind: 'notMade', reason: 'ProbeClient' });
    expect(overrides()?.['browser']).toBe('flow-1');
    expect(adminWrites()).toEqual([]);
  });
});

describe('the secrets of a worker', () => {
  const sources = {
    env: (name: string) => (name === 'PROBE' ? 'a value' : undefined),
    readFile: () => Promise.reject(Object.assign(new Error('gone'), { code: 'ENOENT' })),
    kubernetes: () => null,
  };

  test('are read by name from where the configuration says, and named where they are not there', async () => {
    const secret = secretsFrom({ one: { env: 'PROBE' }, two: { file: '/run/secrets/two' } }, sources);
    expect(await secret('one')).toEqual({ kind: 'read', value: 'a value' });
    expect(await secret('two')).toMatchObject({
      kind: 'unmeasured',
      message: expect.stringContaining('/run/secrets/two') as string,
    });
    expect(await secret('three')).toMatchObject({
      kind: 'unmeasured',
      message: expect.stringContaining('"three"') as string,
    });
    expect(await secret('toString')).toMatchObject({ kind: 'unmeasured' });
  });
});
