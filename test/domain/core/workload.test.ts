import { describe, expect, test } from 'vitest';
import {
  currentReplicaSet,
  currentRevisionHash,
  isActive,
  isControlledBy,
  isObserved,
  podsOfCurrentTemplate,
  podsOfOlderTemplates,
  sameTemplate,
} from '../../../src/domain/core/workload.ts';
import type {
  ControllerRevision,
  DaemonSet,
  Deployment,
  Pod,
  PodTemplate,
  ReplicaSet,
  StatefulSet,
} from '../../../src/domain/core/workload.ts';

function template(image: string, hash?: string): PodTemplate {
  return {
    metadata: { labels: { app: 'web', ...(hash === undefined ? {} : { 'pod-template-hash': hash }) } },
    spec: { containers: [{ name: 'web', image }] },
  };
}

const owner = (kind: string, uid: string) => [{ kind, name: kind.toLowerCase(), uid, controller: true }];

function deployment(image: string): Deployment {
  return {
    kind: 'Deployment',
    metadata: { name: 'web', uid: 'd', generation: 2 },
    spec: { replicas: 1, template: template(image) },
    status: { observedGeneration: 2 },
  };
}

function replicaSet(name: string, image: string, uid = name, deploymentUid = 'd'): ReplicaSet {
  return {
    metadata: {
      name,
      uid,
      ownerReferences: owner('Deployment', deploymentUid),
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { template: template(image, name) },
  };
}

function pod(name: string, ownerKind: string, ownerUid: string, more: Partial<Pod['metadata']> = {}): Pod {
  return {
    metadata: { name, uid: name, labels: { app: 'web' }, ownerReferences: owner(ownerKind, ownerUid), ...more },
  };
}

describe('which pods belong to the current template', () => {
  test('H-A13 a crash-looping pod of the previous ReplicaSet is not a pod of the release', () => {
    const crashing: Pod = {
      ...pod('app-old-x', 'ReplicaSet', 'app-old', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      status: {
        phase: 'Running',
        containerStatuses: [
          { name: 'web', ready: false, restartCount: 164, state: { waiting: { reason: 'CrashLoopBackOff' } } },
        ],
      },
    };
    const sets = [replicaSet('app-old', 'app:1'), replicaSet('app-new', 'app:2')];
    const pods = [crashing, pod('app-new-y', 'ReplicaSet', 'app-new')];
    expect(podsOfCurrentTemplate(deployment('app:2'), sets, pods)?.map((p) => p.metadata.name)).toEqual(['app-new-y']);
    // Terminating pods count for neither side.
    expect(podsOfOlderTemplates(deployment('app:2'), sets, pods)).toEqual([]);
  });

  test('H-A13 a terminating pod of the current ReplicaSet does not count either', () => {
    const leaving = pod('app-new-x', 'ReplicaSet', 'app-new', { deletionTimestamp: '2026-01-01T00:00:00Z' });
    const pods = [leaving, pod('app-new-y', 'ReplicaSet', 'app-new')];
    const found = podsOfCurrentTemplate(deployment('app:2'), [replicaSet('app-new', 'app:2')], pods);
    expect(found?.map((p) => p.metadata.name)).toEqual(['app-new-y']);
  });

  test('H-A13 also while the old pod is not terminating yet, and when the rollout went back', () => {
    const sets = [replicaSet('app-old', 'app:1'), replicaSet('app-new', 'app:2')];
    const pods = [pod('app-old-x', 'ReplicaSet', 'app-old'), pod('app-new-y', 'ReplicaSet', 'app-new')];
    expect(podsOfCurrentTemplate(deployment('app:2'), sets, pods)?.map((p) => p.metadata.name)).toEqual(['app-new-y']);
    expect(podsOfOlderTemplates(deployment('app:2'), sets, pods).map((p) => p.metadata.name)).toEqual(['app-old-x']);
    expect(podsOfCurrentTemplate(deployment('app:1'), sets, pods)?.map((p) => p.metadata.name)).toEqual(['app-old-x']);
  });

  test('before the controller has made the ReplicaSet nothing is said of its pods', () => {
    const pods = [pod('app-old-x', 'ReplicaSet', 'app-old')];
    expect(podsOfCurrentTemplate(deployment('app:2'), [replicaSet('app-old', 'app:1')], pods)).toBeNull();
    expect(podsOfOlderTemplates(deployment('app:2'), [replicaSet('app-old', 'app:1')], pods)).toHaveLength(1);
  });

  test('a ReplicaSet of the same template that another Deployment owns is not ours', () => {
    expect(currentReplicaSet(deployment('app:2'), [replicaSet('other', 'app:2', 'other', 'another')])).toBeNull();
    const orphan = { ...replicaSet('orphan', 'app:2'), metadata: { name: 'orphan', uid: 'orphan' } };
    expect(currentReplicaSet(deployment('app:2'), [orphan])).toBeNull();
    const shared = replicaSet('shared', 'app:2');
    const notController = shared.metadata.ownerReferences?.map((o) => ({ ...o, controller: false })) ?? [];
    expect(
      currentReplicaSet(deployment('app:2'), [
        { ...shared, metadata: { ...shared.metadata, ownerReferences: notController } },
      ]),
    ).toBeNull();
  });

  test('of two ReplicaSets with the template the oldest counts, as the controller has it', () => {
    const young = replicaSet('a-young', 'app:2');
    const old = {
      ...replicaSet('z-old', 'app:2'),
      metadata: { ...replicaSet('z-old', 'app:2').metadata, creationTimestamp: '2025-01-01T00:00:00Z' },
    };
    expect(currentReplicaSet(deployment('app:2'), [young, old])?.metadata.name).toBe('z-old');
  });

  test('a pod with the right labels but no owner is nobody’s', () => {
    const stray: Pod = {
      metadata: { name: 'stray', uid: 'stray', labels: { app: 'web', 'pod-template-hash': 'app-new' } },
    };
    expect(podsOfCurrentTemplate(deployment('app:2'), [replicaSet('app-new', 'app:2')], [stray])).toEqual([]);
  });

  test('an evicted pod is still told, but is not active', () => {
    const evicted: Pod = { ...pod('gone', 'ReplicaSet', 'app-new'), status: { phase: 'Failed', reason: 'Evicted' } };
    const found = podsOfCurrentTemplate(deployment('app:2'), [replicaSet('app-new', 'app:2')], [evicted]);
    expect(found).toHaveLength(1);
    expect(found?.filter(isActive)).toEqual([]);
  });

  test('a StatefulSet tells its current revision, once it has seen the newest spec', () => {
    const set: StatefulSet = {
      kind: 'StatefulSet',
      metadata: { name: 'db', uid: 's', generation: 3 },
      spec: { template: template('db:2') },
      status: { observedGeneration: 3, currentRevision: 'db-1', updateRevision: 'db-2' },
    };
    const pods = [
      pod('db-0', 'StatefulSet', 's', { labels: { 'controller-revision-hash': 'db-1' } }),
      pod('db-1', 'StatefulSet', 's', { labels: { 'controller-revision-hash': 'db-2' } }),
    ];
    expect(podsOfCurrentTemplate(set, [], pods)?.map((p) => p.metadata.name)).toEqual(['db-1']);
    expect(podsOfOlderTemplates(set, [], pods).map((p) => p.metadata.name)).toEqual(['db-0']);
    const stale: StatefulSet = { ...set, metadata: { ...set.metadata, generation: 4 } };
    expect(isObserved(stale)).toBe(false);
    expect(podsOfCurrentTemplate(stale, [], pods)).toBeNull();
  });

  test('a DaemonSet’s current revision is the newest that it owns', () => {
    const set: DaemonSet = {
      kind: 'DaemonSet',
      metadata: { name: 'agent', uid: 'ds', generation: 1 },
      spec: { template: template('agent:2') },
      status: { observedGeneration: 1 },
    };
    const revision = (hash: string, number: number, uid: string): ControllerRevision => ({
      metadata: {
        name: `agent-${hash}`,
        uid: hash,
        labels: { 'controller-revision-hash': hash },
        ownerReferences: owner('DaemonSet', uid),
      },
      revision: number,
    });
    const revisions = [revision('aaa', 9, 'ds'), revision('bbb', 10, 'ds'), revision('ccc', 99, 'other')];
    expect(currentRevisionHash(set, revisions)).toBe('bbb');
    const pods = [
      pod('agent-1', 'DaemonSet', 'ds', { labels: { 'controller-revision-hash': 'aaa' } }),
      pod('agent-2', 'DaemonSet', 'ds', { labels: { 'controller-revision-hash': 'bbb' } }),
    ];
    expect(podsOfCurrentTemplate(set, revisions, pods)?.map((p) => p.metadata.name)).toEqual(['agent-2']);
    expect(podsOfCurrentTemplate(set, [], pods)).toBeNull();
  });
});

describe('whether two templates are the same', () => {
  test('the hash label, the order of keys and how absence is written do not matter', () => {
    const written = {
      spec: { containers: [{ image: 'a', name: 'web' }], initContainers: [] },
      metadata: { labels: { 'pod-template-hash': 'x', app: 'web' }, creationTimestamp: null },
    };
    expect(sameTemplate(template('a'), written as unknown as PodTemplate)).toBe(true);
  });

  test('an image, a label, an annotation, the order of containers and an empty volume do', () => {
    const base = template('a');
    expect(sameTemplate(base, template('b'))).toBe(false);
    expect(sameTemplate(base, { ...base, metadata: { labels: { app: 'api' } } })).toBe(false);
    expect(sameTemplate(base, { ...base, metadata: { ...base.metadata, annotations: { restartedAt: 'now' } } })).toBe(
      false,
    );
    const two = (names: string[]): PodTemplate => ({
      spec: { containers: names.map((name) => ({ name, image: 'a' })) },
    });
    expect(sameTemplate(two(['a', 'b']), two(['b', 'a']))).toBe(false);
    const volume = (source: object) => ({ ...base, spec: { ...base.spec, volumes: [{ name: 'tmp', ...source }] } });
    expect(sameTemplate(volume({ emptyDir: {} }), volume({ hostPath: {} }))).toBe(false);
  });
});

describe('what belongs to a workload', () => {
  test('is what exactly it controls, by uid, among any other owners', () => {
    const owned = (...owners: { uid: string; controller?: boolean }[]) => ({
      metadata: { name: 'x', ownerReferences: owners.map((o) => ({ kind: 'ReplicaSet', name: 'web', ...o })) },
    });
    const ours = { uid: 'u1', controller: true };
    expect(isControlledBy(owned(ours), 'u1')).toBe(true);
    expect(isControlledBy(owned({ uid: 'u2' }, ours), 'u1')).toBe(true);
    expect(isControlledBy(owned({ uid: 'u1' }), 'u1')).toBe(false);
    expect(isControlledBy(owned({ uid: 'u2', controller: true }), 'u1')).toBe(false);
    expect(isControlledBy({ metadata: { name: 'x' } }, 'u1')).toBe(false);
    expect(isControlledBy(owned(ours), undefined)).toBe(false);
  });

  test('counts as long as it is neither on its way out nor over', () => {
    const pod = (phase: string, metadata = {}): Pod => ({
      metadata: { name: 'x', ...metadata },
      spec: { containers: [] },
      status: { phase },
    });
    expect(['Pending', 'Running', 'Succeeded', 'Failed'].map((phase) => isActive(pod(phase)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(isActive(pod('Running', { deletionTimestamp: '2026-03-02T12:00:00Z' }))).toBe(false);
  });
});

test('a status is believed once the controller has seen the newest spec', () => {
  const seen = (generation: number | undefined, observedGeneration: number | undefined) =>
    isObserved({
      ...deployment('a'),
      metadata: { name: 'web', ...(generation === undefined ? {} : { generation }) },
      status: observedGeneration === undefined ? {} : { observedGeneration },
    });
  expect(seen(2, 2)).toBe(true);
  expect(seen(2, 3)).toBe(true);
  expect(seen(2, 1)).toBe(false);
  expect(seen(undefined, 1)).toBe(false);
  expect(seen(2, undefined)).toBe(false);
});
