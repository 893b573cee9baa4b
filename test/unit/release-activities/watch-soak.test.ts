import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubernetesClient } from '../../../src/activities/kubernetes/port.ts';
import type { PrometheusPort } from '../../../src/activities/prometheus/port.ts';
import { createReleaseActivities } from '../../../src/activities/release/create.ts';
import type { ResultOf, WatchSoakInput } from '../../../src/activities/release/port.ts';
import { read, unmeasured } from '../../../src/domain/core/verdict.ts';
import { startApiServer, type ApiServerDouble } from '../../doubles/api-server.ts';
import { createRegistryDouble } from '../../doubles/registry.ts';
import { readyStatus, rolledWorkload, waitingStatus, type RolledWorkload } from '../../doubles/rolled-workload.ts';

const image = `registry.test/shop/web:v6-latest@sha256:${'b'.repeat(64)}`;
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
let workload: RolledWorkload;
let answer: (path: string) => { status: number; body: string } | undefined;
let asked: number;
let prometheus: Pick<PrometheusPort, 'value'> | null;

beforeEach(async () => {
  asked = 0;
  prometheus = null;
  answer = () => ({ status: 200, body: '{}' });
  server = await startApiServer({
    pod: ({ podPath }) => {
      asked += 1;
      return answer(podPath);
    },
  });
  client = await createKubernetes({ name: 'default', kubeconfig: server.kubeconfig(), requestTimeoutMs: 1_000 });
  workload = await rolledWorkload(client, image);
  await workload.pod('web-1-a');
  await workload.rolledOut();
});

afterEach(async () => {
  await client.close();
  await server.stop();
});

function soak(
  change: Partial<WatchSoakInput> = {},
  environment = new MockActivityEnvironment(),
): Promise<ResultOf<'watchSoak'>> {
  const input: WatchSoakInput = {
    release: 'fleet',
    target,
    image,
    health: { http: { port: 8080, path: '/api/health', expect: 200 } },
    agents: 'none',
    placements: null,
    restarts: {},
    checks: [],
    probeIntervalMs: 50,
    minimumSamples: 1,
    until: Date.now() + 20_000,
    ...change,
  };
  const activities = createReleaseActivities({
    kubernetes: () => client,
    registry: createRegistryDouble(),
    prometheus,
  });
  return environment.run((i: WatchSoakInput) => activities.watchSoak(i), input);
}

async function sampled(times: number): Promise<void> {
  while (asked < times) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('a soak passes when it was long enough and every sample was good', () => {
  test('it lasts to its end, and is sampled then', async () => {
    const until = Date.now() + 400;
    const result = await soak({ until });
    expect(result.verdict.kind).toBe('pass');
    expect(Date.now()).toBeGreaterThanOrEqual(until);
    expect(result.samples).toBeGreaterThan(3);
  });

  test('a soak of no length at all still needs its samples', async () => {
    const result = await soak({ until: Date.now(), minimumSamples: 3 });
    expect(result.verdict.kind).toBe('pass');
    expect(result.samples).toBe(3);
  });

  test('one bad sample among good ones is tolerated', async () => {
    answer = () => ({ status: asked === 3 ? 500 : 200, body: '' });
    expect((await soak({ until: Date.now() + 400 })).verdict.kind).toBe('pass');
  });
});

describe('what the watches tell fails a soak at once', () => {
  test('a restart', async () => {
    const running = soak();
    await sampled(1);
    await workload.podStatus('web-1-a', readyStatus(1));
    const result = await running;
    expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'Restarted' });
    expect(result.block).toBe(true);
  });

  test('restarts from before the gate do not count', async () => {
    await workload.podStatus('web-1-a', readyStatus(4));
    const pods = await client.list({ apiVersion: 'v1', kind: 'Pod', namespace: 'shop' });
    const uid = pods.kind === 'read' ? (pods.value.items[0]?.metadata.uid ?? '') : '';
    expect((await soak({ restarts: { [`${uid}/web`]: 4 }, until: Date.now() + 200 })).verdict.kind).toBe('pass');
  });

  test('a crash loop', async () => {
    const running = soak();
    await sampled(1);
    await workload.podStatus('web-1-a', waitingStatus('CrashLoopBackOff', 0));
    expect((await running).verdict).toMatchObject({ kind: 'fail', reason: 'CrashLoopBackOff' });
  });

  test('somebody changes the image: that is theirs, and nothing is blocked', async () => {
    const running = soak();
    await sampled(1);
    await workload.setImage('registry.test/hotfix:1');
    const result = await running;
    expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'ImageChanged' });
    expect(result.block).toBe(false);
  });
});

describe('samples', () => {
  test('two wrong answers in a row fail it', async () => {
    answer = () => ({ status: asked > 2 ? 500 : 200, body: '' });
    const result = await soak();
    expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'Unhealthy' });
    expect(result.block).toBe(true);
    expect(asked).toBe(4);
  });

  test('five unmeasured ones in a row end it, unmeasured', async () => {
    answer = () => (asked > 1 ? undefined : { status: 200, body: '' });
    const result = await soak();
    expect(result.verdict.kind).toBe('unmeasured');
    expect(result.block).toBe(false);
    expect(asked).toBe(6);
  });

  test('four unmeasured ones and a good one go on', async () => {
    answer = () => (asked % 5 === 0 ? { status: 200, body: '' } : undefined);
    const result = await soak({ until: Date.now() + 600 });
    expect(result.verdict.kind).toBe('pass');
  });

  test('rights taken away meanwhile are unmeasured, never a rollback', async () => {
    const running = soak();
    await sampled(1);
    const forbidden = JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403 });
    server.fault = () => ({ kind: 'answer', status: 403, body: forbidden });
    server.breakConnections();
    const result = await running;
    expect(result.verdict).toMatchObject({ kind: 'unmeasured', why: 'denied' });
  });

  test('an API server that is down from the start ends it as unmeasured', async () => {
    server.fault = () => ({ kind: 'answer', status: 503, body: 'down' });
    const result = await soak();
    expect(result.verdict).toMatchObject({ kind: 'unmeasured' });
    expect(result.samples).toBe(0);
  });

  test('a lost agent fails it at once', async () => {
    const placement = { name: 'scout', backend: 'b', model: 'm', effort: 'high', paused: false };
    answer = (path) => ({
      status: 200,
      body: path.startsWith('/api/status') ? JSON.stringify({ agents: asked > 4 ? [] : [placement] }) : '{}',
    });
    const agents = { port: 8080, statusPath: '/api/status', modelsPath: '/api/config/agent/{name}/models' };
    const result = await soak({ agents, placements: [placement] });
    expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'AgentLost' });
  });
});

describe('checks', () => {
  const check = { name: 'errors', query: 'errors{target="{{target}}",ns="{{namespace}}"}', max: 0.5 };

  test('a value beyond its bound, twice, fails the soak', async () => {
    const queries: string[] = [];
    prometheus = {
      value: (query) => {
        queries.push(query);
        return Promise.resolve(read(0.6));
      },
    };
    const result = await soak({ checks: [check] });
    expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'CheckFailed' });
    expect(queries[0]).toBe('errors{target="web",ns="shop"}');
    expect(queries).toHaveLength(2);
  });

  test('no data is unmeasured', async () => {
    prometheus = { value: () => Promise.resolve(unmeasured('q', 'Prometheus', 'empty', 'no data')) };
    expect((await soak({ checks: [check] })).verdict).toMatchObject({ kind: 'unmeasured', why: 'empty' });
  });

  test('a worker without Prometheus says so', async () => {
    const result = await soak({ checks: [check] });
    expect(result.verdict).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(JSON.stringify(result.verdict)).toContain('no Prometheus');
  });
});

describe('a worker that takes over goes on', () => {
  test('from the samples and failures counted so far', async () => {
    answer = () => ({ status: 500, body: '' });
    const beats: unknown[] = [];
    const killed = new MockActivityEnvironment();
    killed.on('heartbeat', (details: unknown) => {
      beats.push(details);
      if ((details as { samples: number } | undefined)?.samples === 1) killed.cancel('WORKER_SHUTDOWN');
    });
    await expect(soak({}, killed)).rejects.toThrow('WORKER_SHUTDOWN');
    asked = 0;
    const result = await soak({}, new MockActivityEnvironment({ heartbeatDetails: beats.at(-1) }));
    expect(result.verdict).toMatchObject({ kind: 'fail' });
    expect(asked).toBe(1);
    expect(result.samples).toBe(2);
  });

  test('each sample is in the heartbeat', async () => {
    const environment = new MockActivityEnvironment();
    const beats: unknown[] = [];
    environment.on('heartbeat', (details: unknown) => beats.push(details));
    await soak({ until: Date.now() + 200 }, environment);
    expect((beats.at(-1) as { samples: number }).samples).toBeGreaterThan(1);
  });

  test('a cancellation ends it at once', async () => {
    const environment = new MockActivityEnvironment();
    const running = soak({}, environment);
    await sampled(1);
    environment.cancel();
    await expect(running).rejects.toThrow();
  });
});
