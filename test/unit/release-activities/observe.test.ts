import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubeObject, KubernetesClient } from '../../../src/activities/kubernetes/port.ts';
import { createImageCache, type ImageCache } from '../../../src/activities/release/image-cache.ts';
import { standsInTheWay } from '../../../src/activities/release/incumbents.ts';
import { observeRelease } from '../../../src/activities/release/observe.ts';
import { observationFingerprint } from '../../../src/domain/release/fingerprint.ts';
import { releaseSpec, type ReleaseSpec, type ReleaseSpecInput } from '../../../src/domain/release/spec.ts';
import { startApiServer, type ApiServerDouble } from '../../doubles/api-server.ts';
import { createRegistryDouble, type RegistryDouble } from '../../doubles/registry.ts';

const repository = 'registry.test/shop/web';
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const never = new AbortController().signal;

let server: ApiServerDouble;
let client: KubernetesClient;
let registry: RegistryDouble;
let images: ImageCache;

beforeEach(async () => {
  server = await startApiServer();
  client = await createKubernetes({ name: 'default', kubeconfig: server.kubeconfig(), requestTimeoutMs: 500 });
  registry = createRegistryDouble();
  images = createImageCache(registry);
  registry.put({
    repository,
    tag: 'v6-latest',
    digest: digest('a'),
    revision: '04d1e1ea4bdf0000',
    platforms: ['linux/amd64'],
  });
  await node('one', 'amd64');
});

afterEach(async () => {
  await client.close();
  await server.stop();
});

async function create(object: KubeObject & Record<string, unknown>): Promise<void> {
  const created = await client.create(object, { fieldManager: 'test' });
  expect(created.kind).toBe('written');
}

async function node(name: string, architecture: string): Promise<void> {
  await create({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/arch': architecture } },
    status: { nodeInfo: { architecture, operatingSystem: 'linux' } },
  });
}

async function deployment(name: string, image: string, more: Record<string, unknown> = {}): Promise<void> {
  await create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'shop' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'web', image }], ...more } },
    },
  });
}

function spec(names: string[], change: Partial<ReleaseSpecInput> = {}): ReleaseSpec {
  return releaseSpec.parse({
    image: repository,
    track: { tag: 'v6-latest' },
    targets: names.map((name) => ({ namespace: 'shop', deployment: name, container: 'web' })),
    ...change,
  });
}

function observe(of: ReleaseSpec, pin: string | null = null) {
  const dependencies = { kubernetes: (c: string) => (c === 'default' ? client : null), registry, prometheus: null };
  return observeRelease(dependencies, images, { release: 'fleet', spec: of, pin }, never);
}

function asked(): string[] {
  return server.requests.filter((r) => r.method === 'GET').map((r) => r.url.split('?')[0] ?? '');
}

const deployed = `${repository}:v6-latest@${digest('a')}`;

describe('one evaluation asks for each thing once', () => {
  test('a target alone is read by one GET, beside one list of nodes', async () => {
    await deployment('web', deployed);
    server.requests.length = 0;
    const seen = await observe(spec(['web']));
    expect(asked().sort()).toEqual(['/api/v1/nodes', '/apis/apps/v1/namespaces/shop/deployments/web']);
    expect(seen.targets['web']).toMatchObject({
      workload: { kind: 'read', value: { image: deployed, replicas: 1, paused: false, strategy: 'RollingUpdate' } },
      architectures: { kind: 'read', value: ['amd64'] },
    });
    expect(seen.lines[`${repository}:v6-latest`]).toMatchObject({
      kind: 'read',
      value: { digest: digest('a'), label: 'v6-04d1e1ea4bdf', version: '6' },
    });
  });

  test('a hundred targets cost one list, and their shared tag one request', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `web-${i}`);
    for (const name of names) await deployment(name, deployed);
    server.requests.length = 0;
    const first = await observe(spec(names));
    expect(asked().sort()).toEqual(['/api/v1/nodes', '/apis/apps/v1/namespaces/shop/deployments']);
    expect(registry.asked).toEqual([
      `headDigest ${repository}:v6-latest`,
      `resolveDigest ${repository}@${digest('a')}`,
    ]);
    expect(Object.keys(first.targets)).toHaveLength(100);

    const again = await observe(spec(names));
    expect(registry.asked).toHaveLength(3);
    expect(observationFingerprint(again)).toBe(observationFingerprint(first));
  });

  test('where lists are not allowed, targets are read one by one', async () => {
    await deployment('a', deployed);
    await deployment('b', deployed);
    const forbidden = JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403 });
    server.fault = (r) =>
      /deployments(\?|$)/.test(r.url) ? { kind: 'answer', status: 403, body: forbidden } : undefined;
    const seen = await observe(spec(['a', 'b']));
    expect(seen.targets['a']?.workload.kind).toBe('read');
    expect(seen.targets['b']?.workload.kind).toBe('read');
  });

  test('pods are asked only for a template without a digest, and tell the digest that runs', async () => {
    await deployment('web', `${repository}:v6-latest`);
    registry.put({ repository, digest: digest('c'), labels: { 'org.opencontainers.image.version': '6.0.3' } });
    await create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web-1', namespace: 'shop', labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: `${repository}:v6-latest` }] },
      status: {
        phase: 'Running',
        containerStatuses: [
          { name: 'web', ready: true, restartCount: 0, imageID: `docker-pullable://${repository}@${digest('c')}` },
        ],
      },
    });
    const seen = await observe(spec(['web']));
    expect(seen.targets['web']?.workload).toMatchObject({ value: { runningDigest: digest('c') } });
    expect(seen.images[`${repository}:v6-latest`]).toMatchObject({ kind: 'read', value: { version: '6.0.3' } });
  });
});

describe('what could not be read says so, and spoils nothing else', () => {
  test('a registry that is down leaves the targets read', async () => {
    await deployment('web', deployed);
    registry.down = 'unreachable';
    const seen = await observe(spec(['web']));
    expect(seen.lines[`${repository}:v6-latest`]).toMatchObject({ kind: 'unmeasured', why: 'unreachable' });
    expect(seen.targets['web']?.workload.kind).toBe('read');
  });

  test('a missing workload, a denied one and an unknown cluster are three things', async () => {
    await deployment('denied', deployed);
    const forbidden = JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403 });
    server.fault = (r) => (r.url.includes('denied') ? { kind: 'answer', status: 403, body: forbidden } : undefined);
    const of = spec([], {
      targets: [
        { namespace: 'shop', deployment: 'gone', container: 'web' },
        { namespace: 'shop', statefulSet: 'denied', container: 'web' },
        { namespace: 'shop', deployment: 'far', container: 'web', cluster: 'elsewhere' },
      ],
    });
    const seen = await observe(of);
    expect(seen.targets['gone']?.workload).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(seen.targets['denied']?.workload).toMatchObject({ kind: 'unmeasured', why: 'denied' });
    expect(seen.targets['far']?.workload).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(JSON.stringify(seen.targets['far'])).toContain('no cluster');
  });

  test('a semver line takes its newest release over all tags, and says why others lost', async () => {
    await deployment('web', deployed);
    for (const [tag, d] of [
      ['v5.9.0', 'd'],
      ['v5.10.0', 'e'],
      ['v5.11.0-rc1', 'f'],
    ] as const) {
      registry.put({ repository, tag, digest: digest(d) });
    }
    const seen = await observe(spec(['web'], { track: { line: '^v5\\.' } }));
    expect(seen.lines[`${repository} ^v5\\.`]).toMatchObject({
      kind: 'read',
      value: { tag: 'v5.10.0', label: 'v5.10.0' },
    });
  });

  test('a line of which no tag may be taken is empty, not an error of the registry', async () => {
    await deployment('web', deployed);
    const seen = await observe(spec(['web'], { track: { line: '^v9\\.' } }));
    expect(seen.lines[`${repository} ^v9\\.`]).toMatchObject({ kind: 'unmeasured', why: 'empty' });
  });

  test('an incumbent that is absent, suspended, active, denied, of a kind that nobody serves or in a cluster that this worker lacks is told apart', async () => {
    await deployment('web', deployed);
    const base = { apiVersion: 'example.dev/v1', kind: 'Widget', metadata: { namespace: 'shop' } };
    await create({ ...base, metadata: { ...base.metadata, name: 'active' }, spec: { suspend: false } });
    await create({ ...base, metadata: { ...base.metadata, name: 'suspended' }, spec: { suspend: true } });
    const forbidden = JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403 });
    server.fault = (r) =>
      r.url.includes('/widgets/denied') ? { kind: 'answer', status: 403, body: forbidden } : undefined;
    const widgets = ['absent', 'suspended', 'active', 'denied'].map((name) => ({
      apiVersion: 'example.dev/v1',
      kind: 'Widget',
      namespace: 'shop',
      name,
    }));
    const misspelt = { apiVersion: 'example.dev/v1', kind: 'Wigdet', namespace: 'shop', name: 'absent' };
    const elsewhere = { cluster: 'elsewhere', namespace: 'shop', name: 'nightly' };
    const incumbents = [...widgets, misspelt, elsewhere];
    const seen = await observe(spec(['web'], { incumbents }));
    expect(seen.incumbents.map((i) => (i.state.kind === 'read' ? i.state.value : i.state.why))).toEqual([
      'absent',
      'suspended',
      'active',
      'denied',
      'not-served',
      'unreachable',
    ]);
    expect(standsInTheWay(seen.incumbents.slice(0, 2))).toBeNull();
    expect(standsInTheWay(seen.incumbents.slice(2, 3))).toContain('Widget shop/active is active');
    expect(standsInTheWay(seen.incumbents.slice(3, 4))).toContain('Widget shop/denied may not be read');
    expect(standsInTheWay(seen.incumbents.slice(5))).toContain('this worker has no cluster "elsewhere"');
    expect(standsInTheWay(seen.incumbents.slice(4))).toContain(
      'Wigdet shop/absent is of a kind that the cluster does not serve, which counts as active',
    );
  });
});
