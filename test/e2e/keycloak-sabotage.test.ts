import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { flowPasses, type FlowPasses } from '../activities/keycloak/flow-passes.ts';
import { startFlowRig, type FlowRig } from '../activities/keycloak/flow-rig.ts';
import { createProbeUsers } from '../activities/keycloak/probe-users.ts';
import { secondWriter } from '../activities/keycloak/second-writer.ts';
import { startLoginSampler, type LoginSampler } from '../chaos/login-sampler.ts';
import { createApp, weakLogins } from '../chaos/weak-logins.ts';
import type { Passed, Sabotage } from '../doubles/keycloak-proxy.ts';
import { createTestRealm, type TestRealm } from '../lab/keycloak-realm.ts';
import { declaredTree, servedTree } from '../lab/keycloak-tree.ts';
import { keycloakOf } from '../lab/parts/keycloak.ts';

/*
 * Whole passes over one realm of a real Keycloak, through a proxy that spoils one kind of request in one way for as long
 * as it lasts, while a person approves whatever is offered: what is bound is all of what is declared, or nothing is.
 * `HOLDFAST_CHAOS=all` spoils each kind of request in each way; else each gets some of them, in turn.
 */
const all = process.env['HOLDFAST_CHAOS'] === 'all';

let realm: TestRealm;
let rig: FlowRig;
/** Waits for an answer for a second only. */
let hasty: FlowRig;
let sampler: LoginSampler;
let original: Record<string, unknown>;

const actionPath = '/authentication/required-actions/webauthn-register-passwordless';

beforeAll(async () => {
  realm = await createTestRealm(await keycloakOf(inject('lab')), { displayName: 'Shop' });
  rig = await startFlowRig(realm);
  hasty = await startFlowRig({ ...realm, delete: () => Promise.resolve() }, undefined, { timeoutMs: 1_000 });
  const users = await createProbeUsers(rig);
  await createApp(realm);
  const action = await realm.ask<Record<string, unknown>>('GET', actionPath);
  await realm.ask('PUT', actionPath, { ...action, enabled: false });
  await secondWriter(realm).editRealm({});
  original = await realm.ask('GET', '');
  sampler = startLoginSampler(realm.url, realm.realm, weakLogins(users), 700);
});

afterAll(async () => {
  await sampler.stop();
  await hasty.close();
  await rig.close();
});

/** The realm as it was, nothing built in it. */
beforeEach(async () => {
  for (const { proxy } of [rig, hasty]) proxy.sabotage(() => undefined);
  const { smtpServer: _, ...fields } = original;
  await realm.ask('PUT', '', fields);
  const action = await realm.ask<Record<string, unknown>>('GET', actionPath);
  await realm.ask('PUT', actionPath, { ...action, enabled: false });
  for (const { id, alias } of await realm.ask<{ id: string; alias: string }[]>('GET', '/authentication/flows')) {
    if (alias.startsWith('browser-mfa')) await realm.ask('DELETE', `/authentication/flows/${id}`);
  }
  for (const { proxy } of [rig, hasty]) proxy.clear();
});

type Is = (passed: Passed) => boolean;

/** A request of a pass, by its path below the realm; `C` is any candidate or sub-flow of one. */
function requests(method: string, path: RegExp): Is {
  return (passed) => passed.method === method && path.test(below(passed));
}

const below = ({ path }: Passed) => path.split('?')[0]?.replace(`/admin/realms/${realm.realm}`, '') ?? '';
const candidateRows = /^\/authentication\/flows\/browser-mfa[^/]*\/executions$/;

interface Reading {
  readonly is: Is;
  /** Which pass cannot be determined without it. */
  readonly pass: 'policy' | 'requiredAction' | 'flow';
  /** What must not be written without it. */
  readonly decides: (write: Passed) => boolean;
}

const bindsOrBuilds = (write: Passed) => below(write) === '' || isConstruction(write);
const isConstruction = (write: Passed) => /^\/authentication\/(flows|executions)/.test(below(write));
const isBind = (write: Passed) =>
  below(write) === '' && (write.body as { browserFlow?: string }).browserFlow !== 'browser';

const readings: Readonly<Record<string, Reading>> = {
  'the realm': { is: requests('GET', /^$/), pass: 'policy', decides: bindsOrBuilds },
  'the list of flows': { is: requests('GET', /^\/authentication\/flows$/), pass: 'flow', decides: isConstruction },
  'the rows of the bound flow': {
    is: requests('GET', /^\/authentication\/flows\/browser\/executions$/),
    pass: 'flow',
    decides: isConstruction,
  },
  'the rows of the candidate': { is: requests('GET', candidateRows), pass: 'flow', decides: isBind },
  'a configuration': { is: requests('GET', /^\/authentication\/config\//), pass: 'flow', decides: isBind },
  'the required actions': {
    is: requests('GET', /^\/authentication\/required-actions$/),
    pass: 'requiredAction',
    decides: (write) => below(write).includes('/required-actions/'),
  },
  'the authenticators': {
    is: requests('GET', /^\/authentication\/authenticator-providers$/),
    pass: 'flow',
    decides: isConstruction,
  },
  'the clients': { is: requests('GET', /^\/clients$/), pass: 'flow', decides: isConstruction },
  'the identity providers': {
    is: requests('GET', /^\/identity-provider\/instances$/),
    pass: 'flow',
    decides: isConstruction,
  },
};

const writes: Readonly<Record<string, Is>> = {
  'the policy': (passed) => requests('PUT', /^$/)(passed) && !isBind(passed),
  'the required action': requests('PUT', /^\/authentication\/required-actions\//),
  'a new flow': requests('POST', /^\/authentication\/flows$/),
  'a new execution': requests('POST', /\/executions\/execution$/),
  'a new sub-flow': requests('POST', /\/executions\/flow$/),
  'a requirement': requests('PUT', candidateRows),
  'a new configuration': requests('POST', /\/config$/),
  'the bind': (passed) => requests('PUT', /^$/)(passed) && isBind(passed),
};

const html = { body: '<html><title>Sign in</title></html>', type: 'text/html' } as const;

const unreadable: Readonly<Record<string, Sabotage>> = {
  '403': { answer: 403, body: '{"error":"HTTP 403 Forbidden"}' },
  '404': { answer: 404, body: '{"error":"not found"}' },
  '409': { answer: 409, body: '{"errorMessage":"exists"}' },
  '500': { answer: 500, body: '{"error":"unknown_error"}' },
  'a page of HTML': { answer: 200, ...html },
  'a page of HTML with 404': { answer: 404, ...html },
  nothing: { answer: 200 },
  'half an answer': 'halve',
  'a connection that breaks': 'breakOff',
  'no reply': 'dropReply',
  'a slow trickle': 'trickle',
};

/** Of a write: not done, or done and not said so, or done twice. */
const unsaid: Readonly<Record<string, Sabotage>> = {
  '403, and not done': { answer: 403, body: '{"error":"HTTP 403 Forbidden"}' },
  '404, and not done': { answer: 404, body: '{"error":"not found"}' },
  '409, and not done': { answer: 409, body: '{"errorMessage":"exists"}' },
  '500, and not done': { answer: 500, body: '{"error":"unknown_error"}' },
  'HTML, and not done': { answer: 200, ...html },
  'no reply, and not done': 'dropBefore',
  'no reply, and done': 'dropReply',
  '403, and done': { reply: 403, body: '{"error":"HTTP 403 Forbidden"}' },
  '409, and done': { reply: 409, body: '{"errorMessage":"exists"}' },
  '500, and done': { reply: 500, body: '{"error":"unknown_error"}' },
  'HTML with 502, and done': { reply: 502, ...html },
  'done twice': 'twice',
};

/** Each row with each way, or with every sixth of them, another one for each row. */
function cells(rows: readonly string[], ways: readonly string[]): [string, string][] {
  return rows.flatMap((row, at) =>
    ways.filter((_, number) => all || number % 6 === at % 6).map((way): [string, string] => [row, way]),
  );
}

/** Spoils each request that is meant; a trickle once, since each takes as long as the product waits. */
function spoil({ proxy }: FlowRig, is: Is, sabotage: Sabotage): { hits: () => number } {
  let hits = 0;
  const most = sabotage === 'trickle' ? 1 : Infinity;
  proxy.sabotage((passed) => {
    if (passed.path.startsWith('/realms/') || hits >= most || !is(passed)) return undefined;
    hits += 1;
    return sabotage;
  });
  return { hits: () => hits };
}

async function bound(): Promise<string> {
  return (await realm.ask<{ browserFlow: string }>('GET', '')).browserFlow;
}

/** What is bound is what was bound before, or all that is declared. */
async function expectNothingWrongBound(): Promise<void> {
  const flow = await bound();
  if (flow === 'browser') return;
  expect(flow).toMatch(/^browser-mfa-/);
  expect(await servedTree(realm, flow)).toEqual(declaredTree);
}

/** Two runs with a person who approves whatever is offered in between. */
async function twoRuns(passes: FlowPasses) {
  const first = await passes.run();
  await expectNothingWrongBound();
  passes.approve();
  const second = await passes.run();
  await expectNothingWrongBound();
  return { first: first.summary, second: second.summary };
}

/** Nothing stays of what was spoiled: undisturbed, the declared tree is bound. */
async function expectRecovery(passes: FlowPasses): Promise<void> {
  rig.proxy.sabotage(() => undefined);
  passes.act('retry');
  for (let count = 0; count < 4 && (await bound()) === 'browser'; count++) {
    await passes.run();
    passes.approve();
  }
  expect(await bound()).toMatch(/^browser-mfa-/);
  await expectNothingWrongBound();
  const { summary } = await passes.run();
  expect(summary.outcome).toBe('Converged');
}

describe('an answer that cannot be read', () => {
  test.each(cells(Object.keys(readings), Object.keys(unreadable)))(
    '%s: %s leaves its pass undetermined, and nothing is written that it decides',
    async (what, way) => {
      const [reading, sabotage] = [readings[what], unreadable[way]];
      if (reading === undefined || sabotage === undefined) throw new Error('no such cell');
      const on = sabotage === 'trickle' ? hasty : rig;
      const { hits } = spoil(on, reading.is, sabotage);
      const passes = flowPasses(on);
      const { first } = await twoRuns(passes);
      expect(hits()).toBeGreaterThan(0);
      expect(first.passes.find(({ pass }) => pass === reading.pass)?.outcome).toBe('Undetermined');
      // A trickle spoils one answer of the first run only.
      if (sabotage === 'trickle') return;
      const written = on.proxy.writes().filter((write) => !write.path.startsWith('/realms/') && reading.decides(write));
      expect(written).toEqual([]);
      // A pass that fails does not stop the others.
      if (reading.pass !== 'requiredAction') expect(await bound()).toBe('browser');
    },
  );
});

describe('a write that is not done, or done and not said so', () => {
  test.each(cells(Object.keys(writes), Object.keys(unsaid)))(
    '%s: %s binds nothing wrong, and is made up for afterwards',
    async (what, way) => {
      const [is, sabotage] = [writes[what], unsaid[way]];
      if (is === undefined || sabotage === undefined) throw new Error('no such cell');
      const { hits } = spoil(rig, is, sabotage);
      const passes = flowPasses(rig);
      await twoRuns(passes);
      expect(hits()).toBeGreaterThan(0);
      await expectRecovery(passes);
    },
  );
});

/** Of each write of a kind, the nth is changed. */
function change(
  is: Is,
  nth: number,
  how: (body: Record<string, unknown>) => object,
): (passed: Passed) => Sabotage | undefined {
  const seen: string[] = [];
  return (passed) => {
    if (passed.path.startsWith('/realms/') || !is(passed)) return undefined;
    const key = `${passed.path} ${JSON.stringify(passed.body)}`;
    if (!seen.includes(key)) seen.push(key);
    return seen.indexOf(key) === nth - 1 ? { changeBody: (body) => how(body as Record<string, unknown>) } : undefined;
  };
}

const config = (values: Record<string, string>) => (body: Record<string, unknown>) => ({ ...body, config: values });

describe('a tree that comes out wrong', () => {
  test.each<[string, keyof typeof writes, number, (body: Record<string, unknown>) => object]>([
    ['the OTP is ALTERNATIVE', 'a requirement', 10, (body) => ({ ...body, requirement: 'ALTERNATIVE' })],
    ['the OTP stays DISABLED', 'a requirement', 10, (body) => ({ ...body, requirement: 'DISABLED' })],
    ['the password is DISABLED', 'a requirement', 7, (body) => ({ ...body, requirement: 'DISABLED' })],
    ['the condition is DISABLED', 'a requirement', 9, (body) => ({ ...body, requirement: 'DISABLED' })],
    ['the OTP sub-flow is DISABLED', 'a requirement', 8, (body) => ({ ...body, requirement: 'DISABLED' })],
    ['a priority is lost', 'a requirement', 2, ({ priority: _, ...body }) => body],
    ['the role is swallowed', 'a new configuration', 1, config({ negate: 'false' })],
    ['another key is swallowed', 'a new configuration', 1, config({ condUserRole: 'platform-admin' })],
    ['the role is another one', 'a new configuration', 1, config({ condUserRole: 'nobody', negate: 'false' })],
    [
      'the role stands under the wrong key',
      'a new configuration',
      1,
      config({ 'condition.evaluated.user.role': 'platform-admin', negate: 'false' }),
    ],
    [
      'the condition is turned round',
      'a new configuration',
      1,
      config({ condUserRole: 'platform-admin', negate: 'true' }),
    ],
    ['the password form is another one', 'a new execution', 5, () => ({ provider: 'auth-username-form' })],
    ['the flow does not carry our mark', 'a new flow', 1, (body) => ({ ...body, description: 'by hand' })],
    ['the flow is no top level flow', 'a new flow', 1, (body) => ({ ...body, topLevel: false })],
  ])('%s: it is caught before the bind', async (_, what, nth, how) => {
    const is = writes[what];
    if (is === undefined) throw new Error('no such write');
    let hits = 0;
    const decide = change(is, nth, how);
    rig.proxy.sabotage((passed) => {
      const sabotage = decide(passed);
      if (sabotage !== undefined) hits += 1;
      return sabotage;
    });
    const passes = flowPasses(rig);
    await passes.run();
    expect(hits).toBeGreaterThan(0);
    const first = rig.names[0] ?? '';
    const { pending } = passes.state();
    // What is wrong is never what is offered.
    if (pending?.offer.candidate === first) expect(await servedTree(realm, first)).toEqual(declaredTree);
    passes.approve();
    await passes.run();
    await expectNothingWrongBound();
    await expectRecovery(passes);
  });
});

describe('a list that ends early', () => {
  const shorter = (answer: unknown) => (Array.isArray(answer) ? answer.slice(0, -1) : answer);
  const without = (field: string, values: readonly string[]) => (answer: unknown) =>
    (answer as Record<string, string>[]).filter((entry) => !values.includes(entry[field] ?? ''));

  test.each<[string, Is, (answer: unknown) => unknown, string]>([
    ['the rows of the candidate', requests('GET', candidateRows), shorter, 'browser'],
    ['the clients, without account', requests('GET', /^\/clients$/), without('clientId', ['account']), 'browser'],
    [
      'the clients, without realm-management',
      requests('GET', /^\/clients$/),
      without('clientId', ['realm-management']),
      'browser',
    ],
    [
      'the flows, without the bound one',
      requests('GET', /^\/authentication\/flows$/),
      without('alias', ['browser']),
      'browser',
    ],
    ['the rows of the bound flow', requests('GET', /^\/authentication\/flows\/browser\/executions$/), shorter, ''],
    ['the authenticators', requests('GET', /^\/authentication\/authenticator-providers$/), shorter, ''],
  ])('%s: nothing wrong is bound', async (_, is, changeAnswer, stays) => {
    const { hits } = spoil(rig, is, { changeAnswer });
    const passes = flowPasses(rig);
    await twoRuns(passes);
    expect(hits()).toBeGreaterThan(0);
    if (stays !== '') expect(await bound()).toBe(stays);
    await expectRecovery(passes);
  });
});

describe('a bind that comes out wrong', () => {
  test.each<[string, (body: Record<string, unknown>) => object]>([
    ['another flow is bound', (body) => ({ ...body, browserFlow: 'registration' })],
    ['the marks are lost', ({ attributes: _, ...body }) => body],
    ['nothing is bound', (body) => ({ ...body, browserFlow: 'browser' })],
  ])('%s: it is told of, and not called bound', async (_, how) => {
    const isTheBind = writes['the bind'];
    if (isTheBind === undefined) throw new Error('no such write');
    const passes = flowPasses(rig);
    await passes.run();
    expect(passes.approve()).toBe(true);
    rig.proxy.sabotage((passed) =>
      !passed.path.startsWith('/realms/') && isTheBind(passed)
        ? { changeBody: (body) => how(body as Record<string, unknown>) }
        : undefined,
    );
    const { summary } = await passes.run();
    expect(summary.passes.find(({ pass }) => pass === 'flow')).toMatchObject({
      outcome: 'Problem',
      reason: 'NotStored',
    });
    expect(passes.state().binds).toBe(0);
  });
});

test('nobody logged in with less than is declared, whatever was spoiled', async ({ annotate }) => {
  await sampler.round();
  const { attempts, asked, codes, unread } = await sampler.stop();
  await annotate(`${attempts} weak logins tried, none of which got a code`);
  expect(codes).toEqual([]);
  expect(asked + unread.length).toBe(attempts);
  expect(asked).toBeGreaterThanOrEqual(20);
});
