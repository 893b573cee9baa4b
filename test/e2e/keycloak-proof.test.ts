import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { expect, inject, test } from 'vitest';
import { keycloakFlowSpec } from '../../src/domain/keycloak-flow/spec.ts';
import {
  KEYCLOAK_FLOW_QUEUE,
  keycloakFlowId,
  keycloakFlowStatusQuery,
  keycloakFlowUpdate,
} from '../../src/workflows/keycloak-flow/messages.ts';
import type { keycloakFlowWorkflow } from '../../src/workflows/keycloak-flow/workflow.ts';
import { allowProbeClient, createProbeUsers, otpPolicy, probe } from '../activities/keycloak/probe-users.ts';
import { exampleInput } from '../domain/keycloak-flow/world.ts';
import { startKeycloakProxy } from '../doubles/keycloak-proxy.ts';
import { keycloakConfig, secretFile } from '../lab/keycloak-config.ts';
import { createTestRealm } from '../lab/keycloak-realm.ts';
import { keycloakOf } from '../lab/parts/keycloak.ts';
import { waitFor } from '../lab/wait.ts';
import { startCli, type RunningCli } from './start-cli.ts';

test('a candidate is proven by logins before it is offered, also when the worker is killed in the middle of one', async () => {
  const lab = inject('lab');
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-proof-'));
  const realm = await createTestRealm(await keycloakOf(lab), { adminPermissionsEnabled: true, ...otpPolicy });
  const proxy = await startKeycloakProxy(realm.url);
  const secrets = new Map<string, string>();
  const users = await createProbeUsers({ realm, secrets });
  await allowProbeClient(realm, users.clientId);
  const config = join(folder, 'worker.yaml');
  const server = keycloakConfig(folder, realm, proxy.url);
  const named = [...secrets].map(([name, value]) => [name, secretFile(folder, name, value)] as const);
  writeFileSync(
    config,
    JSON.stringify({ keycloak: { default: server }, secrets: Object.fromEntries(named), listen: '127.0.0.1:0' }),
  );
  const startWorker = () =>
    startCli(['worker', '--capabilities', 'keycloak-flow', '--config', config, '--log-level', 'error'], {
      TEMPORAL_ADDRESS: lab.temporalAddress,
    });
  const browserOf = async () => {
    const client = await realm.ask<{ authenticationFlowBindingOverrides: Record<string, string> }>(
      'GET',
      `/clients/${users.clientId}`,
    );
    return client.authenticationFlowBindingOverrides['browser'];
  };
  let worker: RunningCli = startWorker();
  const connection = await Connection.connect({ address: lab.temporalAddress });
  const desired = { ...exampleInput(), realm: realm.realm };
  const workflow = new Client({ connection }).workflow;
  let killed = false;
  proxy.sabotage(({ method, path }) => {
    if (killed || method !== 'POST' || !path.includes('/login-actions/')) return undefined;
    killed = true;
    return { first: () => Promise.resolve(void worker.signal('SIGKILL')) };
  });
  const handle = await workflow.start<typeof keycloakFlowWorkflow>('keycloakFlowWorkflow', {
    workflowId: keycloakFlowId(realm.realm),
    taskQueue: KEYCLOAK_FLOW_QUEUE,
    args: [{ name: realm.realm, spec: keycloakFlowSpec.parse({ mode: 'Enforce', desired, interval: '1h', probe }) }],
  });
  try {
    await waitFor('the kill', () => killed);
    await worker.exited;
    expect(await browserOf()).toMatch(/^[0-9a-f-]{36}$/);

    worker = startWorker();
    const pending = await waitFor('a candidate that waits', async () => {
      const status = await handle.query(keycloakFlowStatusQuery);
      if (status.phase === 'PendingBind' && status.candidate !== null) return status.candidate;
      throw new Error(JSON.stringify(status));
    });
    expect(pending.proof).toBe('the login proof passed (6 logins)');
    expect(await browserOf()).toBeUndefined();

    // Proven, it needs no word that it is not.
    const approval = { by: 'ada', reason: 'read', candidate: pending.alias, plan: pending.planHash };
    await handle.executeUpdate(keycloakFlowUpdate('approve'), { args: [approval] });
    await waitFor('the bind', async () => {
      const { browserFlow } = await realm.ask<{ browserFlow: string }>('GET', '');
      return browserFlow === pending.alias;
    });
    // What a history keeps holds none of what the probe users log in with.
    const history = texts(await handle.fetchHistory()).join('\n');
    expect(history).toContain('an administrator with password and OTP: logged in');
    for (const value of secrets.values()) expect(history).not.toContain(value);
  } finally {
    await handle.terminate('test is over').catch(() => undefined);
    worker.signal('SIGKILL');
    await worker.exited;
    await connection.close();
    await proxy.close();
    await realm.delete();
    rmSync(folder, { recursive: true });
  }
});

/** Every text in a value, payloads among them. */
function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('utf8')];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(texts);
}
