import type { KubeObject, KubernetesClient } from '../../src/activities/kubernetes/port.ts';

/** A Deployment with its ReplicaSet and pods as controllers would have made them, on the API server's double. */
export interface RolledWorkload {
  readonly image: string;
  /** Changes the Deployment's status; by default to rolled out. */
  rolledOut(): Promise<void>;
  /** Adds a pod of the current template, running and ready unless told otherwise. */
  pod(name: string, status?: Record<string, unknown>): Promise<void>;
  /** Replaces the status of a pod. */
  podStatus(name: string, status: Record<string, unknown>): Promise<void>;
  setImage(image: string): Promise<void>;
}

type Loose = KubeObject & Record<string, unknown>;

const labels = { app: 'web' };

export function readyStatus(restartCount = 0): Record<string, unknown> {
  return {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [
      { name: 'web', ready: true, restartCount, state: { running: { startedAt: '2026-01-01T00:00:00Z' } } },
    ],
  };
}

export function waitingStatus(reason: string, restartCount = 0): Record<string, unknown> {
  return {
    phase: 'Pending',
    conditions: [{ type: 'Ready', status: 'False' }],
    containerStatuses: [
      {
        name: 'web',
        ready: false,
        restartCount,
        state: { waiting: { reason } },
        lastState: { terminated: { exitCode: 1, reason: 'Error' } },
      },
    ],
  };
}

export async function rolledWorkload(client: KubernetesClient, image: string): Promise<RolledWorkload> {
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } };
  const meta = { name: 'web', namespace: 'shop' };
  const created = await create(client, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: meta,
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
    status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 0 },
  });
  const set = await create(client, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: 'web-1',
      namespace: 'shop',
      labels,
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: created.metadata.uid ?? '', controller: true },
      ],
    },
    spec: { replicas: 1, template: { ...template, metadata: { labels: { ...labels, 'pod-template-hash': '1' } } } },
  });

  async function change(kind: string, apiVersion: string, name: string, body: unknown): Promise<void> {
    const ref = { apiVersion, kind, namespace: 'shop', name };
    const outcome = await client.patch(ref, body, { type: 'merge', fieldManager: 'controller' });
    if (outcome.kind !== 'written') throw new Error(outcome.message);
  }

  return {
    image,
    rolledOut: () =>
      change('Deployment', 'apps/v1', 'web', {
        status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
      }),
    async pod(name, status = readyStatus()) {
      await create(client, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name,
          namespace: 'shop',
          labels,
          ownerReferences: [
            { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: set.metadata.uid ?? '', controller: true },
          ],
        },
        spec: template.spec,
        status,
      });
    },
    podStatus: (name, status) => change('Pod', 'v1', name, { status }),
    setImage: (to) =>
      change('Deployment', 'apps/v1', 'web', {
        spec: { template: { spec: { containers: [{ name: 'web', image: to }] } } },
      }),
  };
}

async function create(client: KubernetesClient, object: Loose): Promise<KubeObject> {
  const outcome = await client.create(object, { fieldManager: 'test' });
  if (outcome.kind !== 'written') throw new Error(outcome.message);
  return outcome.object;
}
