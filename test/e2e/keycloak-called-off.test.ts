import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { keycloakFlowSpec, type KeycloakFlowSpec } from '../../src/domain/keycloak-flow/spec.ts';
import type { KeycloakFlowStatus } from '../../src/domain/keycloak-flow/status.ts';
import {
  KEYCLOAK_FLOW_QUEUE,
  keycloakFlowId,
  keycloakFlowStatusQuery,
  keycloakFlowUpdate,
} from '../../src/workflows/keycloak-flow/messages.ts';
import type { keycloakFlowWorkflow } from '../../src/workflows/keycloak-flow/workflow.ts';
import { exampleInput } from '../domain/keycloak-flow/world.ts';
import { startKeycloakProxy, type KeycloakProxy } from '../doubles/keycloak-proxy.ts';
import { keycloakConfig } from '../lab/keycloak-config.ts';
import { createTestRealm, type TestRealm } from '../lab/keycloak-realm.ts';
import { keycloakOf } from '../lab/parts/keycloak.ts';
import { waitFor } from '../lab/wait.ts';
import { startCli, type RunningCli } from './start-cli.ts';

/* What a person decides while a run is under way counts at once, and not from the next run on. */

const lab = inject('lab');
let folder: string;
let realm: TestRealm;
let proxy: KeycloakProxy;
let worker: RunningCli;
let config: string;
let connection: Connection;
let handle: WorkflowHandle<typeof keycloakFlowWorkflow>;
let spec: KeycloakFlowSpec;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-called-off-'));
  realm = await createTestRealm(await keycloakOf(lab));
  proxy = await startKeycloakProxy(realm.url);
  const server = keycloakConfig(folder, realm, proxy.url);
  config = join(folder, 'worker.yaml');
  writeFileSync(config, JSON.stringify({ keycloak: { default: server }, listen: '127.0.0.1:0' }));
  await startWorker();
  connection = await Connection.connect({ address: lab.temporalAddress });
  const desired = { ...exampleInput(), realm: realm.realm };
  spec = keycloakFlowSpec.parse({ mode: 'Enforce', desired, interval: '1h' });
});

afterEach(async () => {
  await handle.terminate('test is over').catch(() => undefined);
  worker.signal('SIGTERM');
  await worker.exited;
  await connection.close();
  await proxy.close();
  await realm.delete();
  rmSync(folder, { recursive: true });
});

async function startWorker(): Promise<void> {
  worker = startCli(['worker', '--capabilities', 'keycloak-flow', '--config', config, '--log-level', 'error'], {
    TEMPORAL_ADDRESS: lab.temporalAddress,
  });
  await worker.says(/Worker polls/);
}

async function begin(): Promise<void> {
  const { workflow } = new Client({ connection });
  handle = await workflow.start<typeof keycloakFlowWorkflow>('keycloakFlowWorkflow', {
    workflowId: keycloakFlowId(realm.realm),
    taskQueue: KEYCLOAK_FLOW_QUEUE,
    args: [{ name: realm.realm, spec }],
  });
}

function until(what: string, is: (status: KeycloakFlowStatus) => boolean): Promise<KeycloakFlowStatus> {
  return waitFor(what, async () => {
    const last = await handle.query(keycloakFlowStatusQuery);
    if (is(last)) return last;
    throw new Error(JSON.stringify(last));
  });
}

async function act(name: Parameters<typeof keycloakFlowUpdate>[0], more: Record<string, unknown> = {}): Promise<void> {
  await handle.executeUpdate(keycloakFlowUpdate(name), { args: [{ by: 'ada', reason: '', ...more }] });
}

async function approve(): Promise<void> {
  const { candidate } = await until('a candidate that waits', (s) => s.phase === 'PendingBind' && s.candidate !== null);
  await act('approve', { candidate: candidate?.alias, plan: candidate?.planHash, withoutProof: true });
}

const boundNow = async () => (await realm.ask<{ browserFlow: string }>('GET', '')).browserFlow;

/** Does something while a run reads, once, and before it has written anything. */
function whileReading(what: () => Promise<void>): void {
  let done = false;
  proxy.sabotage(({ method, path }) => {
    if (done || method !== 'GET' || !path.endsWith('/required-actions')) return undefined;
    done = true;
    return { first: what };
  });
}

/** Makes each write of a build take as long as on a slow server, and does something at the fifth. */
function inSlowBuild(what: () => Promise<void>): { readonly writesAfter: () => number } {
  let [count, at] = [0, 0];
  proxy.sabotage(({ method, path }) => {
    if (method === 'GET' || !path.includes('/authentication/')) return undefined;
    count += 1;
    const fifth = count === 5;
    const first = async () => {
      if (fifth) await what();
      if (fifth) at = proxy.writes().length;
      await sleep(700);
    };
    return { first };
  });
  return { writesAfter: () => proxy.writes().length - at };
}

/** The build that is called off has eighteen writes more; a cancel is heard with a heartbeat, within seconds. */
const mostAfter = 7;

describe('a word of a person while a run is under way', () => {
  test('after release-ownership nothing is written any more', async () => {
    whileReading(() => act('releaseOwnership'));
    await begin();
    await handle.result();
    expect(proxy.writes()).toEqual([]);
  });

  test('after release-ownership what was approved is not bound any more', async () => {
    await begin();
    await until('a candidate that waits', (s) => s.phase === 'PendingBind');
    whileReading(() => act('releaseOwnership'));
    await approve();
    await handle.result();
    expect(await boundNow()).toBe('browser');
  });

  test('a pause ends a build that has begun, and resume goes on with it', async () => {
    const build = inSlowBuild(() => act('pause'));
    await begin();
    const paused = await until('a run of the paused flow', (s) => s.runs > 0);
    expect(paused).toMatchObject({ effectiveMode: 'Shadow', phase: 'Problem' });
    expect(build.writesAfter()).toBeLessThan(mostAfter);
    proxy.sabotage(() => undefined);
    await act('resume');
    const { candidate } = await until('the candidate', (s) => s.phase === 'PendingBind');
    expect(candidate?.alias).toMatch(/^browser-mfa-[0-9a-f]{12}$/);
  });

  test('a pause ends a build whose worker was killed, and the login flow goes on', async () => {
    const build = inSlowBuild(() => {
      worker.signal('SIGKILL');
      return Promise.resolve();
    });
    await begin();
    await worker.exited;
    await startWorker();
    await act('pause');
    const paused = await until('a run of the paused flow', (s) => s.runs > 0);
    expect(paused).toMatchObject({ effectiveMode: 'Shadow', phase: 'Problem' });
    expect((await handle.describe()).status.name).toBe('RUNNING');
    expect(build.writesAfter()).toBeLessThan(2);
  });

  test('a rollback waits for no build', async () => {
    await begin();
    await approve();
    await until('the bind', (s) => s.phase === 'Bound');
    const build = inSlowBuild(() => act('rollback'));
    const desired = { ...exampleInput(), realm: realm.realm };
    desired.flows['browser-mfa-conditional-otp']?.executions.push({
      kind: 'authenticator',
      name: 'auth-otp-form',
      requirement: 'DISABLED',
    });
    await act('applySpec', { spec: { ...spec, desired } });
    await waitFor('the rollback', async () => (await boundNow()) === 'browser');
    expect(build.writesAfter()).toBeLessThan(mostAfter);
  });

  test('a spec that is applied with --no-bind is not bound by a run that began before it', async () => {
    await begin();
    await until('a candidate that waits', (s) => s.phase === 'PendingBind');
    await act('setMode', { mode: 'Shadow' });
    await approve();
    await until('the yes waits for Enforce', (s) => s.candidate?.reason === 'Mode');
    whileReading(() => act('applySpec', { spec, noBind: true }));
    await act('runNow');
    await until('the run that is told not to bind', (s) => s.candidate?.reason === 'NoBind');
    expect(await boundNow()).toBe('browser');
  });

  test('a run that is told not to bind narrows the one that is under way', async () => {
    await begin();
    await until('a candidate that waits', (s) => s.phase === 'PendingBind');
    whileReading(() => act('runNow', { noBind: true }));
    await approve();
    await until('the run that is told not to bind', (s) => s.candidate?.reason === 'NoBind');
    expect(await boundNow()).toBe('browser');
  });
});
