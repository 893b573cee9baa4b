import { expect, test } from 'vitest';
import type { EtcdPort } from '../../../src/activities/etcd/port.ts';
import { readEtcdMembers } from '../../../src/activities/node-reboot/etcd-members.ts';
import { read } from '../../../src/domain/core/verdict.ts';
import { etcdGate } from '../../../src/domain/node-reboot/gates/etcd.ts';

/** An etcd whose members are reached at the given URLs, of which some are healthy. */
async function gate(members: readonly (readonly [name: string, url: string])[], healthy: readonly string[]) {
  const list = members.map(([name, url], index) => ({ ID: `${index + 1}`, name, clientURLs: [url] }));
  const port: EtcdPort = {
    members: () => Promise.resolve(read({ members: list })),
    health: (url) => Promise.resolve(read({ health: `${healthy.includes(url)}` })),
  };
  const facts = await readEtcdMembers(port, { timeoutMs: 1_000 });
  return etcdGate(facts, { cluster: 'default', members: members.length }).verdict;
}

test('each member is asked, also where two have one name', async () => {
  const members = [['a', 'https://a1'] as const, ['b', 'https://b'] as const, ['a', 'https://a2'] as const];
  expect((await gate(members, ['https://a1', 'https://b', 'https://a2'])).kind).toBe('pass');
  expect(await gate(members, ['https://b', 'https://a2'])).toMatchObject({ kind: 'fail', reason: 'EtcdUnhealthy' });
  expect(await gate(members, ['https://a1', 'https://b'])).toMatchObject({ kind: 'fail', reason: 'EtcdUnhealthy' });
});

test('two members at one address are unmeasured: nobody can say which of them answers', async () => {
  const members = [['a', 'https://etcd'] as const, ['b', 'https://etcd'] as const, ['c', 'https://c'] as const];
  expect(await gate(members, ['https://etcd', 'https://c'])).toMatchObject({
    kind: 'unmeasured',
    message: expect.stringContaining('etcd members a and b name the same client URL') as string,
  });
});
