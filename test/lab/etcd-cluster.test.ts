import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLab, type Lab } from './lab.ts';
import { etcdClusterOf, ETCD_MEMBERS, type EtcdCluster, type EtcdMember } from './parts/etcd-cluster.ts';
import { waitFor } from './wait.ts';

const quiet = () => {};

describe('a cluster of three etcd members', () => {
  let lab: Lab;
  let cluster: EtcdCluster;

  beforeAll(async () => {
    lab = await startLab({ parts: [], log: quiet });
    cluster = await etcdClusterOf(lab.env, quiet);
  });

  afterAll(() => lab.stop());

  test('is healthy at every member, and each lists all three', async () => {
    for (const member of ETCD_MEMBERS) {
      expect(await healthOf(member)).toBe('true');
      expect(await membersSeenBy(member)).toEqual([...ETCD_MEMBERS]);
    }
  });

  test('goes on with two members, and takes the third back', async () => {
    await lab.kill('etcd-2');
    await expect(healthOf('etcd-2')).rejects.toThrow('fetch failed');
    await waitFor('the others have a leader', async () => (await healthOf('etcd-1')) === 'true');
    expect(await membersSeenBy('etcd-1')).toEqual([...ETCD_MEMBERS]);
    await lab.start('etcd-2');
    expect(await healthOf('etcd-2')).toBe('true');
  });

  test('is unhealthy at the member that is left alone', async () => {
    await lab.kill('etcd-1');
    await lab.kill('etcd-2');
    await waitFor('the last member is unhealthy', async () => (await healthOf('etcd-3')) === 'false');
    await Promise.all([lab.start('etcd-1'), lab.start('etcd-2')]);
    await waitFor('the last member is healthy again', async () => (await healthOf('etcd-3')) === 'true');
  });

  test('is the same one when it is asked for again', async () => {
    expect(await etcdClusterOf(lab.env, quiet)).toEqual(cluster);
  });

  async function healthOf(member: EtcdMember): Promise<string> {
    const response = await fetch(`${cluster.urls[member]}/health`);
    return ((await response.json()) as { health: string }).health;
  }

  async function membersSeenBy(member: EtcdMember): Promise<string[]> {
    const response = await fetch(`${cluster.urls[member]}/v3/cluster/member/list`, { method: 'POST', body: '{}' });
    const { members } = (await response.json()) as { members: { name: string }[] };
    return members.map(({ name }) => name).toSorted();
  }
});
