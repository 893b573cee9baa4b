import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { releaseSpec } from '../../src/domain/release/spec.ts';
import { RELEASE_QUEUE, releaseId, statusQuery } from '../../src/workflows/release/messages.ts';
import type { releaseWorkflow } from '../../src/workflows/release/workflow.ts';
import { startHastyTemporal } from '../e2e/hasty-temporal.ts';
import { startCli, type RunningCli } from '../e2e/start-cli.ts';
import { waitFor } from '../lab/wait.ts';
import { openRebootStage, type Campaign, type RebootStage } from './reboot-stage.ts';
import { rebootWrite } from './reboot-writes.ts';
import { keepHistories, replayKept } from './replay-kept.ts';
import { openStage, within } from './stage.ts';

/** What a campaign goes through in a year: workers that come and go, on purpose or with their node, and histories that grow. */
let stage: RebootStage;
let other: RunningCli | null = null;

beforeAll(async () => {
  stage = await openRebootStage();
});

afterAll(() => stage.close());

afterEach(async () => {
  other?.signal('SIGKILL');
  for (const name of ['n1', 'n2']) stage.hosts.setFaults(name, {});
  await stage.stage.reset();
});

const undisturbed = { lock: {}, nodes: [1, 2, 3].map(() => ({ unschedulable: false, mark: null })) };

function wishOne(name: 'n1' | 'n2' = 'n1'): void {
  stage.wish();
  stage.hosts.setSentinel(name === 'n1' ? 'n2' : 'n1', null);
}

async function expectOneDone(campaign: Campaign, once = [1, 0, 0]): Promise<void> {
  await campaign.until('it is done', ({ phase, nodes }) => phase === 'Idle' && nodes[0]?.reboot === 'done');
  expect(await stage.endState()).toEqual({ ...undisturbed, told: once, boots: once });
}

async function visit(): Promise<{ uncordonedAt: number; startedAt: number; before: { bootId: string } }> {
  return JSON.parse((await stage.lock())['visit'] ?? '{}') as Awaited<ReturnType<typeof visit>>;
}

async function end(campaign: Campaign): Promise<void> {
  await campaign.act('cancel');
  await campaign.handle.result();
}

test('NR-15 the release delay goes on where it was when the worker is replaced: neither anew, nor shorter', async () => {
  const delayMs = 20_000;
  wishOne();
  const worker = await stage.stage.startWorker();
  const campaign = await stage.start({ nodes: ['n1'], releaseDelay: '20s' });
  await campaign.until('it settles', ({ turn }) => turn?.phase === 'Settling');
  const { uncordonedAt } = await visit();
  await sleep(uncordonedAt + delayMs / 2 - Date.now());
  worker.signal('SIGTERM');
  await worker.exited;
  await stage.stage.startWorker();
  const goesOnAt = Date.now();
  await waitFor('the lock is free', async () => Object.keys(await stage.lock()).length === 0, 60_000);
  expect(Date.now() - uncordonedAt).toBeGreaterThanOrEqual(delayMs);
  // Anew, it would last as long from here on.
  expect(Date.now() - goesOnAt).toBeLessThan(delayMs);
  await end(campaign);
});

test('NR-51 a drain that evicts the worker itself is gone on with by another one', async () => {
  // There are pods on it, wherever those of the other one have gone.
  wishOne('n2');
  const evicted = await stage.stage.startWorker();
  const campaign = await stage.start({ nodes: ['n2'] });
  // The pod whose eviction this is stands for that of the worker: it is told to end, and hears no answer.
  await within(60_000, 'an eviction', (then) =>
    stage.stage.api.holdReply(
      (write) => rebootWrite(write) === 'evict',
      () => {
        evicted.signal('SIGTERM');
        then();
      },
    ),
  );
  // And this one for the replica on another node.
  await stage.stage.startWorker();
  await expectOneDone(campaign, [0, 1, 0]);
  await evicted.exited;
  await end(campaign);
});

test('NR-71 without any worker for reboots the others work, and the lock can be read', async () => {
  wishOne();
  stage.hosts.setFaults('n1', { returns: 'power-button' });
  const worker = await stage.stage.startWorker();
  const campaign = await stage.start({ nodes: ['n1'] });
  await campaign.until('n1 is out', ({ turn }) => turn?.phase === 'Returning');
  worker.signal('SIGTERM');
  await worker.exited;

  const { client, workerConfig } = stage.stage;
  const namespace = client.options.namespace;
  other = startCli(['worker', '--capabilities', 'release', '--config', workerConfig, '--log-level', 'error'], {
    TEMPORAL_ADDRESS: stage.lab.env.temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
  });
  await other.says(/Worker polls/);
  const shop = { namespace: 'default', deployment: 'shop', container: 'main' };
  const spec = releaseSpec.parse({
    image: '127.0.0.1:1/shop',
    track: { line: '^1' },
    targets: [{ ...shop, kind: 'hub', healthURL: 'http://127.0.0.1:1/' }],
  });
  const release = await client.workflow.start<typeof releaseWorkflow>('releaseWorkflow', {
    workflowId: releaseId('shop'),
    taskQueue: RELEASE_QUEUE,
    args: [{ name: 'shop', spec }],
  });
  await waitFor('the release has looked', async () => (await release.query(statusQuery)).targets.length > 0);
  await release.terminate('the test is over');
  other.signal('SIGTERM');
  await other.exited;

  const lock = await stage.lock();
  expect(lock).toMatchObject({ campaign: campaign.name, node: 'n1', phase: 'Returning' });
  expect(lock['undo']).toContain('kubectl uncordon n1');
  stage.hosts.pressPower('n1');
  await stage.stage.startWorker();
  await expectOneDone(campaign);
  await end(campaign);
});

test('NR-68 a campaign that continues as new again and again keeps lock, phase, times and what was before', async () => {
  const temporal = await startHastyTemporal(20);
  const hasty = await openStage(
    { ...stage.lab.env, temporalAddress: temporal.address },
    { capabilities: 'node-reboot', config: { nodeReboot: { hostImage: 'simulated' } } },
  );
  try {
    stage.wish();
    stage.hosts.setFaults('n1', { returns: 'power-button' });
    await hasty.startWorker();
    const { bootId } = await stage.node('n1');
    const campaign = await stage.start({ releaseDelay: '4s' }, 'hasty', hasty);
    await campaign.until('n1 is out', ({ turn }) => turn?.phase === 'Returning');
    await waitFor('n1 is down', () => !stage.hosts.isUp('n1'));
    const first = campaign.handle.firstExecutionRunId;
    expect(await stage.lock()).toMatchObject({ run: first, node: 'n1' });
    const { startedAt, before } = await visit();
    expect(before.bootId).toBe(bootId);
    stage.hosts.pressPower('n1');
    await campaign.until('n1 settles', ({ turn }) => turn?.phase === 'Settling');
    expect(await visit()).toMatchObject({ startedAt, before });
    const { uncordonedAt } = await visit();
    await campaign.until('n2 has its turn', ({ turn }) => turn?.node === 'n2');
    expect(Date.now() - uncordonedAt).toBeGreaterThanOrEqual(4_000);
    await campaign.done();
    expect(await stage.endState()).toEqual({ ...undisturbed, told: [1, 1, 0], boots: [1, 1, 0] });
    const newest = hasty.client.workflow.getHandle(campaign.handle.workflowId);
    expect((await newest.describe()).runId).not.toBe(first);
    await keepHistories(hasty.client, [campaign.handle.workflowId]);
    await replayKept();
    await newest.terminate('the test is over');
  } finally {
    await hasty.close();
    await temporal.close();
  }
});
