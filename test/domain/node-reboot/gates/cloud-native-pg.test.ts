import { describe, expect, test } from 'vitest';
import { read, unmeasured } from '../../../../src/domain/core/verdict.ts';
import type { GateStage } from '../../../../src/domain/node-reboot/gate.ts';
import {
  cloudNativePgGate,
  primariesOn,
  readCloudNativePg,
} from '../../../../src/domain/node-reboot/gates/cloud-native-pg.ts';
import type { NodeReading } from '../../../../src/domain/node-reboot/node.ts';
import { podObject, type PodTerms } from '../pod-object.ts';
import { node } from '../world.ts';

const nodes = ['node-1', 'node-2', 'node-3'].map((name) => node(name));

function cluster(changes: object = {}) {
  const status = { readyInstances: 3, currentPrimary: 'pg-1', targetPrimary: 'pg-1' };
  return {
    metadata: { namespace: 'db', name: 'pg', resourceVersion: '7' },
    spec: { instances: 3 },
    status: { ...status, instanceNames: ['pg-1', 'pg-2', 'pg-3'], ...changes },
  };
}

function pod(name: string, on: string, changes: Partial<PodTerms> = {}) {
  return podObject({ namespace: 'db', name, node: on, labels: { 'cnpg.io/cluster': 'pg' }, ...changes });
}

const pods = [pod('pg-1', 'node-1'), pod('pg-2', 'node-2'), pod('pg-3', 'node-3')];

function gate(
  one = cluster(),
  instances: readonly object[] = pods,
  stage: GateStage = 'before',
  all: readonly NodeReading[] = nodes,
) {
  const facts = readCloudNativePg(read([one]), read(instances));
  return cloudNativePgGate(facts, { clusters: 1 }, read(all), 'node-1', stage).verdict;
}

describe('database clusters', () => {
  test('all instances ready, and a replica on another node, let a node go', () => {
    expect(gate().kind).toBe('pass');
  });

  test('NR-34 a replica that is not ready holds the node back', () => {
    expect(gate(cluster({ readyInstances: 2 }))).toMatchObject({
      kind: 'fail',
      reason: 'InstancesNotReady',
      message: 'db/pg has 2 of 3 instances ready',
    });
  });

  test('NR-34 a primary whose only candidate is on a cordoned node holds the node back', () => {
    const two = cluster({ instanceNames: ['pg-1', 'pg-2'] });
    const cordoned = [nodes[0], node('node-2', { unschedulable: true }), nodes[2]].flatMap((one) => one ?? []);
    expect(gate(two, pods, 'before', cordoned)).toMatchObject({ kind: 'fail', reason: 'NoReplicaElsewhere' });
    const notReady = [nodes[0], node('node-2', { ready: false }), nodes[2]].flatMap((one) => one ?? []);
    expect(gate(two, pods, 'before', notReady)).toMatchObject({ kind: 'fail', reason: 'NoReplicaElsewhere' });
  });

  test('NR-34 candidates on the node itself, not ready, leaving, or of another kind are none', () => {
    const others = [
      pod('pg-1', 'node-1'),
      pod('pg-2', 'node-1'),
      pod('pg-3', 'node-3', { ready: false }),
      pod('pg-4', 'node-3', { terminating: true }),
      pod('pg-pooler-1', 'node-2'),
    ];
    const four = cluster({ instanceNames: ['pg-1', 'pg-2', 'pg-3', 'pg-4'] });
    expect(gate(four, others)).toMatchObject({ kind: 'fail', reason: 'NoReplicaElsewhere' });
  });

  test('a primary on another node needs no candidate, and one that moves holds the node back', () => {
    const alone = cluster({ currentPrimary: 'pg-2', targetPrimary: 'pg-2', instanceNames: ['pg-1', 'pg-2'] });
    expect(gate(alone, pods.slice(0, 2)).kind).toBe('pass');
    expect(gate(cluster({ targetPrimary: 'pg-2' }))).toMatchObject({ reason: 'PrimaryMoves' });
    expect(gate(cluster({ currentPrimary: '', targetPrimary: 'pg-1' }))).toMatchObject({ reason: 'PrimaryMoves' });
  });

  test('after the drain an instance of the node may be missing, and the primary must be ready elsewhere', () => {
    const moved = cluster({ readyInstances: 2, currentPrimary: 'pg-2', targetPrimary: 'pg-2' });
    expect(gate(moved, pods.slice(1), 'last').kind).toBe('pass');
    expect(gate(moved, pods.slice(1), 'after').kind).toBe('fail');
    expect(gate(cluster(), pods, 'last')).toMatchObject({ reason: 'PrimaryStays' });
    const sick = [pod('pg-2', 'node-2', { ready: false })];
    expect(gate(moved, sick, 'last')).toMatchObject({ reason: 'PrimaryNotReady' });
  });

  test('NR-35 the primaries on a node are known, with the replica that can be promoted', () => {
    const facts = readCloudNativePg(read([cluster()]), read(pods));
    expect(primariesOn(facts, read(nodes), 'node-1')).toEqual(
      read([{ cluster: 'db/pg', pod: 'pg-1', moving: false, successor: 'pg-2', version: '7' }]),
    );
    expect(primariesOn(facts, read(nodes), 'node-2')).toEqual(read([]));
  });

  test('NR-35 a primary counts as there until another one is, and where none can take over nobody is named', () => {
    const moving = readCloudNativePg(read([cluster({ targetPrimary: 'pg-3' })]), read(pods.slice(0, 1)));
    expect(primariesOn(moving, read(nodes), 'node-1')).toEqual(
      read([{ cluster: 'db/pg', pod: 'pg-1', moving: true, successor: null, version: '7' }]),
    );
    const late = unmeasured('clusters', 'API server', 'timeout', 'no answer');
    expect(primariesOn(readCloudNativePg(late, read(pods)), read(nodes), 'node-1')).toBe(late);
  });

  test('no clusters at all is unmeasured, one of two a failure, and what was denied stays denied', () => {
    const none = readCloudNativePg(read([]), read([]));
    const spec = { clusters: 2 };
    expect(cloudNativePgGate(none, spec, read(nodes), 'node-1', 'before').verdict).toMatchObject({ why: 'empty' });
    const one = readCloudNativePg(read([cluster()]), read(pods));
    expect(cloudNativePgGate(one, spec, read(nodes), 'node-1', 'before').verdict).toMatchObject({
      reason: 'DatabasesMissing',
    });
    const denied = unmeasured('pods', 'API server', 'denied', 'forbidden');
    const blind = readCloudNativePg(read([cluster()]), denied);
    expect(cloudNativePgGate(blind, spec, read(nodes), 'node-1', 'before').verdict).toBe(denied);
    expect(cloudNativePgGate(one, spec, denied, 'node-1', 'before').verdict).toBe(denied);
  });
});
