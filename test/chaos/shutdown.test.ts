import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { findTemporalCli } from '../../src/starters/dev/find-temporal-cli.ts';
import { releaseId, rolloutId } from '../../src/workflows/release/messages.ts';
import { startCli } from '../e2e/start-cli.ts';
import { waitFor } from '../lab/wait.ts';
import { choosePorts } from '../lab/ports.ts';
import { openFleet, type Fleet } from './fleet.ts';
import { pendingActivity } from './pending-activity.ts';
import { sampledSoak, soakProgress } from './soak-progress.ts';
import { openStage, type Stage } from './stage.ts';

const lab = inject('lab');
let fleet: Fleet;
let stage: Stage;

const STARTED = proto.temporal.api.enums.v1.PendingActivityState.PENDING_ACTIVITY_STATE_STARTED;

beforeAll(async () => {
  fleet = await openFleet(lab);
  stage = await openStage(lab);
});

afterAll(async () => {
  await stage.close();
  await fleet.close();
});

test('a worker that is told to end hands its soak back, and the next one goes on with the samples it had', async () => {
  const subject = await fleet.prepare(stage.client, 'good');
  const first = await stage.startWorker();
  await fleet.apply(subject, { soak: '8s' });
  const before = await sampledSoak(stage.client, subject.name, 3);

  first.signal('SIGTERM');
  expect(await first.exited).toBe(0);
  // Handed back, not left to be missed: it waits for the next worker with what the last one knew.
  const handedBack = await pendingActivity(stage.client, rolloutId(subject.name), 'watchSoak');
  expect(handedBack?.lastFailure?.applicationFailureInfo?.type).toBe('WorkerShutdown');
  const kept = await soakProgress(stage.client, rolloutId(subject.name));
  expect(kept?.samples).toBeGreaterThanOrEqual(before.samples);

  await stage.startWorker();
  const after = await sampledSoak(stage.client, subject.name, (kept?.samples ?? 0) + 1);
  expect(after.samples).toBeLessThan((kept?.samples ?? 0) + 20);
  await fleet.settled(subject);
  expect((await fleet.endState(subject)).writes).toHaveLength(4);
  await fleet.remove(subject);
  await stage.stopWorker();
});

test('a worker with an idle release hands its wait back, and another one takes it over', async () => {
  const subject = await fleet.prepare(stage.client, 'good');
  const first = await stage.startWorker();
  await fleet.apply(subject);
  await fleet.settled(subject);
  first.signal('SIGTERM');
  expect(await first.exited).toBe(0);
  const handedBack = await pendingActivity(stage.client, releaseId(subject.name), 'awaitChange');
  expect(handedBack?.lastFailure?.applicationFailureInfo?.type).toBe('WorkerShutdown');

  await stage.startWorker();
  await waitFor('the wait goes on', async () => {
    const wait = await pendingActivity(stage.client, releaseId(subject.name), 'awaitChange');
    return wait?.attempt === 2 && wait.state === STARTED;
  });
  await fleet.remove(subject);
  await stage.stopWorker();
});

test('dev with a release that soaks ends by Ctrl-C, with nothing left running', async () => {
  const data = mkdtempSync(join(tmpdir(), 'holdfast-dev-'));
  const { port, uiPort } = await choosePorts(['port', 'uiPort'], new Set());
  const dev = startCli(
    ['dev', '--port', String(port), '--ui-port', String(uiPort), '--data', data, '--config', stage.workerConfig],
    { HOLDFAST_TEMPORAL_CLI: findTemporalCli(), KUBECONFIG: lab.kubeconfig },
  );
  onTestFinished(async () => {
    dev.signal('SIGKILL');
    await dev.exited;
    rmSync(data, { recursive: true, force: true });
  });
  await dev.says(/Worker +ready/);
  const connection = await Connection.connect({ address: `127.0.0.1:${port}` });
  onTestFinished(() => connection.close());
  const client = new Client({ connection });
  const subject = await fleet.prepare(client, 'good');
  await fleet.apply(subject, { soak: '10m' });
  await sampledSoak(client, subject.name, 2);

  dev.signal('SIGINT');
  expect(await dev.exited).toBe(0);
  await expect(Connection.connect({ address: `127.0.0.1:${port}`, connectTimeout: '2s' })).rejects.toThrow();
});
