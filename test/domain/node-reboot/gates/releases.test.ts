import { describe, expect, test } from 'vitest';
import { read, unmeasured } from '../../../../src/domain/core/verdict.ts';
import { readReleases, releasesGate } from '../../../../src/domain/node-reboot/gates/releases.ts';
import { annotationNames } from '../../../../src/domain/release/marks.ts';
import { podObject } from '../pod-object.ts';

const image = 'example.com/web@sha256:aaaa';
const older = 'example.com/web@sha256:bbbb';
const settled = {
  [annotationNames.managedBy]: 'release/shop',
  [annotationNames.applied]: image,
  [annotationNames.passed]: image,
};

function deployment(annotations: Readonly<Record<string, string>>, status: object = {}) {
  return {
    kind: 'Deployment',
    metadata: { namespace: 'shop', name: 'web', uid: 'deployment', generation: 4, annotations },
    spec: { replicas: 2 },
    status: { observedGeneration: 4, replicas: 2, updatedReplicas: 2, ...status },
  };
}

const sets = read([
  { metadata: { uid: 'set', ownerReferences: [{ uid: 'deployment', controller: true }] } },
  { metadata: { uid: 'lone' } },
]);
const here = podObject({ name: 'web-1', owner: { kind: 'ReplicaSet', uid: 'set' } });

function gate(workload: object, pods: readonly object[] = [here]) {
  return releasesGate(readReleases(read([workload]), sets, read(pods))).verdict;
}

describe('releases', () => {
  test('a release that is at rest lets a node go', () => {
    expect(gate(deployment(settled)).kind).toBe('pass');
  });

  test('one whose image has not passed yet, or passed as another one, holds the node back', () => {
    for (const passed of [older, '']) {
      expect(gate(deployment({ ...settled, [annotationNames.passed]: passed }))).toMatchObject({
        kind: 'fail',
        reason: 'ReleaseUnderWay',
        message: 'Deployment shop/web of release/shop is soaking',
      });
    }
  });

  test('one whose pods are not all new holds the node back, a rollback too', () => {
    const back = { ...settled, [annotationNames.passed]: older, [annotationNames.rolledBackFrom]: image };
    expect(gate(deployment(back)).kind).toBe('pass');
    for (const status of [{ updatedReplicas: 1 }, { replicas: 3 }, { observedGeneration: 3 }]) {
      expect(gate(deployment(back, status))).toMatchObject({
        message: 'Deployment shop/web of release/shop is rolling',
      });
    }
  });

  test('one that runs on other nodes only, or a workload of no release, does not matter', () => {
    const soaking = { ...settled, [annotationNames.passed]: older };
    expect(gate(deployment(soaking), []).kind).toBe('pass');
    const leaving = podObject({ name: 'web-1', terminating: true, owner: { kind: 'ReplicaSet', uid: 'set' } });
    expect(gate(deployment(soaking), [leaving]).kind).toBe('pass');
    const lone = podObject({ name: 'lone-1', owner: { kind: 'ReplicaSet', uid: 'lone' } });
    expect(gate(deployment(soaking), [lone, podObject({ name: 'bare' })]).kind).toBe('pass');
    expect(gate(deployment({}, { updatedReplicas: 0 })).kind).toBe('pass');
  });

  test('a DaemonSet is told by its pods as well', () => {
    const agents = {
      kind: 'DaemonSet',
      metadata: { namespace: 'shop', name: 'agent', uid: 'agents', generation: 1, annotations: settled },
      spec: {},
      status: { observedGeneration: 1, desiredNumberScheduled: 3, updatedNumberScheduled: 2 },
    };
    const pod = podObject({ name: 'agent-1', owner: { kind: 'DaemonSet', uid: 'agents' } });
    expect(gate(agents, [pod])).toMatchObject({ message: 'DaemonSet shop/agent of release/shop is rolling' });
  });

  test('a way to the workload that is not there, marks that cannot be read, and a denied list are unmeasured', () => {
    const stray = podObject({ name: 'stray', owner: { kind: 'ReplicaSet', uid: 'gone' } });
    expect(gate(deployment(settled), [stray])).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    const garbled = deployment({ ...settled, [annotationNames.blocked]: '{' });
    expect(gate(garbled)).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    const denied = unmeasured('workloads', 'API server', 'denied', 'forbidden');
    expect(releasesGate(readReleases(denied, sets, read([here]))).verdict).toBe(denied);
  });
});
