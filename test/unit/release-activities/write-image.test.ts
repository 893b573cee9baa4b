import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubeObject, KubernetesClient, KubernetesPort } from '../../../src/activities/kubernetes/port.ts';
import type { WriteImageInput } from '../../../src/activities/release/port.ts';
import { writeImage, writeMarks } from '../../../src/activities/release/write-image.ts';
import { writing } from '../../../src/activities/release/writing.ts';
import type { MarksPatch } from '../../../src/domain/release/rollout.ts';
import { startApiServer, type ApiServerDouble } from '../../doubles/api-server.ts';
import { createRegistryDouble } from '../../doubles/registry.ts';

const from = 'registry.test/shop/web:v6-latest@sha256:' + 'a'.repeat(64);
const to = 'registry.test/shop/web:v6-latest@sha256:' + 'b'.repeat(64);
const target = {
  name: 'web',
  cluster: 'default',
  namespace: 'shop',
  kind: 'Deployment' as const,
  workload: 'web',
  container: 'web',
};
const marks: MarksPatch = {
  managedBy: 'release/fleet',
  applied: to,
  version: 'v6-bbbb',
  previousImage: from,
  upgradedAt: '2026-01-01T00:00:00.000Z',
};
const input: WriteImageInput = { release: 'fleet', target, from, to, marks, lastWrite: null, incumbents: [] };

let server: ApiServerDouble;
let client: KubernetesClient;
let port: KubernetesPort;

beforeEach(async () => {
  server = await startApiServer();
  client = await createKubernetes({ name: 'default', kubeconfig: server.kubeconfig(), requestTimeoutMs: 1_000 });
  port = client;
});

afterEach(async () => {
  await client.close();
  await server.stop();
});

interface Deployment extends KubeObject {
  spec: {
    replicas: number;
    selector: { matchLabels: Record<string, string> };
    template: {
      metadata: { labels: Record<string, string>; annotations?: Record<string, string> };
      spec: { containers: { name: string; image: string }[]; initContainers?: { name: string; image: string }[] };
    };
  };
}

async function deployment(change: (d: Deployment) => void = () => undefined, annotations = {}): Promise<void> {
  const object: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop', annotations },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [
            { name: 'web', image: from },
            { name: 'sidecar', image: 'registry.test/sidecar:1' },
          ],
        },
      },
    },
  };
  change(object);
  const created = await client.create(object, { fieldManager: 'test' });
  expect(created.kind).toBe('written');
}

async function stored(): Promise<Deployment> {
  const got = await client.get<Deployment>({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
  });
  if (got.kind !== 'read') throw new Error(got.message);
  return got.value;
}

function patches(): string[] {
  return server.requests.filter((r) => r.method === 'PATCH').map((r) => r.body);
}

const dependencies = () => ({ kubernetes: () => port, registry: createRegistryDouble(), prometheus: null });

function write(change: Partial<WriteImageInput> = {}) {
  return new MockActivityEnvironment().run(
    (i: WriteImageInput) => writeImage(dependencies(), i, AbortSignal.timeout(20_000)),
    {
      ...input,
      ...change,
    },
  );
}

describe('the image and its way back are one write', () => {
  test('image and marks are written in one patch; the pod template gets no annotation', async () => {
    await deployment();
    expect(await write()).toEqual({ kind: 'written', repeated: false });
    const after = await stored();
    expect(after.spec.template.spec.containers).toEqual([
      { name: 'web', image: to },
      { name: 'sidecar', image: 'registry.test/sidecar:1' },
    ]);
    expect(after.metadata.annotations).toMatchObject({
      'holdfast.dev/applied': to,
      'holdfast.dev/previous-image': from,
      'holdfast.dev/managed-by': 'release/fleet',
    });
    expect(after.spec.template.metadata.annotations).toBeUndefined();
    expect(patches()).toHaveLength(1);
  });

  test('asked for again, it is found in effect and not written again', async () => {
    await deployment();
    await write();
    expect(await write()).toEqual({ kind: 'written', repeated: true });
    expect(patches()).toHaveLength(1);
  });

  test('an init container is written by name', async () => {
    await deployment((d) => {
      d.spec.template.spec.initContainers = [{ name: 'migrate', image: from }];
    });
    expect(await write({ target: { ...target, container: 'migrate' } })).toMatchObject({ kind: 'written' });
    const after = await stored();
    expect(after.spec.template.spec.initContainers).toEqual([{ name: 'migrate', image: to }]);
    expect(after.spec.template.spec.containers[0]).toEqual({ name: 'web', image: from });
  });
});

describe('nothing is written where the world is not as planned', () => {
  test('another image was put there meanwhile', async () => {
    await deployment((d) => {
      d.spec.template.spec.containers = [{ name: 'web', image: 'registry.test/shop/web:hotfix' }];
    });
    expect(await write()).toMatchObject({ kind: 'refused', reason: 'Changed' });
    expect(patches()).toEqual([]);
  });

  test('the container does not exist: a strategic patch would add it', async () => {
    await deployment();
    const result = await write({ target: { ...target, container: 'wbe' } });
    expect(result).toMatchObject({ kind: 'refused', reason: 'Missing' });
    expect(JSON.stringify(result)).toContain('web, sidecar');
    expect(patches()).toEqual([]);
  });

  test('the workload does not exist', async () => {
    expect(await write()).toMatchObject({ kind: 'refused', reason: 'Missing' });
  });

  test('another release has taken it over', async () => {
    await deployment(undefined, { 'holdfast.dev/managed-by': 'release/other' });
    expect(await write()).toMatchObject({ kind: 'refused', reason: 'Changed' });
    expect(patches()).toEqual([]);
  });

  test.each([
    ['active', { spec: { suspend: false } }],
    ['suspended, with a job still running', { spec: { suspend: true }, status: { active: [{ name: 'nightly-1' }] } }],
    ['unreadable', null],
  ])('an incumbent is %s', async (_, incumbent) => {
    await deployment();
    const real = client;
    port = {
      ...real,
      cluster: 'default',
      get: (ref, options) => {
        if (ref.kind !== 'CronJob') return real.get(ref, options);
        if (incumbent === null) {
          return Promise.resolve({ kind: 'unmeasured', what: 'CronJob', from: 'test', why: 'denied', message: 'no' });
        }
        return Promise.resolve({ kind: 'read', value: { metadata: { name: 'nightly' }, ...incumbent } as never });
      },
    };
    const incumbents = [
      { cluster: 'default', apiVersion: 'batch/v1', kind: 'CronJob', namespace: 'ops', name: 'nightly' },
    ];
    expect(await write({ incumbents })).toMatchObject({ kind: 'refused', reason: 'Incumbent' });
    expect(patches()).toEqual([]);
  });

  test('an annotation of ours that cannot be read holds a new image, but never the way back', async () => {
    await deployment(undefined, { 'holdfast.dev/blocked': 'not json' });
    expect(await write()).toMatchObject({ kind: 'refused', reason: 'Invalid' });
    const back: MarksPatch = {
      ...marks,
      rolledBackFrom: from,
      block: [{ image: 'sha256:x', at: '2026-01-01T00:00:00Z', reason: 'r' }],
    };
    expect(await write({ marks: back })).toEqual({ kind: 'written', repeated: false });
    expect((await stored()).metadata.annotations?.['holdfast.dev/blocked']).toBe('not json');
    expect(await write({ marks: back })).toEqual({ kind: 'written', repeated: true });
  });
});

describe('the effect of a write is looked at, not assumed', () => {
  test('the reply is lost after the write took effect: it is found, not sent again', async () => {
    await deployment();
    let lost = 0;
    server.fault = (r) => (r.method === 'PATCH' && lost++ === 0 ? { kind: 'drop-reply' } : undefined);
    expect(await write()).toEqual({ kind: 'written', repeated: true });
    expect(patches()).toHaveLength(1);
  });

  test('the connection breaks before the write: it is sent again', async () => {
    await deployment();
    let broken = 0;
    server.fault = (r) => (r.method === 'PATCH' && broken++ === 0 ? { kind: 'reset' } : undefined);
    expect(await write()).toMatchObject({ kind: 'written' });
    expect((await stored()).spec.template.spec.containers[0]?.image).toBe(to);
  });

  test('called off while a request hangs, it sends no other and looks only whether that one arrived', async () => {
    await deployment();
    const environment = new MockActivityEnvironment({
      scheduledTimestampMs: Date.now(),
      scheduleToCloseTimeoutMs: 7_000,
    });
    let sent = 0;
    port = {
      ...client,
      cluster: 'default',
      patch: () => {
        sent += 1;
        environment.cancel('CANCELLED');
        return Promise.resolve({ kind: 'unknown', cause: 'timeout', message: 'no answer in time' });
      },
    };
    const called = environment.run(() =>
      writing((wanted, reading) => writeImage(dependencies(), input, wanted, reading)),
    );
    await expect(called).rejects.toMatchObject({ type: 'WriteUnknown' });
    expect(sent).toBe(1);
    const reads = server.requests.filter((r) => r.method === 'GET');
    expect(reads.length).toBeGreaterThan(2);
  });

  test('called off before anything was sent, it ends at once', async () => {
    await deployment();
    const environment = new MockActivityEnvironment({ scheduleToCloseTimeoutMs: 0 });
    environment.cancel('CANCELLED');
    const called = environment.run(() =>
      writing((wanted, reading) => writeImage(dependencies(), input, wanted, reading)),
    );
    await expect(called).rejects.toMatchObject({ name: 'CancelledFailure' });
    expect(patches()).toEqual([]);
  });

  test('another write comes between reading and writing: it is read and decided anew', async () => {
    await deployment();
    let between = 0;
    const real = client;
    port = {
      ...real,
      cluster: 'default',
      patch: async (ref, body, options) => {
        if (between++ === 0) {
          await real.patch(
            ref,
            { metadata: { annotations: { touched: 'yes' } } },
            { type: 'merge', fieldManager: 'other' },
          );
        }
        return real.patch(ref, body, options);
      },
    };
    expect(await write()).toEqual({ kind: 'written', repeated: false });
    expect((await stored()).metadata.annotations).toMatchObject({ touched: 'yes', 'holdfast.dev/applied': to });
  });

  test('somebody swaps the image between reading and writing: nothing is written over it', async () => {
    await deployment();
    let between = 0;
    const real = client;
    port = {
      ...real,
      cluster: 'default',
      patch: async (ref, body, options) => {
        if (between++ === 0) {
          const hotfix = {
            spec: { template: { spec: { containers: [{ name: 'web', image: 'registry.test/hotfix:1' }] } } },
          };
          await real.patch(ref, hotfix, { type: 'strategic', fieldManager: 'kubectl-edit' });
        }
        return real.patch(ref, body, options);
      },
    };
    expect(await write()).toMatchObject({ kind: 'refused', reason: 'Changed' });
    expect((await stored()).spec.template.spec.containers[0]?.image).toBe('registry.test/hotfix:1');
  });

  test('an admission webhook that rewrites the image makes it unknown, with the reason', async () => {
    await deployment();
    const real = client;
    port = {
      ...real,
      cluster: 'default',
      patch: async (ref, _body, options) => {
        const mirrored = {
          spec: { template: { spec: { containers: [{ name: 'web', image: 'mirror.test/web:1' }] } } },
        };
        return real.patch(ref, mirrored, options);
      },
    };
    const result = await write();
    expect(result).toMatchObject({ kind: 'unknown' });
    expect(JSON.stringify(result)).toContain('mirror.test/web:1');
  });

  test('marks alone leave the pod template as it is, and are not written twice', async () => {
    await deployment();
    const before = await stored();
    const only = { release: 'fleet', target, image: from, marks: { passed: to } };
    const run = () =>
      new MockActivityEnvironment().run(() => writeMarks(dependencies(), only, AbortSignal.timeout(20_000)));
    expect(await run()).toEqual({ kind: 'written', repeated: false });
    expect(await run()).toEqual({ kind: 'written', repeated: true });
    const after = await stored();
    expect(after.spec.template).toEqual(before.spec.template);
    expect(after.metadata.generation).toBe(before.metadata.generation);
    expect(patches()).toHaveLength(1);
  });
});

describe('a run that was reset meets what the run before it has written', () => {
  const LATER = '2026-01-01T01:00:00.000Z';
  const block = [{ image: 'sha256:' + 'b'.repeat(64), at: LATER, reason: 'Unhealthy' }];
  const wayBack: Partial<WriteImageInput> = {
    from: to,
    to: from,
    marks: { managedBy: 'release/fleet', applied: from, rolledBackFrom: to, rolledBackAt: LATER, block },
  };

  test('an image that stands there by its hand is not written again, whenever that was', async () => {
    await deployment();
    await write();
    const again = { ...marks, previousImage: 'registry.test/shop/web:v6', upgradedAt: LATER };
    const lastWrite = { upgradedAt: null, rolledBackAt: null };
    expect(await write({ marks: again, lastWrite })).toEqual({ kind: 'written', repeated: true });
    expect(patches()).toHaveLength(1);
  });

  test('an image that somebody else put there is written with the marks that make it ours', async () => {
    await deployment((d) => {
      d.spec.template.spec.containers[0] = { name: 'web', image: to };
    });
    const lastWrite = { upgradedAt: null, rolledBackAt: null };
    expect(await write({ lastWrite })).toEqual({ kind: 'written', repeated: false });
  });

  test('an image that was rolled back since the preflight is not rolled again', async () => {
    await deployment();
    await write();
    await write(wayBack);
    const result = await write({ lastWrite: { upgradedAt: null, rolledBackAt: null } });
    expect(result).toMatchObject({ kind: 'refused', reason: 'Changed' });
    expect(result).toMatchObject({ message: expect.stringContaining('another run of release/fleet') as string });
    expect(patches()).toHaveLength(2);
  });

  test('what the preflight has seen is no obstacle', async () => {
    await deployment();
    await write();
    await write(wayBack);
    const { metadata } = await stored();
    const seen = {
      upgradedAt: metadata.annotations?.['holdfast.dev/upgraded-at'] ?? null,
      rolledBackAt: metadata.annotations?.['holdfast.dev/rolled-back-at'] ?? null,
    };
    expect(seen.rolledBackAt).toBe(LATER);
    expect(await write({ lastWrite: seen })).toEqual({ kind: 'written', repeated: false });
  });

  test('a way back that was gone is not written again', async () => {
    await deployment();
    await write();
    await write(wayBack);
    const later = { ...wayBack.marks, rolledBackAt: '2026-01-01T02:00:00.000Z' };
    expect(await write({ ...wayBack, marks: later })).toEqual({ kind: 'written', repeated: true });
    expect(patches()).toHaveLength(2);
  });

  test('a way back that is to block what no earlier one has blocked is written', async () => {
    await deployment();
    await write();
    await write({ ...wayBack, marks: { ...wayBack.marks, block: [] } });
    expect(await write(wayBack)).toEqual({ kind: 'written', repeated: false });
  });

  test('a pass is marked only on the image that has passed', async () => {
    await deployment();
    const only = { release: 'fleet', target, image: to, marks: { passed: to } };
    const result = await new MockActivityEnvironment().run(() =>
      writeMarks(dependencies(), only, AbortSignal.timeout(20_000)),
    );
    expect(result).toMatchObject({ kind: 'refused', reason: 'Changed' });
    expect(patches()).toEqual([]);
  });

  test('marks about no image in particular are written whatever it is', async () => {
    await deployment();
    const only = { release: 'fleet', target, image: null, marks: { block } };
    const result = await new MockActivityEnvironment().run(() =>
      writeMarks(dependencies(), only, AbortSignal.timeout(20_000)),
    );
    expect(result).toEqual({ kind: 'written', repeated: false });
  });
});
