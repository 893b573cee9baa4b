import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubeObject, KubernetesClient } from '../../../src/activities/kubernetes/port.ts';
import { createNodeRebootActivities } from '../../../src/activities/node-reboot/create.ts';
import { cordonMark, lockName } from '../../../src/domain/node-reboot/by-hand.ts';
import { lockData } from '../../../src/domain/node-reboot/lock.ts';
import { startApiServer, type ApiServerDouble } from '../../doubles/api-server.ts';
import { Campaign, NOW, spec } from '../../domain/node-reboot/world.ts';

let server: ApiServerDouble;
let port: KubernetesClient;
const ref = { apiVersion: 'v1', kind: 'ConfigMap', ...lockName };

beforeEach(async () => {
  server = await startApiServer({});
  port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig() });
});

afterEach(async () => {
  await port.close();
  await server.stop();
});

const activities = () =>
  createNodeRebootActivities({
    ...{ kubernetes: () => port, prometheus: () => null, etcd: () => null, hostImage: 'busybox' },
    holderRun: () => Promise.resolve('running'),
  });

/** A node that has failed its checks: the lock as it was, and the record that says so. */
function noting() {
  const campaign = new Campaign().at('Checking', { rebootAt: NOW, bootedAs: 'n1-boot-2' });
  const checking = campaign.next();
  if (checking.do !== 'checkNode') throw new Error(checking.do);
  const verdict = { kind: 'fail', reason: 'MemoryLost', message: 'n1 has 16 % of its memory' } as const;
  campaign.take({ of: 'checkNode', verdict, kernel: '6.14' });
  const [record] = campaign.noted;
  if (record === undefined) throw new Error('nothing is noted');
  return { before: lockData(checking.record), record };
}

/** What the lock says afterwards. @param held what it said before */
async function noted(held: (checking: Record<string, string>) => Record<string, string>) {
  const { before, record } = noting();
  const lock = { ...ref, metadata: lockName, data: held(before) };
  expect(await port.create(lock, { fieldManager: 'test' })).toMatchObject({ kind: 'written' });
  const answer: unknown = await new MockActivityEnvironment().run(() =>
    activities().noteStop({ spec: spec(), record, deadline: Date.now() + 20_000 }),
  );
  const found = await port.get<KubeObject & { readonly data?: Record<string, string> }>(ref, {});
  return { answer, data: found.kind === 'read' ? (found.value.data ?? {}) : null };
}

test('the lock of a node that failed its checks says so, and how it is given back all the same', async () => {
  const { answer, data } = await noted((checking) => checking);
  expect(answer).toEqual({ of: 'noteStop', written: true });
  expect(data?.['reason']).toBe('MemoryLost: n1 has 16 % of its memory');
  expect(data?.['undo']).toMatch(/"\$AS_IT_IS" = n1 .*MemoryLost/);
  expect(data?.['undo']).toContain(`${cordonMark}-`);
});

test('a lock that somebody has released by then stays free', async () => {
  const { answer, data } = await noted(() => ({}));
  expect(answer).toMatchObject({ of: 'lockLost' });
  expect(data).toEqual({});
});

test('a lock that cannot be written in time is left, so that people are told', async () => {
  const { record } = noting();
  await server.stop();
  const answer: unknown = await new MockActivityEnvironment().run(() =>
    activities().noteStop({ spec: spec(), record, deadline: Date.now() + 200 }),
  );
  expect(answer).toEqual({ of: 'noteStop', written: false });
});
