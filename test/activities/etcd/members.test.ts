import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEtcd } from '../../../src/activities/etcd/create.ts';
import { readEtcdMembers } from '../../../src/activities/node-reboot/etcd-members.ts';
import { etcdGate } from '../../../src/domain/node-reboot/gates/etcd.ts';
import { startLab, type Lab } from '../../lab/lab.ts';
import { etcdClusterOf, type EtcdCluster } from '../../lab/parts/etcd-cluster.ts';
import { waitFor } from '../../lab/wait.ts';

let lab: Lab;
let cluster: EtcdCluster;

beforeAll(async () => {
  lab = await startLab({ parts: [], log: () => {} });
  cluster = await etcdClusterOf(lab.env, () => {});
});

afterAll(() => lab.stop());

async function verdict(endpoints: readonly string[] = Object.values(cluster.urls), members = 3) {
  const facts = await readEtcdMembers(createEtcd({ endpoints }), { timeoutMs: 3_000 });
  return etcdGate(facts, { cluster: 'default', members }).verdict;
}

test('three members that are healthy pass, asked at whichever endpoint answers', async () => {
  expect((await verdict()).kind).toBe('pass');
  const gone = 'http://127.0.0.1:1';
  expect((await verdict([gone, cluster.urls['etcd-3']])).kind).toBe('pass');
  expect(await verdict([gone])).toMatchObject({ kind: 'unmeasured', why: 'unreachable' });
});

test('another number than the spec says does not pass', async () => {
  expect(await verdict(undefined, 5)).toMatchObject({ kind: 'fail', reason: 'EtcdMembers' });
});

test('NR-29 NR-60 one member that is away is no pass, and passes again once it has rejoined', async () => {
  await lab.kill('etcd-2');
  const without = await verdict();
  expect(without.kind).not.toBe('pass');
  expect(without.kind === 'pass' ? '' : without.message).toContain('etcd');
  await lab.start('etcd-2');
  await waitFor('all are healthy', async () => (await verdict()).kind === 'pass');
});

test('a member that lost its quorum says itself that it is not healthy', async () => {
  for (const member of ['etcd-1', 'etcd-2']) await lab.kill(member);
  await waitFor('the last one notices', async () => {
    const etcd = createEtcd({ endpoints: [cluster.urls['etcd-3']] });
    const health = await etcd.health(cluster.urls['etcd-3'], { timeoutMs: 5_000 });
    return health.kind === 'read' && (health.value as { health: string }).health === 'false';
  });
  for (const member of ['etcd-1', 'etcd-2']) await lab.start(member);
});

test('NR-29 an answer that takes too long, or is none of etcd, is unmeasured', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/v3/cluster/member/list') response.end('<html>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const etcd = createEtcd({ endpoints: [url] });
  expect(await etcd.members({ timeoutMs: 1_000 })).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
  expect(await etcd.health(url, { timeoutMs: 300 })).toMatchObject({ kind: 'unmeasured', why: 'timeout' });
  server.closeAllConnections();
  server.close();
});
