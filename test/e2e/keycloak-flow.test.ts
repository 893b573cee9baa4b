import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
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

const lab = inject('lab');
const folder = mkdtempSync(join(tmpdir(), 'holdfast-flow-'));
let realm: TestRealm;
let proxy: KeycloakProxy;
let worker: RunningCli;
let connection: Connection;
let handle: WorkflowHandle<typeof keycloakFlowWorkflow>;
let spec: KeycloakFlowSpec;

beforeAll(async () => {
  realm = await createTestRealm(await keycloakOf(lab));
  proxy = await startKeycloakProxy(realm.url);
  const config = join(folder, 'worker.yaml');
  writeFileSync(
    config,
    JSON.stringify({
      keycloak: { default: keycloakConfig(folder, realm, proxy.url) },
      clusters: { default: { kubeconfig: lab.kubeconfig } },
      listen: '127.0.0.1:0',
    }),
  );
  worker = startCli(['worker', '--capabilities', 'keycloak-flow', '--config', config, '--log-level', 'error'], {
    TEMPORAL_ADDRESS: lab.temporalAddress,
  });
  await worker.says(/Worker polls/);
  connection = await Connection.connect({ address: lab.temporalAddress });
  const desired = { ...exampleInput(), realm: realm.realm };
  spec = keycloakFlowSpec.parse({ mode: 'Enforce', desired, interval: '1h' });
  handle = await new Client({ connection }).workflow.start<typeof keycloakFlowWorkflow>('keycloakFlowWorkflow', {
    workflowId: keycloakFlowId(realm.realm),
    taskQueue: KEYCLOAK_FLOW_QUEUE,
    args: [{ name: realm.realm, spec }],
  });
});

afterAll(async () => {
  await handle.terminate('test is over').catch(() => undefined);
  worker.signal('SIGTERM');
  await worker.exited;
  await connection.close();
  await proxy.close();
  await realm.delete();
  rmSync(folder, { recursive: true });
});

/** Waits until the status is as wanted. */
function until(what: string, is: (status: KeycloakFlowStatus) => boolean): Promise<KeycloakFlowStatus> {
  let last: KeycloakFlowStatus | null = null;
  return waitFor(what, async () => {
    last = await handle.query(keycloakFlowStatusQuery);
    if (is(last)) return last;
    throw new Error(JSON.stringify(last));
  });
}

async function runNow(): Promise<KeycloakFlowStatus> {
  const { runs } = await handle.query(keycloakFlowStatusQuery);
  await handle.executeUpdate(keycloakFlowUpdate('runNow'), { args: [{ by: 'ada', reason: '' }] });
  return until('another run', (s) => s.runs > runs);
}

describe('a login flow on a real Keycloak, by its workflow', () => {
  test('is built beside the live one, waits for a person, is bound, and then nothing is written any more', async () => {
    const pending = await until('a candidate that waits', (s) => s.phase === 'PendingBind');
    expect(pending.bound).toMatchObject({ alias: 'browser', asDeclared: false });
    expect(pending.waiting).toMatchObject({ who: 'person' });
    const { candidate } = pending;
    if (candidate === null) throw new Error('no candidate is told');
    expect((await realm.ask<{ browserFlow: string }>('GET', '')).browserFlow).toBe('browser');

    const approval = { by: 'ada', reason: 'read', candidate: candidate.alias, plan: candidate.planHash };
    await expect(handle.executeUpdate(keycloakFlowUpdate('approve'), { args: [approval] })).rejects.toThrow();
    await handle.executeUpdate(keycloakFlowUpdate('approve'), { args: [{ ...approval, withoutProof: true }] });
    const bound = await until('the bind', (s) => s.bound?.alias === candidate.alias);
    expect(bound).toMatchObject({ phase: 'Bound', previous: 'browser', binds: 1 });
    expect((await realm.ask<{ browserFlow: string }>('GET', '')).browserFlow).toBe(candidate.alias);

    proxy.clear();
    const again = await runNow();
    expect(again.passes.map((pass) => [pass.pass, pass.outcome])).toEqual([
      ['policy', 'Converged'],
      ['requiredAction', 'Converged'],
      ['flow', 'Converged'],
    ]);
    expect(proxy.writes()).toEqual([]);
    expect(proxy.passed.length).toBeLessThanOrEqual(12);
  });

  test('goes back by one command, with a hold that no later run overrides', async () => {
    await handle.executeUpdate(keycloakFlowUpdate('rollback'), { args: [{ by: 'ada', reason: 'page is blank' }] });
    const back = await until('the rollback', (s) => s.bound?.alias === 'browser');
    expect(back.hold).toMatchObject({ by: 'ada' });
    expect((await realm.ask<{ browserFlow: string }>('GET', '')).browserFlow).toBe('browser');
    expect((await runNow()).bound?.alias).toBe('browser');
  });
});
