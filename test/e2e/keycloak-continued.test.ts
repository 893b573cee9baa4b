import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keycloakFlowSpec, type KeycloakFlowSpec } from '../../src/domain/keycloak-flow/spec.ts';
import {
  KEYCLOAK_FLOW_QUEUE,
  keycloakFlowId,
  keycloakFlowStatusQuery,
  keycloakFlowUpdate,
} from '../../src/workflows/keycloak-flow/messages.ts';
import type { keycloakFlowWorkflow } from '../../src/workflows/keycloak-flow/workflow.ts';
import { exampleInput } from '../domain/keycloak-flow/world.ts';
import { startKeycloakServer, type KeycloakServer } from '../doubles/keycloak-server.ts';
import { keycloakConfig, secretFile } from '../lab/keycloak-config.ts';
import { waitFor } from '../lab/wait.ts';
import { startHastyTemporal, type HastyTemporal } from './hasty-temporal.ts';
import { startCli, type RunningCli } from './start-cli.ts';

/*
 * A Temporal that suggests to continue as new after a first run, as others do after months of them, and people who are
 * told by a webhook that does not answer.
 */

/** A first run, with what it tells, comes to more events than this. */
const SUGGESTED_AT = 25;

const folder = mkdtempSync(join(tmpdir(), 'holdfast-continued-'));
let temporal: HastyTemporal;
let connection: Connection;
let keycloak: KeycloakServer;
let receiver: Server;
/** False lets whoever tells wait. */
let answers = false;
let worker: RunningCli;
let spec: KeycloakFlowSpec;
let first: string;
let handle: WorkflowHandle<typeof keycloakFlowWorkflow>;

beforeAll(async () => {
  temporal = await startHastyTemporal(SUGGESTED_AT);
  connection = await Connection.connect({ address: temporal.address });
  receiver = createServer((_, response) => {
    if (answers) response.writeHead(200).end();
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
});

afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await connection.close();
  await temporal.close();
  rmSync(folder, { recursive: true });
});

beforeEach(async () => {
  keycloak = await startKeycloakServer();
  const server = keycloakConfig(folder, keycloak);
  const webhook = secretFile(folder, 'hook', `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
  const config = { keycloak: { default: server }, notify: [{ webhook }], listen: '127.0.0.1:0' };
  const { file } = secretFile(folder, 'worker.yaml', JSON.stringify(config));
  worker = startCli(['worker', '--capabilities', 'keycloak-flow', '--config', file, '--log-level', 'error'], {
    TEMPORAL_ADDRESS: temporal.address,
  });
  await worker.says(/Worker polls/);
  const desired = { ...exampleInput(), realm: keycloak.realm };
  spec = keycloakFlowSpec.parse({ mode: 'Enforce', desired, interval: '1h' });
  const { workflow } = new Client({ connection });
  const started = await workflow.start<typeof keycloakFlowWorkflow>('keycloakFlowWorkflow', {
    workflowId: keycloakFlowId(keycloak.realm),
    taskQueue: KEYCLOAK_FLOW_QUEUE,
    args: [{ name: keycloak.realm, spec }],
  });
  first = started.firstExecutionRunId;
  // Of whichever run is the newest.
  handle = workflow.getHandle<typeof keycloakFlowWorkflow>(started.workflowId);
  await waitFor('the first run', async () => (await runs()) === 1);
});

afterEach(async () => {
  await handle.terminate('test is over').catch(() => undefined);
  receiver.closeAllConnections();
  worker.signal('SIGKILL');
  await worker.exited;
  await keycloak.delete();
});

const runs = async () => (await handle.query(keycloakFlowStatusQuery)).runs;

async function act(name: Parameters<typeof keycloakFlowUpdate>[0], more: Record<string, unknown> = {}): Promise<void> {
  await handle.executeUpdate(keycloakFlowUpdate(name), { args: [{ by: 'ada', reason: '', ...more }] });
}

describe('a login flow that is to continue as new while somebody is still being told', () => {
  beforeEach(() => {
    answers = false;
  });

  test('does at once what a person asks for', async () => {
    await act('runNow');
    await waitFor('the run that was asked for', async () => (await runs()) === 2, 15_000);
    expect((await handle.describe()).runId).toBe(first);
  });

  test('ends once its ownership is released, and is not begun again', async () => {
    await act('runNow');
    await act('releaseOwnership');
    answers = true;
    receiver.closeAllConnections();
    await handle.result();
    expect((await handle.describe()).runId).toBe(first);
  });
});

test('a login flow that continues as new goes on with all that it knew', async () => {
  answers = true;
  await act('pause', { reason: 'year end' });
  await waitFor('another execution that has made a run', async () => {
    const { runId, status } = await handle.describe();
    return runId !== first && status.name === 'RUNNING' && (await runs()) >= 2;
  });
  const status = await handle.query(keycloakFlowStatusQuery);
  expect(status.paused).toMatchObject({ by: 'ada', reason: 'year end' });
  expect(status.candidate?.alias).toMatch(/^browser-mfa-/);
});
