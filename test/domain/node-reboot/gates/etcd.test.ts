import { describe, expect, test } from 'vitest';
import { read, unmeasured } from '../../../../src/domain/core/verdict.ts';
import { etcdGate, readEtcd } from '../../../../src/domain/node-reboot/gates/etcd.ts';

const spec = { cluster: 'default', members: 3 };
const three = read({
  header: { cluster_id: '1', member_id: '2' },
  members: ['a', 'b', 'c'].map((name, index) => ({
    ID: `${index}`,
    name,
    clientURLs: [`https://10.0.0.${index}:2379`],
  })),
});
const well = read({ health: 'true', reason: '' });
const healthy = { a: well, b: well, c: well };
const timedOut = unmeasured('health of etcd member c', 'c', 'timeout', 'no answer within 2000 ms');

function gate(members: Parameters<typeof readEtcd>[0], health: Parameters<typeof readEtcd>[1]) {
  return etcdGate(readEtcd(members, health), spec).verdict;
}

describe('etcd', () => {
  test('three healthy members let a node go', () => {
    expect(gate(three, healthy).kind).toBe('pass');
  });

  test('NR-29 two healthy members of three hold the node back', () => {
    const sick = read({ health: 'false', reason: 'RAFT NO LEADER' });
    expect(gate(three, { ...healthy, c: sick })).toMatchObject({
      kind: 'fail',
      reason: 'EtcdUnhealthy',
      message: 'etcd member c is not healthy',
    });
  });

  test('NR-29 a member list of two of three holds the node back, and so does one of four', () => {
    const two = read({ members: [{ name: 'a' }, { name: 'b' }] });
    expect(gate(two, healthy)).toMatchObject({ reason: 'EtcdMembers', message: 'etcd has 2 of 3 members' });
    const four = read({ members: ['a', 'b', 'c', 'd'].map((name) => ({ name })) });
    expect(gate(four, { ...healthy, d: well })).toMatchObject({ reason: 'EtcdMembers' });
  });

  test('NR-29 a member that does not answer in time is unmeasured', () => {
    expect(gate(three, { ...healthy, c: timedOut })).toBe(timedOut);
    expect(gate(timedOut, healthy)).toBe(timedOut);
  });

  test('NR-60 a member that has not joined again, or follows without a vote, keeps the node cordoned', () => {
    const added = read({ members: [{ name: 'a' }, { name: 'b' }, { peerURLs: ['https://10.0.0.3:2380'] }] });
    expect(gate(added, healthy)).toMatchObject({ kind: 'fail', reason: 'EtcdUnhealthy' });
    const learner = read({ members: [{ name: 'a' }, { name: 'b' }, { name: 'c', isLearner: true }] });
    expect(gate(learner, healthy)).toMatchObject({ kind: 'fail', reason: 'EtcdUnhealthy' });
  });

  test('an empty list, a member that nobody asked, and an answer of something else are each unmeasured', () => {
    expect(gate(read({ members: [] }), {})).toMatchObject({ kind: 'unmeasured', why: 'empty' });
    expect(gate(three, { a: well, b: well })).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(gate(three, { ...healthy, b: read({ status: 'ok' }) })).toMatchObject({
      kind: 'unmeasured',
      why: 'unparsed',
    });
    expect(gate(read('<html>'), healthy)).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
  });
});
