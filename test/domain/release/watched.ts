import type {
  ContainerStatus,
  DaemonSet,
  Deployment,
  Pod,
  ReplicaSet,
  StatefulSet,
} from '../../../src/domain/core/workload.ts';
import type { TargetAddress } from '../../../src/domain/release/address.ts';
import type { RolloutMoment, WatchedTarget } from '../../../src/domain/release/judge-rollout.ts';
import { image, NOW } from './world.ts';

/** A Deployment `shop/web` that rolls from OLD to NEW, as its watches tell it, for tests of what is made of that. */

export const OLD = image('v6-latest', 'a0');
export const NEW = image('v6-latest', 'b1');
export const SIDECAR = 'registry.example.com/mesh/proxy:v1';
export const MINUTE = 60_000;

export const address: TargetAddress = {
  name: 'web',
  cluster: 'default',
  namespace: 'shop',
  kind: 'Deployment',
  workload: 'web',
  container: 'app',
};

const controller = (kind: string, uid: string) => [{ kind, name: uid, uid, controller: true }];

function template(of: string) {
  return {
    metadata: { labels: { app: 'web' } },
    spec: {
      initContainers: [{ name: 'init', image: of }],
      containers: [
        { name: 'app', image: of },
        { name: 'proxy', image: SIDECAR },
      ],
    },
  };
}

export function deployment(replicas = 1, overrides: Partial<Deployment> = {}): Deployment {
  return {
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop', uid: 'web', generation: 9 },
    spec: { replicas, template: template(NEW) },
    status: {
      observedGeneration: 9,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
    },
    ...overrides,
  };
}

export function statefulSet(replicas = 1, status: StatefulSet['status'] = {}): StatefulSet {
  return {
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'shop', uid: 'web', generation: 9 },
    spec: { replicas, template: template(NEW) },
    status: {
      observedGeneration: 9,
      replicas,
      updatedReplicas: replicas,
      availableReplicas: replicas,
      updateRevision: 'web-new',
      ...status,
    },
  };
}

export function daemonSet(status: DaemonSet['status'] = {}): DaemonSet {
  return {
    kind: 'DaemonSet',
    metadata: { name: 'web', namespace: 'shop', uid: 'web', generation: 9 },
    spec: { template: template(NEW) },
    status: {
      observedGeneration: 9,
      desiredNumberScheduled: 1,
      currentNumberScheduled: 1,
      updatedNumberScheduled: 1,
      numberAvailable: 1,
      ...status,
    },
  };
}

const replicaSets: ReplicaSet[] = [
  {
    metadata: { name: 'web-old', uid: 'web-old', ownerReferences: controller('Deployment', 'web') },
    spec: { template: template(OLD) },
  },
  {
    metadata: { name: 'web-new', uid: 'web-new', ownerReferences: controller('Deployment', 'web') },
    spec: { template: template(NEW) },
  },
];

export const revision = {
  metadata: {
    name: 'web-new',
    uid: 'revision',
    labels: { 'controller-revision-hash': 'web-new' },
    ownerReferences: controller('DaemonSet', 'web'),
  },
  revision: 2,
};

/** A pod of the new template, with all its containers running and ready. */
export function pod(name = 'web-new-y', overrides: Partial<Pod> = {}): Pod {
  return {
    metadata: { name, namespace: 'shop', uid: name, ownerReferences: controller('ReplicaSet', 'web-new') },
    spec: { ...template(NEW).spec, nodeName: 'node-1' },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      initContainerStatuses: [status('init', { state: { terminated: { exitCode: 0, reason: 'Completed' } } })],
      containerStatuses: [status('app'), status('proxy')],
    },
    ...overrides,
  };
}

/** A pod of the new template that is not ready, with these statuses. */
export function unready(
  statuses: readonly ContainerStatus[],
  more: {
    name?: string;
    init?: readonly ContainerStatus[];
    conditions?: NonNullable<Pod['status']>['conditions'];
  } = {},
): Pod {
  return pod(more.name ?? 'web-new-y', {
    status: {
      phase: 'Pending',
      conditions: more.conditions ?? [
        { type: 'Ready', status: 'False', message: 'containers with unready status: [app]' },
      ],
      initContainerStatuses: [...(more.init ?? [])],
      containerStatuses: [...statuses],
    },
  });
}

/** A pod of the template before. */
export function oldPod(name = 'web-old-x', overrides: Partial<Pod> = {}): Pod {
  const of = pod(name, overrides);
  return { ...of, metadata: { ...of.metadata, ownerReferences: controller('ReplicaSet', 'web-old') } };
}

/** A pod of a StatefulSet or DaemonSet. */
export function ownedPod(of: Pod, kind: 'StatefulSet' | 'DaemonSet', hash: string): Pod {
  return {
    ...of,
    metadata: {
      ...of.metadata,
      labels: { 'controller-revision-hash': hash },
      ownerReferences: controller(kind, 'web'),
    },
  };
}

export function status(name: string, overrides: Partial<ContainerStatus> = {}): ContainerStatus {
  return { name, ready: true, restartCount: 0, state: { running: { startedAt: iso(NOW) } }, ...overrides };
}

export function waitingFor(name: string, reason: string, overrides: Partial<ContainerStatus> = {}): ContainerStatus {
  return status(name, { ready: false, state: { waiting: { reason } }, ...overrides });
}

export function live(overrides: Partial<WatchedTarget> = {}): WatchedTarget {
  return {
    workload: deployment(),
    revisions: replicaSets,
    pods: [pod()],
    complete: true,
    interrupted: null,
    ...overrides,
  };
}

export function moment(overrides: Partial<RolloutMoment> = {}): RolloutMoment {
  return {
    target: address,
    image: NEW,
    live: live(),
    presence: null,
    now: NOW + MINUTE,
    deadline: NOW + 7 * MINUTE,
    since: NOW,
    ...overrides,
  };
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}
