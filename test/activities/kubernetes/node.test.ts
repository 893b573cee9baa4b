import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import type { KubeObject } from '../../../src/activities/kubernetes/port.ts';
import type { Pod } from '../../../src/domain/core/workload.ts';
import { pushSpokeImage } from '../../lab/images.ts';
import { spokeDeployment } from '../../lab/manifests.ts';
import { connect } from './cluster.ts';
import type { TestCluster } from './cluster.ts';

const environment = inject('lab');
const spoke = '/spoke';

/** A kubelet that runs containers: the only part that shows what exec and the pod proxy really do. */
describe.skipIf(environment.node === null)('a pod on a real node', () => {
  let cluster: TestCluster;
  let namespace: string;
  let pod: { namespace: string; name: string; container: string };

  beforeAll(async () => {
    cluster = await connect(environment.kubeconfig);
    namespace = await cluster.namespace();
    const image = await pushSpokeImage(environment.registry, {
      repository: 'kubernetes-test/spoke',
      version: 'v1.0.0',
      tag: 'v1.0.0',
    });
    const workload = spokeDeployment({ namespace, name: 'web', image: image.reference, node: 'real' });
    const created = await cluster.port.create(workload as unknown as KubeObject, { fieldManager: 'test' });
    if (created.kind !== 'written') throw new Error(created.message);
    pod = await vi.waitFor(
      async () => {
        const list = await cluster.port.list<Pod & KubeObject>({
          apiVersion: 'v1',
          kind: 'Pod',
          namespace,
          labelSelector: 'app=web',
        });
        const ready =
          list.kind === 'read'
            ? list.value.items.find((p) => p.status?.containerStatuses?.every((c) => c.ready))
            : undefined;
        if (ready === undefined) throw new Error('no pod is ready');
        return { namespace, name: ready.metadata.name, container: 'spoke' };
      },
      { timeout: 90_000, interval: 250 },
    );
  });

  afterAll(() => cluster.close());

  test('H-E05 a command’s exit code and its complete output come from a real kubelet', async () => {
    const asked = await cluster.port.exec(pod, [spoke, 'probe', 'http://127.0.0.1:8080/api/health'], {
      timeoutMs: 20_000,
    });
    expect(asked).toMatchObject({ kind: 'exited', code: 0 });
    const failed = await cluster.port.exec(pod, [spoke, 'cat', '/nowhere'], { timeoutMs: 20_000 });
    expect(failed).toMatchObject({
      kind: 'exited',
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('/nowhere') as string,
    });
  });

  test('H-E05 a command that outlives its time-out is unmeasured in time', async () => {
    const started = performance.now();
    const slow = await cluster.port.exec(pod, [spoke, 'sleep', '8'], { timeoutMs: 500 });
    expect(slow).toMatchObject({ kind: 'unmeasured', why: 'timeout' });
    expect(performance.now() - started).toBeLessThan(4_000);
  });

  test('a program or a container that does not exist is unmeasured, never an exit code', async () => {
    expect(await cluster.port.exec(pod, ['/no-such-program'], { timeoutMs: 20_000 })).toMatchObject({
      kind: 'unmeasured',
    });
    const other = await cluster.port.exec({ ...pod, container: 'other' }, [spoke], { timeoutMs: 20_000 });
    expect(other).toMatchObject({ kind: 'unmeasured' });
  });

  test('the proxy tells the application’s own answers from a pod that cannot be reached', async () => {
    const get = (path: string, port = 8080) =>
      cluster.port.podRequest({ ...pod, port }, { method: 'GET', path, timeoutMs: 10_000 });
    expect(await get('/api/health')).toMatchObject({ kind: 'read', value: { status: 200 } });
    expect(await get('/no-such-page')).toMatchObject({ kind: 'read', value: { status: 404 } });
    expect(await get('/', 9)).toMatchObject({ kind: 'unmeasured', why: 'unreachable' });
  });
});
