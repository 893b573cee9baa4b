import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { KeycloakFlowActivities } from '../../../src/activities/keycloak/port.ts';
import { bindCommand, built, startFlowRig, SWITCH_FILE, type FlowRig } from '../../activities/keycloak/flow-rig.ts';
import type { Sabotage } from '../../doubles/keycloak-proxy.ts';
import { startKeycloakServer, type KeycloakServer } from '../../doubles/keycloak-server.ts';

/*
 * Each reading of each activity, spoiled in each way, one at a time: what cannot be read is never a value, writes
 * nothing that it decides, and is read well the next time.
 */

let server: KeycloakServer;
let rig: FlowRig;

beforeEach(async () => {
  server = await startKeycloakServer();
  rig = await startFlowRig(server, undefined, { timeoutMs: 400 });
});

afterEach(async () => {
  vi.restoreAllMocks();
  await rig.close();
});

const spoilers: readonly (readonly [string, Sabotage])[] = [
  ['403', { answer: 403, body: '{"error":"HTTP 403 Forbidden"}' }],
  ['404', { answer: 404, body: '{"error":"not found"}' }],
  ['500', { answer: 500, body: '{"error":"unknown_error"}' }],
  ['a page of HTML', { answer: 200, body: '<html><title>Sign in</title></html>', type: 'text/html' }],
  ['nothing', { answer: 200 }],
  ['half a list', 'halve'],
  ['a broken connection', 'breakOff'],
  ['no reply', 'dropReply'],
  ['a slow trickle', 'trickle'],
  ['another form', { answer: 200, body: '{"error":"or not"}' }],
];

type Run = () => Promise<unknown>;

/** Spoils the reading of this number that an activity makes. Returns true where there was one. */
async function spoilRead(number: number, sabotage: Sabotage, run: Run): Promise<{ hit: boolean; outcome: unknown }> {
  let count = 0;
  let hit = false;
  rig.proxy.sabotage(({ method }) => {
    if (method !== 'GET') return undefined;
    count += 1;
    if (count !== number) return undefined;
    hit = true;
    return sabotage;
  });
  const outcome = await run();
  rig.proxy.sabotage(() => undefined);
  return { hit, outcome };
}

describe.each(spoilers)('%s in place of an answer', (_, sabotage) => {
  test('in a pass: says what could not be read, and writes nothing', async () => {
    for (let number = 1; ; number++) {
      const { hit, outcome } = await spoilRead(number, sabotage, () => rig.run('observeRealm'));
      if (!hit) break;
      expect(rig.proxy.writes()).toEqual([]);
      const seen = outcome as Awaited<ReturnType<KeycloakFlowActivities['observeRealm']>>;
      const readings = [seen.realm, seen.requiredAction, seen.bound, seen.unknownAuthenticators];
      const states = seen.candidates?.map(({ state }) => state) ?? [];
      expect([...readings, ...states].some((reading) => reading?.kind === 'unmeasured')).toBe(true);
    }
  });

  test('while the policy is written: the PUT is not sent, or its effect not claimed', async () => {
    for (let number = 1; ; number++) {
      rig.proxy.clear();
      await drift();
      const { hit, outcome } = await spoilRead(number, sabotage, () => rig.run('writePolicy'));
      if (!hit) break;
      const kind = (outcome as { kind: string }).kind;
      // The two readings before it, the one after it, and the admin events, without which an edit is not noticed.
      if (number <= 2) expect(rig.proxy.writes()).toEqual([]);
      expect(kind).toBe(['notRead', 'notRead', 'unmeasured'][number - 1] ?? 'written');
      if (number > 3) expect(outcome).toHaveProperty('notVerified');
    }
  });

  test('while a candidate is built: it is not called built, and the next try goes on with it', async () => {
    const [candidate = ''] = rig.names;
    // Every seventh reading, so that each kind is among them over all ways of spoiling.
    const from = (spoilers.findIndex(([name]) => name === _) % 7) + 1;
    for (let number = from; number < 31; number += 7) {
      const { hit, outcome } = await spoilRead(number, sabotage, () => rig.run('buildCandidate', { candidate }));
      if (!hit) break;
      expect(outcome).toMatchObject({ kind: 'unmeasured' });
    }
    await built(rig);
    expect(server.fake.realm.browserFlow).toBe('browser');
    expect(server.fake.listFlows().filter(({ alias }) => alias.startsWith('browser-mfa'))).toHaveLength(1);
  });

  test('right before a bind: nothing is bound', async () => {
    const result = await built(rig);
    const command = bindCommand(rig, result);
    // The list of flows, the rows, the configuration, the realm.
    for (let number = 1; number <= 4; number++) {
      rig.proxy.clear();
      const run = () => rig.run('bindCandidate', { command });
      const { outcome } = await spoilRead(number, sabotage, run);
      expect(outcome).toMatchObject({ kind: 'notRead' });
      expect(rig.proxy.writes()).toEqual([]);
    }
    const { outcome } = await spoilRead(5, sabotage, () => rig.run('bindCandidate', { command }));
    expect(outcome).toMatchObject({ kind: 'unmeasured' });
    // Asked again, it finds what the first try did.
    rig.proxy.clear();
    expect(await rig.run('bindCandidate', { command })).toMatchObject({ kind: 'written' });
    expect(rig.proxy.writes()).toEqual([]);
  });

  test('while the required action is written: the PUT is not sent, or its effect not claimed', async () => {
    for (const number of [1, 2]) {
      rig.proxy.clear();
      server.fake.requiredActions = server.fake.requiredActions.map((action) => ({ ...action, defaultAction: true }));
      const { outcome } = await spoilRead(number, sabotage, () => rig.run('writeRequiredAction'));
      expect(outcome).toMatchObject({ kind: number === 1 ? 'notRead' : 'unmeasured' });
      if (number === 1) expect(rig.proxy.writes()).toEqual([]);
    }
  });
});

async function drift(): Promise<void> {
  const realm = await server.ask<Record<string, unknown>>('GET', '');
  await server.ask('PUT', '', { ...realm, webAuthnPolicyPasswordlessRpId: 'drifted.example.com' });
}

describe('the bind switch', () => {
  test.each<[string, string | null, object]>([
    ['absent', null, { kind: 'read', value: 'absent' }],
    ['"true"', 'true\n', { kind: 'read', value: 'true' }],
    ['"false"', 'false', { kind: 'read', value: 'false' }],
    ['R15 anything else', 'yes', { kind: 'invalid' }],
    ['an empty file', '', { kind: 'invalid' }],
  ])('%s is read as what it is', async (_, text, expected) => {
    if (text !== null) rig.files.set(SWITCH_FILE, text);
    expect((await rig.run('observeRealm')).bindSwitch).toMatchObject(expected);
  });

  test.each(['true', 'absent'] as const)(
    'turned off after a run that saw it %s, it keeps the candidate from being bound',
    async (bindSwitch) => {
      const command = bindCommand(rig, await built(rig), { bindSwitch });
      rig.files.set(SWITCH_FILE, 'false');
      rig.proxy.clear();
      expect(await rig.run('bindCandidate', { command })).toMatchObject({ kind: 'stopped', reason: 'SwitchTurned' });
      expect(rig.proxy.writes()).toEqual([]);
    },
  );
});

describe('modes that write nothing', () => {
  test.each(['Observe', 'Shadow'] as const)(
    '%s: whatever is asked for, the choke point lets no write through',
    async (mode) => {
      const result = await built(rig);
      await drift();
      server.fake.requiredActions = server.fake.requiredActions.map((action) => ({ ...action, enabled: false }));
      rig.proxy.clear();
      const hold = { by: 'alice', reason: '', at: 1 };
      const stopped = { kind: 'stopped', reason: 'RefusedMode' };
      expect(await rig.run('writePolicy', { mode })).toMatchObject(stopped);
      expect(await rig.run('writeRequiredAction', { mode })).toMatchObject(stopped);
      expect(await rig.run('bindCandidate', { mode, command: bindCommand(rig, result) })).toMatchObject(stopped);
      expect(await rig.run('rollBack', { mode, hold })).toMatchObject(stopped);
      expect(await rig.run('buildCandidate', { mode, candidate: rig.names[1] ?? '' })).toMatchObject({
        kind: 'failed',
      });
      expect(rig.proxy.writes()).toEqual([]);
    },
  );
});

describe('what is in use', () => {
  test('R3 a list of clients without those that every realm has is not the whole list: nothing is written', async () => {
    server.fake.clients = server.fake.clients.filter(({ clientId }) => clientId !== 'realm-management');
    const outcome = await rig.run('buildCandidate', { candidate: rig.names[0] ?? '' });
    expect(outcome).toMatchObject({ kind: 'unmeasured', why: 'truncated' });
    expect(rig.proxy.writes()).toEqual([]);
  });

  test('R8 a sub-flow without a name in a flow in use: nothing is written', async () => {
    rig.proxy.sabotage(({ path }) => {
      if (!path.endsWith('/flows/browser/executions')) return undefined;
      const row = { id: 'x', level: 0, index: 1, requirement: 'REQUIRED', authenticationFlow: true, flowId: 'y' };
      return { changeAnswer: (rows) => [...(rows as unknown[]), row] };
    });
    const outcome = await rig.run('buildCandidate', { candidate: rig.names[0] ?? '' });
    expect(outcome.kind).toBe('unmeasured');
    expect(rig.proxy.writes()).toEqual([]);
  });
});

describe('a write of the required action', () => {
  test.each<[string, Sabotage]>([
    ['answered and not stored', { answer: 204 }],
    ['stored with another name', { changeBody: (body) => ({ ...(body as object), name: 'renamed on the way' }) }],
  ])('that is %s is not called done', async (_, sabotage) => {
    server.fake.requiredActions = server.fake.requiredActions.map((action) => ({ ...action, enabled: false }));
    rig.proxy.sabotage(({ method }) => (method === 'PUT' ? sabotage : undefined));
    expect(await rig.run('writeRequiredAction')).toMatchObject({ kind: 'failed', reason: 'NotStored' });
  });
});

describe('a write of the realm', () => {
  test('R30 that is answered and not stored is named by its field', async () => {
    await drift();
    rig.proxy.sabotage(({ method, path }) =>
      method === 'PUT' && !path.includes('flows') ? { answer: 204 } : undefined,
    );
    const outcome = await rig.run('writePolicy');
    expect(outcome).toMatchObject({ kind: 'failed', reason: 'NotStored' });
    expect(JSON.stringify(outcome)).toContain('RpId');
  });

  test('R30 a bind that is answered and not stored is not called bound, and one without its marks neither', async () => {
    const command = bindCommand(rig, await built(rig));
    rig.proxy.sabotage(({ method }) => (method === 'PUT' ? { answer: 204 } : undefined));
    expect(await rig.run('bindCandidate', { command })).toMatchObject({ kind: 'failed', reason: 'NotStored' });
    rig.proxy.sabotage(({ method }) =>
      method === 'PUT' ? { changeBody: (body) => ({ ...(body as object), attributes: {} }) } : undefined,
    );
    expect(await rig.run('bindCandidate', { command })).toMatchObject({ kind: 'failed', reason: 'NotStored' });
  });

  test('is not sent by a worker that slept between reading and writing', async () => {
    const result = await built(rig);
    await drift();
    rig.proxy.clear();
    const hold = { by: 'alice', reason: '', at: 1 };
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 25_000));
    expect(await rig.run('writePolicy')).toMatchObject({ kind: 'notRead' });
    expect(await rig.run('bindCandidate', { command: bindCommand(rig, result) })).toMatchObject({ kind: 'notRead' });
    expect(await rig.run('rollBack', { hold })).toMatchObject({ kind: 'notRead' });
    expect(rig.proxy.writes()).toEqual([]);
  });
});

describe('a server that is not configured', () => {
  test('is not measured, and names the configuration', async () => {
    const seen = await rig.run('observeRealm', { server: 'elsewhere' });
    expect(seen.realm).toMatchObject({ kind: 'unmeasured', message: expect.stringContaining('"elsewhere"') as string });
    expect(await rig.run('writePolicy', { server: 'elsewhere' })).toMatchObject({ kind: 'notRead' });
    expect(rig.proxy.passed).toEqual([]);
  });
});
