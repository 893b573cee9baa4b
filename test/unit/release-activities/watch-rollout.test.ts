import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubernetesClient } from '../../../src/activities/kubernetes/port.ts';
import { createReleaseActivities } from '../../../src/activities/release/create.ts';
import type { WatchRolloutInput, WatchRolloutResult } from '../../../src/activities/release/port.ts';
import { startApiServer, type ApiServerDouble } from '../../doubles/api-server.ts';
import { createRegistryDouble, type RegistryDouble } from '../../doubles/registry.ts';
import { readyStatus, rolledWorkload, waitingStatus, type RolledWorkload } from '../../doubles/rolled-workload.ts';

const repository = 'registry.test/shop/web';
const digest = `sha256:${'b'.repeat(64)}`;
const image = `${repository}:v6-latest@${digest}`;
const target = {
  name: 'web',
  cluster: 'default',
  namespace: 'shop',
  kind: 'Deployment' as const,
  workload: 'web',
  container: 'web',
};

let server: ApiServerDouble;
let client: KubernetesClient;
let registry: RegistryDouble;
let workload: RolledWorkload;
let health: (path: string) => { status: number; body: string };

beforeEach(async () => {
  health = () => ({ status: 200, body: '{}' });
  server = await startApiServer({ pod: ({ podPath }) => health(podPath) });
  client = await createKubernetes({ name: 'default', kubeconfig: server.kubeconfig(), requestTimeoutMs: 1_000 });
  registry = createRegistryDouble();
  workload = await rolledWorkload(client, image);
});

afterEach(async () => {
  await client.close();
  await server.stop();
});

function input(change: Partial<WatchRolloutInput> = {}): WatchRolloutInput {
  return {
    release: 'fleet',
    target,
    image,
    health: { http: { port: 8080, path: '/api/health', expect: 200 } },
    agents: 'none',
    placements: null,
    deadline: Date.now() + 20_000,
    gateTimeoutMs: 10_000,
    recovering: false,
    ...change,
  };
}

function watch(
  change: Partial<WatchRolloutInput> = {},
  environment = new MockActivityEnvironment(),
): Promise<WatchRolloutResult> {
  const activities = createReleaseActivities({ kubernetes: () => client, registry, prometheus: null });
  return environment.run((i: WatchRolloutInput) => activities.watchRollout(i), input(change));
}

async function following(): Promise<void> {
  const watches = () => server.requests.filter((r) => r.url.includes('watch=true')).length;
  while (watches() < 3) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('a rollout is proven by its own pods', () => {
  test('a ready pod that answers well passes, with its restart counts', async () => {
    const running = watch();
    await following();
    await workload.pod('web-1-a', readyStatus(2));
    await workload.rolledOut();
    const result = await running;
    expect(result.verdict).toMatchObject({ kind: 'pass' });
    expect(Object.values(result.restarts)).toEqual([2]);
  });

  test('a wrong answer is asked again until the gate has had its time, and then fails', async () => {
    health = () => ({ status: 500, body: '' });
    await workload.pod('web-1-a');
    await workload.rolledOut();
    const result = await watch({ gateTimeoutMs: 1_500 });
    expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'Unhealthy' });
    expect(result.block).toBe(true);
  });

  test('an answer that comes good within the gate passes', async () => {
    let asked = 0;
    health = () => ({ status: asked++ === 0 ? 500 : 200, body: '' });
    await workload.pod('web-1-a');
    await workload.rolledOut();
    expect((await watch()).verdict.kind).toBe('pass');
  });

  test('a pod that cannot be asked is unmeasured, not unhealthy', async () => {
    await server.stop();
    server = await startApiServer({ pod: () => undefined });
    await client.close();
    client = await createKubernetes({ name: 'default', kubeconfig: server.kubeconfig(), requestTimeoutMs: 1_000 });
    workload = await rolledWorkload(client, image);
    await workload.pod('web-1-a');
    await workload.rolledOut();
    const result = await watch({ gateTimeoutMs: 1_200 });
    expect(result.verdict.kind).toBe('unmeasured');
    expect(result.block).toBe(false);
  });
});

describe('a bad image is noticed by watching', () => {
  test('a crash loop is the answer, long before any deadline', async () => {
    const running = watch();
    await following();
    await workload.pod('web-1-a', waitingStatus('ContainerCreating'));
    await workload.podStatus('web-1-a', waitingStatus('CrashLoopBackOff', 2));
    const result = await running;
    expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'CrashLoopBackOff' });
    expect(result.block).toBe(true);
  });

  test('an image that the registry does not have fails and is blocked', async () => {
    await workload.pod('web-1-a', waitingStatus('ErrImagePull'));
    const result = await watch();
    expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'ImageAbsent' });
    expect(result.block).toBe(true);
  });

  test('an image that the registry has and a node cannot pull goes back, but is not blocked', async () => {
    registry.put({ repository, digest });
    const running = watch();
    await following();
    await workload.pod('web-1-a', waitingStatus('ErrImagePull'));
    await workload.podStatus('web-1-a', waitingStatus('ImagePullBackOff'));
    const result = await running;
    expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'ImagePullBackOff' });
    expect(result.block).toBe(false);
  });

  test('with the registry down a pull error is nobody’s fault: unmeasured at the deadline', async () => {
    registry.down = 'unreachable';
    await workload.pod('web-1-a', waitingStatus('ImagePullBackOff'));
    const result = await watch({ deadline: Date.now() + 500 });
    expect(result.verdict.kind).toBe('unmeasured');
    expect(result.block).toBe(false);
  });

  test('a pod that runs and never gets ready fails at the deadline', async () => {
    await workload.pod('web-1-a', { ...readyStatus(), conditions: [{ type: 'Ready', status: 'False' }] });
    const result = await watch({ deadline: Date.now() + 300 });
    expect(result.verdict).toMatchObject({ kind: 'fail' });
    expect(result.block).toBe(true);
  });

  test('a pod that is never scheduled is unmeasured at the deadline', async () => {
    await workload.pod('web-1-a', {
      phase: 'Pending',
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes are available' },
      ],
    });
    const result = await watch({ deadline: Date.now() + 300 });
    expect(result.verdict.kind).toBe('unmeasured');
    expect(JSON.stringify(result.verdict)).toContain('0/1 nodes are available');
  });

  test('somebody who changes the image meanwhile is left alone', async () => {
    const running = watch();
    await following();
    await workload.setImage('registry.test/hotfix:1');
    const result = await running;
    expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'ImageChanged' });
    expect(result.block).toBe(false);
  });

  test('a pod that went while the watch was broken for long is not waited for', async () => {
    const running = watch();
    await following();
    await workload.pod('web-1-a', { ...readyStatus(), conditions: [{ type: 'Ready', status: 'False' }] });
    server.fault = (r) => (r.url.includes('watch=true') ? { kind: 'reset' } : undefined);
    server.breakConnections();
    const gone = { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web-1-a' };
    await client.delete(gone, { propagationPolicy: 'Background' });
    await workload.pod('web-1-b');
    await workload.rolledOut();
    server.compact();
    server.fault = undefined;
    expect((await running).verdict).toMatchObject({ kind: 'pass' });
  });

  test('a broken watch goes on, and loses nothing', async () => {
    const running = watch();
    await following();
    server.breakConnections();
    await workload.pod('web-1-a', waitingStatus('CrashLoopBackOff', 2));
    expect((await running).verdict).toMatchObject({ kind: 'fail', reason: 'CrashLoopBackOff' });
  });
});

describe('agents', () => {
  const agents = { port: 8080, statusPath: '/api/status', modelsPath: '/api/config/agent/{name}/models' };
  const placement = { name: 'scout', backend: 'b', model: 'm', effort: 'high', paused: false };
  const statusOf =
    (list: object[], initializing = false) =>
    (path: string) =>
      path.startsWith('/api/status')
        ? { status: 200, body: JSON.stringify({ initializing, agents: list }) }
        : { status: 200, body: '{}' };

  test('one that is lost fails the gate', async () => {
    health = statusOf([]);
    await workload.pod('web-1-a');
    await workload.rolledOut();
    const result = await watch({ agents, placements: [placement], gateTimeoutMs: 1_200 });
    expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'AgentLost' });
  });

  test('one that runs elsewhere passes, and is to be moved back', async () => {
    health = statusOf([{ ...placement, model: 'other' }]);
    await workload.pod('web-1-a');
    await workload.rolledOut();
    const result = await watch({ agents, placements: [placement] });
    expect(result.verdict.kind).toBe('pass');
    expect(result.moved).toEqual([placement]);
  });

  test('a spoke that initialises for ever is unmeasured', async () => {
    health = statusOf([], true);
    await workload.pod('web-1-a');
    await workload.rolledOut();
    const result = await watch({ agents, placements: [placement], gateTimeoutMs: 1_200 });
    expect(result.verdict).toMatchObject({ kind: 'unmeasured', why: 'not-ready' });
  });
});

describe('the activity as Temporal sees it', () => {
  test('a cancellation ends it at once, and its watches with it', async () => {
    const environment = new MockActivityEnvironment();
    const running = watch({}, environment);
    await following();
    environment.cancel();
    await expect(running).rejects.toThrow();
  });

  test('a worker that takes over counts the gate from when the pods were first ready', async () => {
    health = () => ({ status: 500, body: '' });
    await workload.pod('web-1-a');
    await workload.rolledOut();
    const environment = new MockActivityEnvironment({
      heartbeatDetails: { since: Date.now() - 70_000, observed: null, readySince: Date.now() - 60_000 },
    });
    const at = performance.now();
    const result = await watch({ gateTimeoutMs: 60_000 + 1_000 }, environment);
    expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'Unhealthy' });
    expect(performance.now() - at).toBeLessThan(25_000);
  });
});
