import { describe, expect, test } from 'vitest';
import { read, unmeasured } from '../../../../src/domain/core/verdict.ts';
import { etcdGate, readEtcd } from '../../../../src/domain/node-reboot/gates/etcd.ts';

const spec = { cluster: 'default', members: 3 };
const three = listOf({ name: 'a' }, { name: 'b' }, { name: 'c' });
const well = read({ health: 'true', reason: '' });
/** By the IDs of the members. */
const healthy = { '10': well, '11': well, '12': well };
const timedOut = unmeasured('health of etcd member c', 'c', 'timeout', 'no answer within 2000 ms');

/** As the gateway answers; IDs are 64 bits, which JSON's numbers cannot hold. */
function listOf(...members: readonly Readonly<Record<string, unknown>>[]) {
  const all = members.map((member, index) => ({
    ID: `${10 + index}`,
    clientURLs: [`https://10.0.0.${index}:2379`],
    ...member,
  }));
  return read({ header: { cluster_id: '1', member_id: '2' }, members: all });
}

function gate(members: Parameters<typeof readEtcd>[0], health: Parameters<typeof readEtcd>[1]) {
  return etcdGate(readEtcd(members, health), spec).verdict;
}

describe('etcd', () => {
  test('three healthy members let a node go', () => {
    expect(gate(three, healthy).kind).toBe('pass');
  });

  test('NR-29 two healthy members of three hold the node back', () => {
    const sick = read({ health: 'false', reason: 'RAFT NO LEADER' });
    expect(gate(three, { ...healthy, '12': sick })).toMatchObject({
      kind: 'fail',
      reason: 'EtcdUnhealthy',
      message: 'etcd member c is not healthy',
    });
  });

  test('NR-29 a member list of two of three holds the node back, and so does one of four', () => {
    const two = listOf({ name: 'a' }, { name: 'b' });
    expect(gate(two, healthy)).toMatchObject({ reason: 'EtcdMembers', message: 'etcd has 2 of 3 members' });
    const four = listOf({ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd' });
    expect(gate(four, { ...healthy, '13': well })).toMatchObject({ reason: 'EtcdMembers' });
  });

  test('NR-29 a member that does not answer in time is unmeasured', () => {
    expect(gate(three, { ...healthy, '12': timedOut })).toBe(timedOut);
    expect(gate(timedOut, healthy)).toBe(timedOut);
  });

  test('NR-60 a member that has not joined again, or follows without a vote, keeps the node cordoned', () => {
    const added = listOf({ name: 'a' }, { name: 'b' }, { peerURLs: ['https://10.0.0.3:2380'] });
    expect(gate(added, healthy)).toMatchObject({ kind: 'fail', reason: 'EtcdUnhealthy' });
    const learner = listOf({ name: 'a' }, { name: 'b' }, { name: 'c', isLearner: true });
    expect(gate(learner, healthy)).toMatchObject({ kind: 'fail', reason: 'EtcdUnhealthy' });
  });

  test('NR-29 of two members with one name each is asked: etcd does not keep names apart', () => {
    const twins = listOf({ name: 'a' }, { name: 'b' }, { name: 'a' });
    const dead = read({ health: 'false' });
    expect(gate(twins, healthy).kind).toBe('pass');
    expect(gate(twins, { ...healthy, '12': dead })).toMatchObject({ kind: 'fail', reason: 'EtcdUnhealthy' });
    expect(gate(twins, { '10': well, '11': well })).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(gate(listOf({ name: 'a' }, { name: 'b' }, { name: 'c', ID: undefined }), healthy)).toMatchObject({
      kind: 'unmeasured',
      why: 'unparsed',
    });
  });

  test('an empty list, a member that nobody asked, and an answer of something else are each unmeasured', () => {
    expect(gate(read({ members: [] }), {})).toMatchObject({ kind: 'unmeasured', why: 'empty' });
    expect(gate(three, { '10': well, '11': well })).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(gate(three, { ...healthy, '11': read({ status: 'ok' }) })).toMatchObject({
      kind: 'unmeasured',
      why: 'unparsed',
    });
    expect(gate(read('<html>'), healthy)).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
  });
});
