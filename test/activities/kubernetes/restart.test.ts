import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { createCredentials } from '../../../src/activities/kubernetes/credentials.ts';
import { loadKubeConfig } from '../../../src/activities/kubernetes/kubeconfig.ts';
import { createTransport } from '../../../src/activities/kubernetes/transport.ts';
import { watchOnce } from '../../../src/activities/kubernetes/watch-stream.ts';
import { attachLab } from '../../lab/lab.ts';
import type { Lab } from '../../lab/lab.ts';
import { connect } from './cluster.ts';
import type { TestCluster } from './cluster.ts';

const environment = inject('lab');
const manager = { fieldManager: 'test' };
let cluster: TestCluster;
let lab: Lab;
let namespace: string;

beforeAll(async () => {
  lab = await attachLab(environment.dir);
  cluster = await connect(environment.kubeconfig);
  namespace = await cluster.namespace();
});

afterAll(() => cluster.close());

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } });

describe('a real API server that is killed and started again', () => {
  test('a watch tells that it is interrupted and goes on by itself, with nothing lost and nothing told twice', async () => {
    const { port } = cluster;
    const stop = new AbortController();
    const seen: string[] = [];
    const running = (async () => {
      for await (const event of port.watch(
        { apiVersion: 'v1', kind: 'ConfigMap', namespace },
        { signal: stop.signal },
      )) {
        if (event.type === 'listed') seen.push('listed');
        else if (event.type === 'interrupted') seen.push(`interrupted ${event.reading.why}`);
        else if (event.object.metadata.name.startsWith('change-'))
          seen.push(`${event.type} ${event.object.metadata.name}`);
      }
    })();
    try {
      await vi.waitFor(() => expect(seen).toEqual(['listed']));
      await port.create(configMap('change-1'), manager);
      await vi.waitFor(() => expect(seen).toEqual(['listed', 'added change-1']));

      await lab.kill('kube-apiserver');
      await vi.waitFor(() => expect(seen.at(-1)).toBe('interrupted unreachable'), { timeout: 10_000 });
      expect(await port.create(configMap('change-2'), manager)).toMatchObject({ kind: 'unknown', effect: 'none' });
      expect(
        await port.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'change-1' }, { timeoutMs: 500 }),
      ).toMatchObject({
        kind: 'unmeasured',
        why: 'unreachable',
      });

      await lab.start('kube-apiserver');
      await vi.waitFor(async () => expect((await port.create(configMap('change-3'), manager)).kind).toBe('written'), {
        timeout: 60_000,
      });
      await vi.waitFor(() => expect(seen.at(-1)).toBe('added change-3'), { timeout: 30_000 });
      const told = seen.filter((event) => !event.startsWith('interrupted'));
      // A list in between would be allowed.
      expect(told.filter((event) => event !== 'listed')).toEqual(['added change-1', 'added change-3']);
    } finally {
      stop.abort();
      await running;
    }
  });

  test('a version that it does not remember is an expiry, so that the watch lists again', async () => {
    const load = () => loadKubeConfig({ name: 'lab', kubeconfig: environment.kubeconfig });
    const transport = createTransport(createCredentials(await load(), load), 'test');
    const ends: string[] = [];
    const request = {
      method: 'GET',
      path: `/api/v1/namespaces/${namespace}/configmaps`,
      query: { watch: 'true', resourceVersion: '1', timeoutSeconds: '5' },
      timeoutMs: 10_000,
    } as const;
    const signal = new AbortController().signal;
    for await (const event of watchOnce(transport, 'watch', request, { quietMs: 10_000, signal }))
      ends.push(event.type);
    await transport.close();
    expect(ends).toEqual(['expired']);
  });

  test('a command in a pod that is not there is missing, and denied to whom has no right to ask', async () => {
    const pod = { namespace, name: 'absent', container: 'web' };
    const options = { timeoutMs: 5_000 };
    expect(await cluster.nobody.exec(pod, ['true'], options)).toMatchObject({ kind: 'unmeasured', why: 'denied' });
    expect(await cluster.port.exec(pod, ['true'], options)).toMatchObject({ kind: 'unmeasured', why: 'missing' });
  });

  test('a request to a pod that is not there is missing, and denied to whom has no right to ask', async () => {
    const pod = { namespace, name: 'absent', port: 8080 };
    const request = { method: 'GET', path: '/', timeoutMs: 5_000 } as const;
    expect(await cluster.nobody.podRequest(pod, request)).toMatchObject({ kind: 'unmeasured', why: 'denied' });
    expect(await cluster.port.podRequest(pod, request)).toMatchObject({ kind: 'unmeasured', why: 'missing' });
  });
});
