import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubernetesClient } from '../../../src/activities/kubernetes/port.ts';
import { createReleaseActivities } from '../../../src/activities/release/create.ts';
import type {
  AwaitChange,
  EmitEventsResult,
  ObserveInput,
  ReleaseActivities,
} from '../../../src/activities/release/port.ts';
import { observationFingerprint } from '../../../src/domain/release/fingerprint.ts';
import type { Observation } from '../../../src/domain/release/observation.ts';
import { observationOffTheWire } from '../../../src/domain/release/observation-wire.ts';
import { releaseSpec } from '../../../src/domain/release/spec.ts';
import { startApiServer, type ApiServerDouble } from '../../doubles/api-server.ts';
import { createRegistryDouble, type RegistryDouble } from '../../doubles/registry.ts';
import { rolledWorkload, type RolledWorkload } from '../../doubles/rolled-workload.ts';

const repository = 'registry.test/shop/web';
const digest = `sha256:${'b'.repeat(64)}`;

let server: ApiServerDouble;
let client: KubernetesClient;
let registry: RegistryDouble;
let workload: RolledWorkload;
let activities: ReleaseActivities;

const input: ObserveInput = {
  release: 'fleet',
  pin: null,
  spec: releaseSpec.parse({
    image: repository,
    track: { tag: 'v6-latest' },
    targets: [{ namespace: 'shop', deployment: 'web', container: 'web' }],
  }),
};

beforeEach(async () => {
  server = await startApiServer();
  client = await createKubernetes({ name: 'default', kubeconfig: server.kubeconfig() });
  registry = createRegistryDouble();
  registry.put({ repository, tag: 'v6-latest', digest });
  workload = await rolledWorkload(client, `${repository}:v6-latest@${digest}`);
  activities = createReleaseActivities({ kubernetes: () => client, registry, prometheus: null });
});

afterEach(async () => {
  await client.close();
  await server.stop();
});

async function known(): Promise<string> {
  const seen = observationOffTheWire(
    await new MockActivityEnvironment().run((i: ObserveInput) => activities.observe(i), input),
  );
  return observationFingerprint(seen);
}

function wait(
  change: Partial<AwaitChange> & { known: string },
  environment = new MockActivityEnvironment(),
): Promise<Observation> {
  const of = { ...input, pollIntervalMs: 30, until: Date.now() + 20_000, ...change };
  return environment.run(
    async (i: ObserveInput & AwaitChange) => observationOffTheWire(await activities.awaitChange(i)),
    of,
  );
}

async function polled(times: number): Promise<void> {
  registry.asked.length = 0;
  while (registry.asked.length < times) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('a tag that moves ends the wait', async () => {
  const running = wait({ known: await known() });
  await polled(2);
  registry.put({ repository, tag: 'v6-latest', digest: `sha256:${'c'.repeat(64)}` });
  expect((await running).lines[`${repository}:v6-latest`]).toMatchObject({
    value: { digest: `sha256:${'c'.repeat(64)}` },
  });
});

test('an image that somebody swaps ends the wait', async () => {
  const running = wait({ known: await known() });
  await polled(2);
  await workload.setImage('registry.test/hotfix:1');
  expect((await running).targets['web']?.workload).toMatchObject({ value: { image: 'registry.test/hotfix:1' } });
});

test('what changes nothing does not: pods restart, annotations of others come and go', async () => {
  const before = await known();
  const running = wait({ known: before, until: Date.now() + 400 });
  await polled(1);
  await workload.pod('web-1-a');
  const ref = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };
  await client.patch(ref, { metadata: { annotations: { other: 'x' } } }, { type: 'merge', fieldManager: 'other' });
  expect(observationFingerprint(await running)).toBe(before);
});

test('at its end the last reading is given back, known or not', async () => {
  const before = await known();
  const began = Date.now();
  const until = began + 200;
  const seen = await wait({ known: before, until });
  expect(observationFingerprint(seen)).toBe(before);
  expect(seen.at).toBeGreaterThanOrEqual(began);
  expect(Date.now()).toBeGreaterThanOrEqual(until - 5);
});

test('a worker that takes over reads when the last reading is old, not an interval later', async () => {
  const environment = new MockActivityEnvironment({ heartbeatDetails: { lastRead: Date.now() - 60_000 } });
  const at = performance.now();
  await wait({ known: 'something else', pollIntervalMs: 60_000 }, environment);
  expect(performance.now() - at).toBeLessThan(30_000);
});

test('a cancellation ends it at once, however long the interval', async () => {
  const environment = new MockActivityEnvironment();
  const running = wait({ known: await known(), pollIntervalMs: 60_000 }, environment);
  environment.cancel();
  await expect(running).rejects.toThrow();
});

test('an event sent again is the same event, and a refused one is told, not thrown', async () => {
  const target = {
    name: 'web',
    cluster: 'default',
    namespace: 'shop',
    kind: 'Deployment' as const,
    workload: 'web',
    container: 'web',
  };
  const events = [
    { target, type: 'Warning' as const, reason: 'RollingBack', message: 'because', key: 'run-1/web/RollingBack' },
  ];
  const emit = (): Promise<EmitEventsResult> =>
    new MockActivityEnvironment().run(() => activities.emitEvents({ release: 'fleet', events }));
  expect(await emit()).toEqual({ refused: [] });
  expect(await emit()).toEqual({ refused: [] });
  const stored = await client.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event', namespace: 'shop' });
  expect(stored.kind === 'read' ? stored.value.items : []).toHaveLength(1);
  const forbidden = JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403 });
  server.fault = (r) => (r.method === 'POST' ? { kind: 'answer', status: 403, body: forbidden } : undefined);
  expect((await emit()).refused).toHaveLength(1);
});
