import { expect, test } from 'vitest';
import type { KubernetesPort, PatchOptions } from '../../../src/activities/kubernetes/port.ts';
import { movePrimaries } from '../../../src/activities/node-reboot/move-primaries.ts';
import type { StepInput } from '../../../src/activities/node-reboot/port.ts';
import { read } from '../../../src/domain/core/verdict.ts';
import { newVisit } from '../../../src/domain/node-reboot/visit.ts';
import { podObject } from '../../domain/node-reboot/pod-object.ts';
import { NOW, spec } from '../../domain/node-reboot/world.ts';

/** A database on two nodes whose operator begins a failover in the very moment that its primary is promoted away. */
function overtaken() {
  const status = {
    ...{ readyInstances: 2, currentPrimary: 'pg-1', targetPrimary: 'pg-1' },
    instanceNames: ['pg-1', 'pg-2'],
  };
  const cluster = { metadata: { namespace: 'db', name: 'pg', resourceVersion: '1' }, spec: { instances: 2 }, status };
  const pod = (name: string, node: string) =>
    podObject({ namespace: 'db', name, node, labels: { 'cnpg.io/cluster': 'pg' } });
  const nodes = ['n1', 'n2'].map((name) => ({
    metadata: { name, uid: name },
    status: { nodeInfo: { bootID: name, kernelVersion: '6.14' }, capacity: { memory: '16Gi' }, conditions: ready },
  }));
  const lists: Record<string, () => unknown[]> = {
    Cluster: () => [structuredClone(cluster)],
    Pod: () => [pod('pg-1', 'n1'), pod('pg-2', 'n2')],
    Node: () => nodes,
  };
  const written: string[] = [];
  const port = {
    list: ({ kind }: { kind: string }) => Promise.resolve(read({ items: lists[kind]?.() ?? [] })),
    patch: (_: unknown, body: { status: { targetPrimary: string } }, { preconditions }: PatchOptions) => {
      if (cluster.metadata.resourceVersion === '1') {
        cluster.metadata.resourceVersion = '2';
        status.targetPrimary = 'pg-3';
      }
      const seen = preconditions?.resourceVersion;
      if (seen !== undefined && seen !== cluster.metadata.resourceVersion) {
        return Promise.resolve({ kind: 'conflict', message: 'it was modified' });
      }
      written.push(body.status.targetPrimary);
      return Promise.resolve({ kind: 'written', object: cluster });
    },
  } as unknown as KubernetesPort;
  return { port, written };
}

const ready = [{ type: 'Ready', status: 'True', lastHeartbeatTime: new Date(NOW).toISOString() }];

test('NR-35 a failover that the operator has begun meanwhile is not overwritten by a promotion', async () => {
  const { port, written } = overtaken();
  const visit = newVisit('n1', 'libc6', null, NOW);
  const input: StepInput = {
    spec: spec({ moveTimeout: '1s', gates: { cloudNativePG: { clusters: 1 } } }),
    record: { campaign: 'c', run: 'r', visit, reason: '' },
    deadline: NOW,
  };
  let now = NOW;
  // The look at which it gives up comes right after.
  const clock = () => (now += 400);
  const promoted: unknown[] = [];
  const context = {
    ...{ signal: new AbortController().signal, resumed: undefined },
    progress: (at: unknown) => promoted.push(at),
  };
  const { verdict } = await movePrimaries(port, input, clock, context);
  expect(written).toEqual([]);
  expect(promoted).toEqual([]);
  expect(verdict).toMatchObject({ kind: 'fail', reason: 'PrimaryStays' });
});
