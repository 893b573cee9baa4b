import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { EtcdPort } from '../../../src/activities/etcd/port.ts';
import type { KubernetesPort } from '../../../src/activities/kubernetes/port.ts';
import type { NodeObject } from '../../../src/activities/node-reboot/nodes.ts';
import { checkNode, type ReadyProgress } from '../../../src/activities/node-reboot/watch-node.ts';
import { read } from '../../../src/domain/core/verdict.ts';
import { newVisit } from '../../../src/domain/node-reboot/visit.ts';
import { startApiServer } from '../../doubles/api-server.ts';
import { podObject } from '../../domain/node-reboot/pod-object.ts';
import { before, HOUR, MINUTE, NOW, spec } from '../../domain/node-reboot/world.ts';
import { waitFor } from '../../lab/wait.ts';

test('NR-59 a node that is not Ready for a moment must be Ready for the whole time anew', async () => {
  const server = await startApiServer({});
  const port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig() });
  const manager = { fieldManager: 'test' };
  const status = (ready: boolean) => ({
    nodeInfo: { bootID: 'n1-boot-2', kernelVersion: '6.14' },
    capacity: { memory: '16Gi' },
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  });
  const ref = { apiVersion: 'v1', kind: 'Node', name: 'n1' };
  const isReady = (ready: boolean) => port.patch(ref, { status: status(ready) }, { ...manager, type: 'merge' });
  await port.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, status: status(true) }, manager);

  const nobody = { kubernetes: () => port, prometheus: () => null, etcd: () => null, hostImage: 'busybox' };
  const dependencies = { ...nobody, holderRun: () => Promise.resolve('running' as const) };
  const visit = { ...newVisit('n1', 'libc6', null, NOW), phase: 'Checking' as const, before, bootedAs: 'n1-boot-2' };
  const record = { campaign: 'control-plane', run: 'run-1', visit, reason: '' };
  const step = { spec: spec({ readyHold: '2m' }), record, deadline: NOW + HOUR };
  let now = NOW;
  let readySince: number | null | undefined;
  const progress = (at: ReadyProgress) => {
    readySince = at.readySince;
  };
  const end = new AbortController();
  const context = { signal: end.signal, resumed: undefined, progress };
  const checking = checkNode(dependencies, port, step, () => now, context);
  try {
    await waitFor('it is counted', () => readySince === NOW, 5_000);
    now += MINUTE;
    await isReady(false);
    await waitFor('the count is over', () => readySince === null, 5_000);
    now += 2 * MINUTE;
    await isReady(true);
    await waitFor('it is counted anew', () => readySince === now, 5_000);
    // Only then would its host be asked.
    expect(server.requests.filter(({ method, url }) => method === 'POST' && url.includes('/pods'))).toEqual([]);
  } finally {
    end.abort(new Error('the test is over'));
    await expect(checking).rejects.toThrow('the test is over');
    await port.close();
    await server.stop();
  }
});

test('a watch that has died without a word does not keep a node Ready: it is read before it passes', async () => {
  const node = (ready: boolean): NodeObject => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', uid: 'u', resourceVersion: '1' },
    status: {
      nodeInfo: { bootID: 'n1-boot-2', kernelVersion: '6.14' },
      capacity: { memory: '16Gi' },
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'Unknown' }],
    },
  });
  async function* watch(_: unknown, { signal }: { signal: AbortSignal }) {
    yield { type: 'listed', items: [node(true)], resourceVersion: '1' };
    await once(signal, 'abort');
  }
  const port = {
    watch,
    get: () => Promise.resolve(read(node(false))),
    create: () => Promise.resolve({ kind: 'denied', message: 'no pods here' }),
  } as unknown as KubernetesPort;
  const nobody = { kubernetes: () => port, prometheus: () => null, etcd: () => null, hostImage: 'busybox' };
  const dependencies = { ...nobody, commands: {}, holderRun: () => Promise.resolve('running' as const) };
  const visit = { ...newVisit('n1', 'libc6', null, NOW), phase: 'Checking' as const, before, bootedAs: 'n1-boot-2' };
  const record = { campaign: 'control-plane', run: 'run-1', visit, reason: '' };
  const end = new AbortController();
  const counted: (number | null)[] = [];
  const progress = ({ readySince }: ReadyProgress) => {
    counted.push(readySince);
    end.abort(new Error('the test is over'));
  };
  const step = { spec: spec({ readyHold: '0s' }), record, deadline: NOW + HOUR };
  const context = { signal: end.signal, resumed: undefined, progress };
  await expect(checkNode(dependencies, port, step, () => NOW, context)).rejects.toThrow('the test is over');
  expect(counted).toEqual([null]);
});

describe('a node that is Ready again', () => {
  const bootId = '8c0d7b3e-0d4f-4a53-9f6b-5a4b3f1f0c11';
  const node: NodeObject = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', uid: 'u', resourceVersion: '1' },
    status: {
      nodeInfo: { bootID: bootId, kernelVersion: '6.14' },
      capacity: { memory: '16Gi' },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
  const report = `--holdfast-- begin\n--holdfast-- boot\n${bootId}\n--holdfast-- end\n\n`;
  const hostPod = { status: { containerStatuses: [{ state: { terminated: { exitCode: 0, message: report } } }] } };
  const agent = (ready: boolean) => podObject({ name: 'agent-1', owner: { kind: 'DaemonSet' }, ready });
  const spec3 = spec({ readyHold: '0s', gates: { etcd: { members: 1 } } });

  /** What the check comes to within one look. @returns `waits` where it is asked again */
  async function checked(pods: readonly object[], member: 'healthy' | 'away'): Promise<string> {
    const end = new AbortController();
    async function* watch(_: unknown, { signal }: { signal: AbortSignal }) {
      yield { type: 'listed', items: [node], resourceVersion: '1' };
      await once(signal, 'abort');
    }
    const port = {
      watch,
      get: ({ kind }: { kind: string }) => Promise.resolve(read(kind === 'Node' ? node : hostPod)),
      list: () => {
        // The next look would come in seconds: by then it is known that it waits.
        setTimeout(() => end.abort(new Error('waits')), 100);
        return Promise.resolve(read({ items: pods }));
      },
      create: () => Promise.resolve({ kind: 'written', object: {} }),
      delete: () => Promise.resolve({ kind: 'written', object: {} }),
    } as unknown as KubernetesPort;
    const etcd: EtcdPort = {
      members: () => Promise.resolve(read({ members: [{ ID: '1', name: 'n1', clientURLs: ['https://n1:2379'] }] })),
      health: () => Promise.resolve(read({ health: member === 'healthy' ? 'true' : 'false' })),
    };
    const dependencies = {
      ...{ kubernetes: () => port, prometheus: () => null, etcd: () => etcd, hostImage: 'busybox', commands: {} },
      holderRun: () => Promise.resolve('running' as const),
    };
    const visit = { ...newVisit('n1', 'libc6', null, NOW), phase: 'Checking' as const, before, bootedAs: bootId };
    const record = { campaign: 'control-plane', run: 'run-1', visit, reason: '' };
    const context = { signal: end.signal, resumed: undefined, progress: () => undefined };
    const step = { spec: spec3, record, deadline: NOW + HOUR };
    try {
      return (await checkNode(dependencies, port, step, () => NOW, context)).verdict.kind;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  test('passes with its member of etcd and its DaemonSets', async () => {
    expect(await checked([agent(true)], 'healthy')).toBe('pass');
  });

  test('NR-60 stays cordoned as long as its member of etcd is not back', async () => {
    expect(await checked([agent(true)], 'away')).toBe('waits');
  });

  test('stays cordoned as long as a pod of a DaemonSet is not ready', async () => {
    expect(await checked([agent(false)], 'healthy')).toBe('waits');
  });
});
