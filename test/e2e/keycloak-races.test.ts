import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { candidates } from '../../src/domain/keycloak-flow/candidate-name.ts';
import type { DesiredState } from '../../src/domain/keycloak-flow/desired.ts';
import type { WriteOutcome } from '../../src/domain/keycloak-flow/run.ts';
import { bindCommand, built, startFlowRig, type FlowRig } from '../activities/keycloak/flow-rig.ts';
import { secondWriter, type SecondWriter } from '../activities/keycloak/second-writer.ts';
import { desired } from '../domain/keycloak-flow/world.ts';
import type { Passed, Sabotage } from '../doubles/keycloak-proxy.ts';
import { createTestRealm, type TestRealm } from '../lab/keycloak-realm.ts';
import { declaredTree, servedTree } from '../lab/keycloak-tree.ts';
import { keycloakOf } from '../lab/parts/keycloak.ts';
import { waitFor } from '../lab/wait.ts';

/*
 * Two who write to one realm of a real Keycloak, which offers no precondition. What somebody else does before the last
 * reading stops a write; what is done between that reading and the write is lost, and told of with its values.
 */

let realm: TestRealm;
let rig: FlowRig;
let other: SecondWriter;

/** The realm as each test finds it. */
let original: Record<string, unknown>;

beforeAll(async () => {
  realm = await createTestRealm(await keycloakOf(inject('lab')), { displayName: 'Shop' });
  rig = await startFlowRig(realm);
  other = secondWriter(realm);
  // The first PUT of a realm makes Keycloak keep more attributes.
  await other.editRealm({});
  original = await realm.ask('GET', '');
});

afterAll(() => rig.close());

/** Puts the realm back, and takes away what a test has left of flows; an untouched candidate serves the next test too. */
beforeEach(async () => {
  rig.proxy.sabotage(() => undefined);
  const { smtpServer: _, ...fields } = original;
  await realm.ask('PUT', '', fields);
  for (const { id, alias } of await realm.ask<{ id: string; alias: string }[]>('GET', '/authentication/flows')) {
    const edited = rig.names.includes(alias) && (await servedTree(realm, alias)).join() !== declaredTree.join();
    if (alias === 'theirs' || edited) await realm.ask('DELETE', `/authentication/flows/${id}`);
  }
  rig.proxy.clear();
});

interface Realm {
  readonly browserFlow: string;
  readonly displayName?: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const realmNow = () => realm.ask<Realm>('GET', '');
const isRealm = ({ path }: Passed) => path === `/admin/realms/${realm.realm}`;

/** Does something right after the nth answer to a reading of the realm, before the product hears of it. */
function afterReading(number: number, edit: () => Promise<void>): (passed: Passed) => Sabotage | undefined {
  let count = 0;
  return (passed) => {
    if (passed.method !== 'GET' || !isRealm(passed)) return undefined;
    count += 1;
    return count === number ? { afterwards: edit } : undefined;
  };
}

/** Holds the PUT of the realm back until something else is done: the window that no precondition closes. */
function insideTheWindow(edit: () => Promise<void>): (passed: Passed) => Sabotage | undefined {
  return (passed) => (passed.method === 'PUT' && isRealm(passed) ? { first: edit } : undefined);
}

const hold = { by: 'ada', reason: 'blank page', at: 1 };

/** What is under way when somebody else comes, and its realm before. */
const writes = {
  policy: () => Promise.resolve(() => rig.run('writePolicy')),
  async bind() {
    const command = bindCommand(rig, await built(rig));
    return () => rig.run('bindCandidate', { command });
  },
  async rollBack() {
    await rig.run('bindCandidate', { command: bindCommand(rig, await built(rig)) });
    return () => rig.run('rollBack', { hold });
  },
  async liftHold() {
    await rig.run('bindCandidate', { command: bindCommand(rig, await built(rig)) });
    await rig.run('rollBack', { hold });
    return () => rig.run('liftHold', { by: 'ada' });
  },
} as const satisfies Record<string, () => Promise<() => Promise<WriteOutcome>>>;

describe('an edit by somebody else before the last reading', () => {
  test.each<[string, () => Promise<void>]>([
    ['of the realm', () => other.editRealm({ displayName: 'Theirs' })],
    ['of an attribute of the realm', () => other.editAttributes({ theirs: 'yes' })],
    ['that binds another flow', () => bindTheirs()],
  ])('%s keeps the policy from being written', async (_, edit) => {
    const write = await writes.policy();
    const before = await realm.ask<Record<string, unknown>>('GET', '');
    rig.proxy.sabotage(afterReading(1, edit));
    expect(await write()).toMatchObject({ kind: 'stopped', reason: 'EditedMeanwhile' });
    expect(rig.proxy.writes()).toEqual([]);
    rig.proxy.sabotage(() => undefined);
    // The next pass puts the policy right, and keeps what they wrote.
    const edited = await realm.ask<Record<string, unknown>>('GET', '');
    expect(edited).not.toEqual(before);
    expect(await write()).toMatchObject({ kind: 'written' });
    const after = await realm.ask<Record<string, unknown>>('GET', '');
    const kept = ['displayName', 'browserFlow'] as const;
    for (const field of kept) expect(after[field]).toEqual(edited[field]);
    expect((after as unknown as Realm).attributes['theirs']).toEqual((edited as unknown as Realm).attributes['theirs']);
  });

  test.each<[string, string, () => Promise<void>]>([
    ['that binds another flow', 'BoundMeanwhile', () => bindTheirs()],
    ['that changes a requirement of the candidate', 'CandidateChanged', () => editCandidate(7, 'DISABLED')],
    ['that adds to the candidate', 'CandidateChanged', () => other.addExecution(candidate(), 'auth-otp-form')],
    ['that holds binding', 'Held', () => holdBinding()],
  ])('%s stops the bind: %s', async (_, reason, edit) => {
    const write = await writes.bind();
    rig.proxy.clear();
    // The list of flows is the first that a bind reads; the realm is the last.
    let done = false;
    rig.proxy.sabotage(({ method, path }) => {
      if (done || method !== 'GET' || !path.endsWith('/authentication/flows')) return undefined;
      done = true;
      return { first: edit };
    });
    expect(await write()).toMatchObject({ kind: 'stopped', reason });
    expect(rig.proxy.writes()).toEqual([]);
    expect((await realmNow()).browserFlow).toBe(reason === 'BoundMeanwhile' ? 'theirs' : 'browser');
  });

  test('of a candidate that is being built is noticed: it is left, and the next one is built and verified', async () => {
    const declared = withAdmins('edited-while-built');
    const [first = '', second = ''] = candidates(declared).map(({ alias }) => alias);
    let count = 0;
    rig.proxy.sabotage(({ method }) => {
      if (method === 'GET') return undefined;
      count += 1;
      return count === 12 ? { afterwards: () => other.addExecution(first, 'auth-otp-form') } : undefined;
    });
    expect(await rig.run('buildCandidate', { desired: declared, candidate: first })).toMatchObject({ kind: 'left' });
    rig.proxy.sabotage(() => undefined);
    expect(await rig.run('buildCandidate', { desired: declared, candidate: second })).toMatchObject({ kind: 'built' });
    expect((await realmNow()).browserFlow).toBe('browser');
  });

  test('that binds the candidate while its build was cut off: the build that goes on writes nothing to what is live', async () => {
    const declared = withAdmins('half-built');
    const alias = candidates(declared)[0]?.alias ?? '';
    const env = new MockActivityEnvironment();
    let count = 0;
    rig.proxy.sabotage(({ method }) => {
      if (method === 'GET') return undefined;
      count += 1;
      return count === 5 ? { afterwards: () => Promise.resolve(env.cancel('WORKER_SHUTDOWN')) } : undefined;
    });
    await rig.run('buildCandidate', { desired: declared, candidate: alias }, env).catch(() => undefined);
    rig.proxy.sabotage(() => undefined);
    await other.editRealm({ browserFlow: alias });
    rig.proxy.clear();
    const outcome = await rig.run('buildCandidate', { desired: declared, candidate: alias });
    expect(outcome).toMatchObject({ kind: 'left', why: expect.stringContaining('in use') as string });
    expect(rig.proxy.writes()).toEqual([]);
  });
});

describe('an edit by somebody else between the last reading and the write', () => {
  const kinds = Object.keys(writes) as (keyof typeof writes)[];

  test.each(kinds)('of the realm is told of with the values that were lost (%s)', async (kind) => {
    const write = await writes[kind]();
    rig.proxy.sabotage(insideTheWindow(() => other.editRealm({ displayName: 'Theirs', ssoSessionIdleTimeout: 4_321 })));
    const outcome = await write();
    expect(outcome).toMatchObject({ kind: 'written' });
    const lost = lostOf(outcome);
    expect(lost).toHaveLength(1);
    expect(lost[0]).toContain('displayName = "Theirs"');
    expect(lost[0]).toContain('ssoSessionIdleTimeout = 4321');
    expect(lost[0]).toContain('client ');
    // It is lost indeed, which only they can put right.
    expect((await realmNow()).displayName).toBe('Shop');
  });

  test.each(kinds)('of an attribute is told of with its value (%s)', async (kind) => {
    const write = await writes[kind]();
    rig.proxy.sabotage(insideTheWindow(() => other.editAttributes({ theirs: 'kept by nobody' })));
    const outcome = await write();
    expect(lostOf(outcome).join('\n')).toContain('kept by nobody');
  });

  test.each(kinds)('that binds another flow is told of, and what it bound is named (%s)', async (kind) => {
    const write = await writes[kind]();
    rig.proxy.sabotage(insideTheWindow(() => bindTheirs()));
    const outcome = await write();
    expect(lostOf(outcome).join('\n')).toContain('browserFlow = "theirs"');
    expect((await realmNow()).browserFlow).not.toBe('theirs');
  });

  test('of which a part was not written over is told of with the part that was', async () => {
    const write = await writes.policy();
    // Keycloak leaves alone what a PUT does not carry, as a field that the realm did not have.
    const edit = { displayNameHtml: '<b>Theirs</b>', ssoSessionIdleTimeout: 4_321 };
    rig.proxy.sabotage(insideTheWindow(() => other.editRealm(edit)));
    const outcome = await write();
    expect(outcome.message).toContain('displayNameHtml changed as well');
    expect(outcome.message).toContain('ssoSessionIdleTimeout = 4321');
    expect(outcome.message).not.toContain('displayNameHtml = ');
  });

  test('of the candidate is told of: what is bound is not what was verified', async () => {
    const write = await writes.bind();
    rig.proxy.sabotage(insideTheWindow(() => editCandidate(10, 'DISABLED')));
    expect(await write()).toMatchObject({
      kind: 'failed',
      reason: 'EditedMeanwhile',
      message: expect.stringContaining('holdfast rollback') as string,
    });
  });

  test('with the account of the product itself is told of as well', async () => {
    const write = await writes.policy();
    const token = await serviceToken();
    rig.proxy.sabotage(
      insideTheWindow(async () => {
        const { smtpServer: _, ...now } = await realm.ask<Record<string, unknown>>('GET', '');
        await fetch(`${realm.url}/admin/realms/${realm.realm}`, {
          method: 'PUT',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...now, displayName: 'Theirs' }),
        });
      }),
    );
    expect(lostOf(await write()).join('\n')).toContain('displayName = "Theirs"');
  });

  test('that sets what was there already loses nothing', async () => {
    const write = await writes.policy();
    rig.proxy.sabotage(insideTheWindow(() => other.editRealm({})));
    const outcome = await write();
    expect(outcome).toMatchObject({ kind: 'written' });
    expect(lostOf(outcome)).toEqual([]);
  });

  test('in a realm that keeps no admin events is not claimed not to have been', async () => {
    await other.editRealm({ adminEventsEnabled: false });
    const outcome = await (await writes.policy())();
    expect(outcome).toMatchObject({ kind: 'written', notVerified: [expect.stringContaining('no admin events')] });
  });
});

test('a write of a dead worker that arrives after the bind takes effect, lets nobody in, and is told of at the next pass', async () => {
  const declared = withAdmins('arrives-late');
  const [alias = ''] = candidates(declared).map((known) => known.alias);
  const env = new MockActivityEnvironment();
  const arrives = Promise.withResolvers<undefined>();
  let count = 0;
  rig.proxy.sabotage(({ method, path }) => {
    if (method !== 'POST' || !path.endsWith('/executions/execution')) return undefined;
    count += 1;
    if (count !== 2) return undefined;
    env.cancel('WORKER_SHUTDOWN');
    return { first: () => arrives.promise };
  });
  await rig.run('buildCandidate', { desired: declared, candidate: alias }, env).catch(() => undefined);
  expect(count).toBe(2);
  rig.proxy.sabotage(() => undefined);
  const outcome = await rig.run('buildCandidate', { desired: declared, candidate: alias });
  if (outcome.kind !== 'built') throw new Error(JSON.stringify(outcome));
  const command = bindCommand(rig, outcome, { candidate: alias });
  expect(await rig.run('bindCandidate', { desired: declared, command })).toMatchObject({ kind: 'written' });

  // Keycloak has no precondition that would refuse it.
  arrives.resolve(undefined);
  await waitFor('the late write', async () => (await servedTree(realm, alias)).length > declaredTree.length);
  const { bound } = await rig.run('observeRealm', { desired: declared });
  // What Keycloak adds is DISABLED, so that nobody gets in by it.
  const differences = ['identity-provider-redirector DISABLED at level 0 is not declared'];
  expect(bound).toMatchObject({ kind: 'read', value: { alias, asDeclared: false, differences } });
});

test('the window in which an edit can be lost is short, and measured', async ({ annotate }) => {
  const windows: Record<'policy' | 'bind', number[]> = { policy: [], bind: [] };
  let readAt = 0;
  let kind: keyof typeof windows = 'policy';
  rig.proxy.sabotage((passed) => {
    if (!isRealm(passed)) return undefined;
    if (passed.method === 'GET') {
      // From when Keycloak read it at the latest.
      const asked = performance.now();
      return {
        afterwards: () => {
          readAt = asked;
          return Promise.resolve();
        },
      };
    }
    return {
      afterwards: () => {
        windows[kind].push(performance.now() - readAt);
        return Promise.resolve();
      },
    };
  });
  const command = bindCommand(rig, await built(rig));
  for (let round = 0; round < 10; round++) {
    kind = 'policy';
    await other.editRealm({ webAuthnPolicyPasswordlessRpId: `drifted-${round}.example.com` });
    expect(await rig.run('writePolicy')).toMatchObject({ kind: 'written' });
    kind = 'bind';
    expect(await rig.run('bindCandidate', { command })).toMatchObject({ kind: 'written' });
    await other.editRealm({ browserFlow: 'browser' });
  }
  for (const [name, values] of Object.entries(windows)) {
    values.sort((a, b) => a - b);
    expect(values).toHaveLength(10);
    const [least = 0, middle = 0, most = 0] = [values[0], values[5], values[9]];
    await annotate(
      `${name}: from asking for the last reading to the answer of the PUT ${least.toFixed(1)} to ${most.toFixed(1)} ms, median ${middle.toFixed(1)} ms`,
    );
  }
});

/** Another declaration than the one of the other tests, so that nothing of it is built yet. */
function withAdmins(condUserRole: string): DesiredState {
  return desired((input) => {
    input.realm = realm.realm;
    input.authenticatorConfig['conditional-otp-platform-admin'] = { condUserRole, negate: 'false' };
  });
}

const candidate = () => rig.names[0] ?? '';

async function bindTheirs(): Promise<void> {
  await other.copyBrowserFlow('theirs');
  await other.editRealm({ browserFlow: 'theirs' });
}

function editCandidate(row: number, requirement: string): Promise<void> {
  return other.setRequirement(candidate(), row, requirement);
}

function holdBinding(): Promise<void> {
  return other.editAttributes({ 'holdfast.browserFlow.hold': JSON.stringify(hold) });
}

function lostOf(outcome: WriteOutcome): readonly string[] {
  return outcome.kind === 'written' ? (outcome.lost ?? []) : [];
}

async function serviceToken(): Promise<string> {
  const answer = await fetch(`${realm.url}/realms/${realm.realm}/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: realm.clientId,
      client_secret: realm.clientSecret,
    }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}
