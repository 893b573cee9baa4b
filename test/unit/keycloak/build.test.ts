import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RealmRepresentation } from '../../../src/domain/keycloak-flow/representation.ts';
import { bindCommand, built, startFlowRig, type FlowRig } from '../../activities/keycloak/flow-rig.ts';
import type { Passed, Sabotage } from '../../doubles/keycloak-proxy.ts';
import { startKeycloakServer, type KeycloakServer } from '../../doubles/keycloak-server.ts';

let server: KeycloakServer;
let rig: FlowRig;

beforeEach(async () => {
  server = await startKeycloakServer();
  rig = await startFlowRig(server, undefined, { timeoutMs: 5_000 });
});

afterEach(() => rig.close());

/** Of the example tree: its flow, eleven rows, ten requirements (a username form is REQUIRED by itself), one configuration. */
const WRITES = 23;
const everyWrite = Array.from({ length: WRITES }, (_, index) => index + 1);

function isWrite({ method, path }: Passed): boolean {
  return method !== 'GET' && !path.startsWith('/realms/');
}

function isRequirement({ method, path }: Passed): boolean {
  return method === 'PUT' && path.endsWith('/executions');
}

/** Spoils the one write of this number. */
function spoilWrite(number: number, sabotage: (passed: Passed) => Sabotage): void {
  let count = 0;
  rig.proxy.sabotage((passed) => {
    if (!isWrite(passed)) return undefined;
    count += 1;
    return count === number ? sabotage(passed) : undefined;
  });
}

function stopSpoiling(): void {
  rig.proxy.sabotage(() => undefined);
}

async function nothingElseTouched(): Promise<void> {
  expect((await server.ask<RealmRepresentation>('GET', '')).browserFlow).toBe('browser');
  const candidateParts = rig.proxy.writes().filter(({ path, body }) => {
    const text = `${decodeURIComponent(path)} ${JSON.stringify(body)}`;
    return !/-[0-9a-f]{12}(-r[2-5])?\b/.test(text) && !path.includes('/executions/exec-');
  });
  expect(candidateParts).toEqual([]);
}

describe('a full build', () => {
  test('takes at most sixty requests with its token, twenty-three of them writes', async () => {
    await built(rig);
    expect(rig.proxy.writes()).toHaveLength(WRITES);
    expect(rig.proxy.passed.length + rig.proxy.tokens.length).toBeLessThanOrEqual(60);
    await nothingElseTouched();
  });
});

describe.each(['before its effect', 'between its effect and its reply'])('a worker killed at a write, %s', (when) => {
  test.each(everyWrite)('number %i: another try goes on with the same candidate', async (number) => {
    const env = new MockActivityEnvironment();
    let heartbeat: unknown;
    env.on('heartbeat', (details: unknown) => {
      heartbeat = details;
    });
    const kill = () => {
      env.cancel('WORKER_SHUTDOWN');
      return Promise.resolve();
    };
    spoilWrite(number, () => {
      if (when !== 'before its effect') return { afterwards: kill };
      void kill();
      return 'dropBefore';
    });
    const [candidate = ''] = rig.names;
    await expect(rig.run('buildCandidate', { candidate }, env)).rejects.toThrow();
    stopSpoiling();
    // Every second one goes on without knowing what the try before had sent.
    const next = number % 2 === 0 ? new MockActivityEnvironment({ heartbeatDetails: heartbeat }) : undefined;
    const outcome = await rig.run('buildCandidate', { candidate }, next);
    expect(outcome).toMatchObject({ kind: 'built', treeHash: candidate.slice(-12) });
    await nothingElseTouched();
  });
});

describe('a reading that is older than the last write', () => {
  test('does not make the next try add an execution twice', async () => {
    const env = new MockActivityEnvironment();
    let heartbeat: unknown;
    env.on('heartbeat', (details: unknown) => {
      heartbeat = details;
    });
    spoilWrite(2, () => ({
      afterwards: () => {
        env.cancel('WORKER_SHUTDOWN');
        return Promise.resolve();
      },
    }));
    const [candidate = ''] = rig.names;
    await expect(rig.run('buildCandidate', { candidate }, env)).rejects.toThrow();
    // Another node of the same Keycloak, which has not heard of the execution yet.
    let stale = true;
    rig.proxy.sabotage(({ method, path }) => {
      if (!stale || method !== 'GET') return undefined;
      if (path.endsWith('/flows')) {
        const old = (flow: unknown) => ({ ...(flow as object), authenticationExecutions: null });
        return { changeAnswer: (flows) => (flows as unknown[]).map(old) };
      }
      if (!path.endsWith(`/${candidate}/executions`)) return undefined;
      stale = false;
      return { changeAnswer: () => [] };
    });
    const next = new MockActivityEnvironment({ heartbeatDetails: heartbeat });
    expect(await rig.run('buildCandidate', { candidate }, next)).toMatchObject({ kind: 'built' });
  });
});

describe('a write that Keycloak answers and does not do', () => {
  test.each(everyWrite)('number %i: nothing is called built', async (number) => {
    spoilWrite(number, () => ({ answer: 201 }));
    const [candidate = ''] = rig.names;
    const outcome = await rig.run('buildCandidate', { candidate });
    expect(outcome.kind).not.toBe('built');
    await nothingElseTouched();
  });
});

describe('a write that Keycloak refuses', () => {
  test.each([400, 403, 404, 409, 500, 503])(
    'with %i: the build says so, and does not go on blindly',
    async (status) => {
      spoilWrite(4, () => ({ answer: status, body: '{"error":"refused"}' }));
      const [candidate = ''] = rig.names;
      const outcome = await rig.run('buildCandidate', { candidate });
      // A server that failed may have done it: that is found out by reading, and then it is sent again.
      expect(outcome.kind).toBe(status >= 500 ? 'built' : status === 409 ? 'left' : 'failed');
      await nothingElseTouched();
    },
  );

  test('a page of HTML instead of an answer is settled by reading back', async () => {
    spoilWrite(4, () => ({ answer: 200, body: '<html></html>', type: 'text/html' }));
    await built(rig);
  });
});

describe('a wrong effect', () => {
  const requirements = Array.from({ length: 10 }, (_, index) => index);

  test.each(requirements)(
    'R4 sabotage A: requirement %i is applied otherwise: left, and never bound',
    async (number) => {
      let count = 0;
      rig.proxy.sabotage((passed) => {
        if (!isRequirement(passed)) return undefined;
        count += 1;
        if (count !== number + 1) return undefined;
        const changeBody = (body: unknown) => {
          const { requirement, ...rest } = body as Record<string, unknown>;
          return { ...rest, requirement: requirement === 'REQUIRED' ? 'DISABLED' : 'REQUIRED' };
        };
        return { changeBody };
      });
      const [candidate = ''] = rig.names;
      expect(await rig.run('buildCandidate', { candidate })).toMatchObject({ kind: 'left', created: true });
      stopSpoiling();
      const seen = await rig.run('observeRealm');
      expect(seen.candidates?.[0]?.state.kind).not.toBe('verified');
      await nothingElseTouched();
    },
  );

  test.each<[string, Record<string, string>]>([
    ['written under another key', { 'condition.evaluated.user.role': 'platform-admin', negate: 'false' }],
    ['swallowed', { negate: 'false' }],
    ['another one', { condUserRole: 'nobody', negate: 'false' }],
  ])('R22 sabotage B: the role is %s: left, and never bound', async (_, config) => {
    rig.proxy.sabotage(({ path }) =>
      path.endsWith('/config') ? { changeBody: (body) => ({ ...(body as object), config }) } : undefined,
    );
    const [candidate = ''] = rig.names;
    expect(await rig.run('buildCandidate', { candidate })).toMatchObject({ kind: 'left', created: true });
    await nothingElseTouched();
  });

  test('R19 rows without their priority come in another order, and are noticed', async () => {
    rig.proxy.sabotage((passed) =>
      isRequirement(passed)
        ? { changeBody: (body) => Object.fromEntries(Object.entries(body as object).filter(([k]) => k !== 'priority')) }
        : undefined,
    );
    const [candidate = ''] = rig.names;
    const outcome = await rig.run('buildCandidate', { candidate });
    expect(outcome.kind).not.toBe('built');
  });

  test('an execution that somebody adds while it is built is noticed', async () => {
    const [candidate = ''] = rig.names;
    spoilWrite(12, () => ({
      afterwards: async () => {
        const path = `/authentication/flows/${candidate}/executions/execution`;
        await server.ask('POST', path, { provider: 'auth-otp-form' });
      },
    }));
    const outcome = await rig.run('buildCandidate', { candidate });
    expect(outcome.kind).toBe('left');
    await nothingElseTouched();
  });

  test('R2 a candidate that somebody binds in the middle of a long build is no longer written to', async () => {
    let now = 0;
    const [candidate = ''] = rig.names;
    const slow = await startFlowRig(server, undefined, { timeoutMs: 5_000, clock: () => now });
    let count = 0;
    slow.proxy.sabotage((passed) => {
      if (!isWrite(passed)) return undefined;
      count += 1;
      if (count !== 12) return undefined;
      return {
        afterwards: async () => {
          await bindByHand(candidate);
          now += 31_000;
        },
      };
    });
    const outcome = await slow.run('buildCandidate', { candidate });
    expect(outcome).toMatchObject({ kind: 'left', why: expect.stringContaining('in use') as string });
    expect(slow.proxy.writes()).toHaveLength(12);
    await slow.client.close();
    await slow.proxy.close();
  });

  test('a candidate that somebody binds while it is built is not written to by the next try', async () => {
    const [candidate = ''] = rig.names;
    const env = new MockActivityEnvironment();
    bindAndKillAt(13, env);
    await rig.run('buildCandidate', { candidate }, env).catch(() => undefined);
    rig.proxy.clear();
    stopSpoiling();
    // The try after it reads what is in use anew.
    const outcome = await rig.run('buildCandidate', { candidate });
    // Given up, so that the pass after it takes the next name instead of coming to the same again and again.
    expect(outcome).toMatchObject({ kind: 'left', created: true });
    expect(rig.proxy.writes()).toEqual([]);
  });
});

/** Binds the candidate at the write of this number, and cuts the try off. */
function bindAndKillAt(number: number, env: MockActivityEnvironment): void {
  let count = 0;
  const [candidate = ''] = rig.names;
  rig.proxy.sabotage((passed) => {
    if (!isWrite(passed)) return undefined;
    count += 1;
    if (count !== number) return undefined;
    return {
      afterwards: async () => {
        await bindByHand(candidate);
        env.cancel('WORKER_SHUTDOWN');
      },
    };
  });
}

describe('a candidate that was edited after it was built', () => {
  test.each<[string, () => Promise<unknown>]>([
    [
      'a row more',
      () =>
        server.ask('POST', `/authentication/flows/${rig.names[0] ?? ''}/executions/execution`, {
          provider: 'auth-otp-form',
        }),
    ],
    [
      'another requirement',
      () => {
        const row = server.fake.readBack(rig.names[0] ?? '')?.rows[0];
        const body = { id: row?.id, requirement: 'DISABLED', priority: row?.priority };
        return server.ask('PUT', `/authentication/flows/${rig.names[0] ?? ''}/executions`, body);
      },
    ],
  ])('by %s is not bound, and nothing is sent', async (_, edit) => {
    const result = await built(rig);
    await edit();
    rig.proxy.clear();
    const outcome = await rig.run('bindCandidate', { command: bindCommand(rig, result) });
    expect(outcome).toMatchObject({ kind: 'stopped', reason: 'CandidateChanged' });
    expect(rig.proxy.writes()).toEqual([]);
  });
});

async function bindByHand(browserFlow: string): Promise<void> {
  const { smtpServer: _, ...realm } = await server.ask<RealmRepresentation & { smtpServer: unknown }>('GET', '');
  await server.ask('PUT', '', { ...realm, browserFlow });
}

test('a list of flows that never shows what was created costs one name, and not all five', async () => {
  rig.proxy.sabotage(({ method, path }) =>
    method === 'GET' && path.endsWith('/authentication/flows')
      ? { changeAnswer: (all) => (all as { alias: string }[]).filter(({ alias }) => !rig.names.includes(alias)) }
      : undefined,
  );
  const outcome = await rig.run('buildCandidate', { candidate: rig.names[0] ?? '' });
  // Created, so that the pass ends and somebody hears of it before the next name is taken.
  expect(outcome).toMatchObject({ kind: 'left', created: true });
});
