import { CancelledFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import type { ProveInput } from '../../../src/activities/keycloak/port.ts';
import { requiredChecks, type ProofCheckName, type ProofOutcome } from '../../../src/domain/keycloak-flow/proof.ts';
import type { ClientRepresentation, ExecutionRow } from '../../../src/domain/keycloak-flow/representation.ts';
import { desiredTree } from '../../../src/domain/keycloak-flow/tree.ts';
import type { Passed } from '../../doubles/keycloak-proxy.ts';
import type { ExampleInput } from '../../domain/keycloak-flow/world.ts';
import { createTestRealm } from '../../lab/keycloak-realm.ts';
import { keycloakOf } from '../../lab/parts/keycloak.ts';
import { built, startFlowRig, type FlowRig } from './flow-rig.ts';
import { allowProbeClient, createProbeUsers, otpPolicy, probe, type ProbeUsers } from './probe-users.ts';

interface Proof {
  readonly rig: FlowRig;
  readonly users: ProbeUsers;
  /** As a run would ask for it. */
  readonly input: Pick<ProveInput, 'probe' | 'probeClient' | 'command'>;
}

/**
 * A realm in which the candidate is built and the probe users are.
 *
 * @param allowed whether the service account may manage the probe client, and no other
 */
async function start(change: (input: ExampleInput) => void = () => {}, allowed = true): Promise<Proof> {
  const realm = await createTestRealm(await keycloakOf(inject('lab')), {
    bruteForceProtected: true,
    failureFactor: 20,
    adminPermissionsEnabled: true,
    ...otpPolicy,
  });
  const rig = await startFlowRig(realm, change);
  const users = await createProbeUsers(rig);
  if (allowed) await allowProbeClient(realm, users.clientId);
  const { flowId, treeHash } = await built(rig);
  const checks = requiredChecks(desiredTree(rig.desired), ['member', 'administrator', 'bareAdministrator']);
  const command = { do: 'prove', candidate: rig.names[0] ?? '', flowId, treeHash, checks } as const;
  rig.proxy.clear();
  return { rig, users, input: { probe, probeClient: probe.client, command } };
}

describe('a login proof on a real Keycloak', () => {
  let proof: Proof;
  let client: ClientRepresentation;

  beforeAll(async () => {
    proof = await start();
    client = await probeClientNow();
  });

  afterEach(async () => {
    proof.rig.proxy.sabotage(() => undefined);
    // Whatever happened in a test, the client is as it was, and the next test begins like that.
    const after = await probeClientNow();
    await proof.rig.realm.ask('PUT', `/clients/${client.id}`, aimedAt(''));
    expect(after).toEqual(client);
    proof.rig.proxy.clear();
  });

  afterAll(() => proof.rig.close());

  const probeClientNow = () => proof.rig.realm.ask<ClientRepresentation>('GET', `/clients/${proof.users.clientId}`);
  const aimedAt = (flowId: string) => ({ ...client, authenticationFlowBindingOverrides: { browser: flowId } });
  const put = (body: object) => proof.rig.realm.ask('PUT', `/clients/${client.id}`, body);

  /** @param checks all that the tree asks for, or some: those with an OTP take up to half a minute after another */
  function prove(
    checks: readonly ProofCheckName[] = proof.input.command.checks,
    overrides: Partial<ProveInput> = {},
    env?: MockActivityEnvironment,
  ): Promise<ProofOutcome> {
    const command = { ...proof.input.command, checks };
    return proof.rig.run('proveLogin', { ...proof.input, command, ...overrides }, env);
  }

  const adminWrites = () => proof.rig.proxy.writes().filter(({ path }) => path.startsWith('/admin'));
  const isPut = ({ method, path }: Passed) => method === 'PUT' && path.includes('/clients/');
  const isSubmit = ({ method, path }: Passed) => method === 'POST' && path.includes('/login-actions/');
  const browserOf = ({ body }: Passed) =>
    (body as ClientRepresentation | undefined)?.authenticationFlowBindingOverrides?.['browser'];

  test('passes on the example tree: each login ends where it must, and the client is as it was', async () => {
    const { rig, users } = proof;
    const outcome = await prove();
    expect(outcome).toEqual({
      kind: 'passed',
      shown: [
        'a username alone: no code, ended at the password page',
        'a wrong password: no code, ended at the password page',
        'a member with password: logged in',
        'an administrator with password alone: no code, ended at the otp page',
        'an administrator with password and OTP: logged in',
        'an administrator with neither passkey nor OTP: no code, and only the enrolment page',
      ],
    });
    for (const value of rig.secrets.values()) expect(JSON.stringify(outcome)).not.toContain(value);
    // Of the admin API only the probe client was written: once at the candidate, once at nothing.
    expect(adminWrites().map(({ path }) => path)).toEqual(
      Array(2).fill(`/admin/realms/${rig.realm.realm}/clients/${client.id}`),
    );
    expect(adminWrites().map(browserOf)).toEqual([proof.input.command.flowId, '']);
    // No code was exchanged: whatever token there is, is the service account's.
    expect(rig.proxy.tokens.filter(({ body }) => !String(body).includes('grant_type=client_credentials'))).toEqual([]);
    // Nothing was enrolled, and the failed login of the member was taken back by the one after it.
    expect(rig.proxy.passed.filter(({ method, path }) => method !== 'GET' && path.includes('required-action'))).toEqual(
      [],
    );
    const { id } = users.bareAdministrator;
    const credentials = await rig.realm.ask<{ type: string }[]>('GET', `/users/${id}/credentials`);
    expect(credentials.map(({ type }) => type)).toEqual(['password']);
    expect(await rig.realm.ask('GET', `/users/${id}`)).toMatchObject({ requiredActions: [] });
    for (const user of [users.member, users.administrator, users.bareAdministrator]) {
      const { numFailures } = await rig.realm.ask<{ numFailures: number }>(
        'GET',
        `/attack-detection/brute-force/users/${user.id}`,
      );
      expect(numFailures).toBe(0);
    }
  });

  test('passes again at once, though a one-time password is taken only once', async () => {
    expect(await prove(['administratorLogsIn'])).toMatchObject({ kind: 'passed' });
    expect(await prove(['administratorLogsIn'])).toMatchObject({ kind: 'passed' });
  });

  test('that was cut off left the client aimed: the next one takes the override away, also where it can show nothing', async () => {
    await put(aimedAt(proof.input.command.flowId));
    const password = proof.rig.secrets.get('member-password') ?? '';
    proof.rig.secrets.delete('member-password');
    const outcome = await prove(['memberLogsIn']);
    proof.rig.secrets.set('member-password', password);
    expect(outcome).toMatchObject({ kind: 'notMade' });
    expect(JSON.stringify(outcome)).toContain('member-password');
  });

  test.each(['open', 'submit'])('that is cancelled at %s takes the override away before it ends', async (at) => {
    const env = new MockActivityEnvironment();
    proof.rig.proxy.sabotage((passed) => {
      const here = at === 'open' ? passed.path.includes('/openid-connect/auth') : isSubmit(passed);
      return here ? { first: () => Promise.resolve(env.cancel()) } : undefined;
    });
    await expect(prove(['memberLogsIn'], {}, env)).rejects.toThrow(CancelledFailure);
    expect(adminWrites().map(browserOf)).toEqual([proof.input.command.flowId, '']);
  });

  test('leaves a client alone that is aimed at a flow of somebody else', async () => {
    const flows = await proof.rig.realm.ask<{ id: string; alias: string }[]>('GET', '/authentication/flows');
    const other = flows.find(({ alias }) => alias === 'browser')?.id ?? '';
    await put(aimedAt(other));
    expect(await prove()).toMatchObject({ kind: 'notMade', reason: 'ProbeClient' });
    expect(adminWrites()).toEqual([]);
    expect(await probeClientNow()).toEqual(aimedAt(other));
    await put(aimedAt(''));
  });

  test('writes nothing in Shadow, and is not made', async () => {
    expect(await prove(undefined, { mode: 'Shadow' })).toMatchObject({ kind: 'notMade', reason: 'Mode' });
    expect(proof.rig.proxy.passed).toEqual([]);
  });

  test.each([
    ['consentRequired', { consentRequired: true }],
    ['standardFlowEnabled', { standardFlowEnabled: false }],
    ['enabled', { enabled: false }],
  ])('says what the client lacks: %s', async (_, fields) => {
    await put({ ...client, ...fields });
    expect(await prove()).toMatchObject({ kind: 'notMade', reason: 'ProbeClient' });
    expect(adminWrites()).toEqual([]);
    await put(client);
  });

  test('is not made where the client does not allow the redirect URI', async () => {
    const elsewhere = { ...probe, redirectUri: 'https://elsewhere.invalid/' };
    const outcome = await prove(['memberLogsIn'], { probe: elsewhere });
    expect(outcome).toMatchObject({ kind: 'notMade', reason: 'NotShown' });
    expect(JSON.stringify(outcome)).toContain('redirect URI');
  });

  test('fails where a member does not get in, and where an administrator is asked for less or more', async () => {
    const password = proof.rig.secrets.get('member-password') ?? '';
    proof.rig.secrets.set('member-password', 'an old one');
    expect(await prove(['memberLogsIn'])).toMatchObject({ kind: 'failed', reason: 'LoginRefused' });
    proof.rig.secrets.set('member-password', password);
    const { member, administrator, bareAdministrator } = probe.users;
    if (member === undefined || administrator === undefined || bareAdministrator === undefined) throw new Error();
    const asked = { ...probe, users: { ...probe.users, administrator: { ...member, totp: administrator.totp } } };
    expect(await prove(['missingSecondFactor'], { probe: asked })).toMatchObject({
      kind: 'failed',
      reason: 'LoginWithoutFactor',
    });
    const { username, password: of } = administrator;
    const known = { ...probe, users: { ...probe.users, bareAdministrator: { username, password: of } } };
    expect(await prove(['bareAdministrator'], { probe: known })).toMatchObject({
      kind: 'failed',
      reason: 'NotEnrolment',
    });
  });

  test.each([
    ['a page is cut short', isSubmit, 'halve'],
    ['a page breaks off', isSubmit, 'breakOff'],
    ['a page is of something else', isSubmit, { answer: 200, body: '<html>nginx</html>', type: 'text/html' }],
    ['a page is not there', isSubmit, { answer: 404, body: '<html></html>', type: 'text/html' }],
    ['the server fails', isSubmit, { answer: 503 }],
    ['the connection breaks', isSubmit, 'dropBefore'],
    ['the answer to a submission is lost', isSubmit, 'dropReply'],
    ['the client cannot be aimed', isPut, { answer: 403, body: '{"error":"unknown_error"}' }],
    ['the client is not aimed, whatever the answer says', isPut, { answer: 204 }],
  ] as const)('is not made where %s', async (_, where, sabotage) => {
    proof.rig.proxy.sabotage((passed) => (where(passed) ? sabotage : undefined));
    expect(await prove(['memberLogsIn'])).toMatchObject({ kind: 'notMade' });
  });

  test('goes on where only the answer of the PUT was lost', async () => {
    proof.rig.proxy.sabotage((passed) => (isPut(passed) ? 'dropReply' : undefined));
    expect(await prove(['memberLogsIn'])).toMatchObject({ kind: 'passed' });
  });

  test('is not made where the logins go through another flow, whatever the client says', async () => {
    const { flowId } = proof.input.command;
    let aim: unknown = '';
    proof.rig.proxy.sabotage((passed) => {
      if (isPut(passed)) {
        aim = browserOf(passed);
        return { answer: 204 };
      }
      const reads = passed.method === 'GET' && passed.path.endsWith(`/clients/${client.id}`);
      return reads && aim === flowId ? { changeAnswer: () => aimedAt(flowId) } : undefined;
    });
    const outcome = await prove(['memberLogsIn']);
    expect(outcome).toMatchObject({ kind: 'notMade', reason: 'NotShown' });
    expect(JSON.stringify(outcome)).toContain('another flow');
  });

  test('is not made where the client was aimed elsewhere meanwhile', async () => {
    let done = false;
    proof.rig.proxy.sabotage((passed) => {
      if (!isSubmit(passed) || done) return undefined;
      done = true;
      return { afterwards: () => put(aimedAt('')) as Promise<void> };
    });
    expect(await prove(['missingSecondFactor'])).toMatchObject({ kind: 'notMade' });
  });

  test('counts for nothing where the client cannot be aimed at nothing again, and says so', async () => {
    proof.rig.proxy.sabotage((passed) => (isPut(passed) && browserOf(passed) === '' ? { answer: 500 } : undefined));
    const outcome = await prove(['memberLogsIn']);
    expect(outcome).toMatchObject({ kind: 'notMade', reason: 'NotReleased' });
    expect(await probeClientNow()).toMatchObject(aimedAt(proof.input.command.flowId));
    // The next one puts it right.
    proof.rig.proxy.sabotage(() => undefined);
    expect(await prove(['memberLogsIn'])).toMatchObject({ kind: 'passed' });
  });

  test('is of the tree that was verified: an edit before or meanwhile leaves it not made', async () => {
    const { rig, input } = proof;
    const path = `/authentication/flows/${encodeURIComponent(input.command.candidate)}/executions`;
    const rows = await rig.realm.ask<ExecutionRow[]>('GET', path);
    const otp = rows.find(({ providerId }) => providerId === 'auth-otp-form');
    const set = (requirement: string) => rig.realm.ask('PUT', path, { ...otp, requirement });
    let done = false;
    rig.proxy.sabotage((passed) => {
      if (!isSubmit(passed) || done) return undefined;
      done = true;
      return { afterwards: () => set('DISABLED') as Promise<void> };
    });
    expect(await prove(['usernameAlone'])).toMatchObject({ kind: 'notMade' });
    rig.proxy.clear();
    expect(await prove(['usernameAlone'])).toMatchObject({ kind: 'notMade' });
    expect(adminWrites()).toEqual([]);
    await set('REQUIRED');
  });
});

describe('a login proof on a real Keycloak fails on a tree', () => {
  test('that skips the OTP of administrators, since the role that it asks for is another one', async () => {
    const { rig, input } = await start(({ authenticatorConfig }) => {
      authenticatorConfig['conditional-otp-platform-admin'] = { condUserRole: 'platform-admins', negate: 'false' };
    });
    try {
      const outcome = await rig.run('proveLogin', input);
      expect(outcome).toMatchObject({
        kind: 'failed',
        reason: 'LoginWithoutFactor',
        message: 'an administrator with password alone logged in, which must not be',
      });
    } finally {
      await rig.close();
    }
  });

  test('that asks for no password', async () => {
    const { rig, input } = await start((example) => {
      const rows = example.flows['browser-mfa-forms']?.executions ?? [];
      if (rows[1] !== undefined) rows[1]['requirement'] = 'DISABLED';
      // A flow without a passkey is refused where people are asked to enrol one.
      Object.assign(example, { requiredAction: null });
    });
    try {
      expect(input.command.checks).toEqual(['usernameAlone']);
      const outcome = await rig.run('proveLogin', input);
      expect(outcome).toMatchObject({ kind: 'failed', reason: 'LoginWithoutFactor' });
    } finally {
      await rig.close();
    }
  });
});

test('a login proof is not made where the service account may not manage the probe client, and says what it needs', async () => {
  const { rig, input, users } = await start(undefined, false);
  try {
    const outcome = await rig.run('proveLogin', input);
    expect(outcome).toMatchObject({ kind: 'notMade', reason: 'Unread' });
    expect(JSON.stringify(outcome)).toContain('fine-grained admin permission');
    expect(await rig.realm.ask('GET', `/clients/${users.clientId}`)).toMatchObject({
      authenticationFlowBindingOverrides: {},
    });
  } finally {
    await rig.close();
  }
});

test('a key that Keycloak does not know never comes to a proof: it shows another value than is declared', async () => {
  const unknownKey = ({ authenticatorConfig }: ExampleInput) => {
    authenticatorConfig['conditional-otp-platform-admin'] = {
      condUserRole: 'platform-admin',
      negate: 'false',
      'condition.evaluated.user.role': 'platform-admin',
    };
  };
  await expect(start(unknownKey, false)).rejects.toThrow(
    'row 10 has a configuration that is not the declared one: conditional-user-role: condition.evaluated.user.role is',
  );
});
