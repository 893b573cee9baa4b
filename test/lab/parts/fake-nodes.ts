import { randomBytes } from 'node:crypto';
import { kube, kubeGetOrNull, KubeApiError } from '../kube-api.ts';
import type { LabEnv } from '../lab.ts';
import { waitFor } from '../wait.ts';

/** Annotation and taint of fake nodes. A pod lands there only if it tolerates the taint. */
export const FAKE_NODE_ANNOTATION = 'kwok.x-k8s.io/node';

export interface FakeNodes {
  count: number;
  /** As Kubernetes names it: `amd64`, `arm64`. */
  arch: string;
  /** Of the names, which go on with a few random letters [the architecture]. */
  prefix?: string;
  labels?: Record<string, string>;
}

interface Node {
  metadata: { name: string };
  status?: { conditions?: { type: string; status: string }[] };
}

/**
 * Adds fake nodes and waits until they are Ready. Pods that tolerate the taint `kwok.x-k8s.io/node=fake:NoSchedule` run
 * there without a machine; select them by `type: kwok` or by the architecture.
 *
 * @returns their names
 */
export async function addFakeNodes(
  env: LabEnv,
  { count, arch, prefix = arch, labels = {} }: FakeNodes,
): Promise<string[]> {
  // No name comes twice: the lease of a node that was removed is removed some time after it, and with it the new node's of
  // that name. Nobody plays its pods until kwok notices, ten seconds later.
  const names = Array.from({ length: count }, () => `${prefix}-${randomBytes(3).toString('hex')}`);
  for (const name of names) await kube(env, 'POST', '/api/v1/nodes', { body: fakeNode(name, arch, labels) });
  await waitFor(`${count} fake nodes are Ready`, async () => {
    const ready = new Set((await listNodes(env)).filter(isReady).map((node) => node.metadata.name));
    return names.every((name) => ready.has(name));
  });
  return names;
}

/** Removes nodes and waits until they are gone; the control plane then removes their pods. */
export async function removeFakeNodes(env: LabEnv, names: string[]): Promise<void> {
  for (const name of names) {
    await kube(env, 'DELETE', `/api/v1/nodes/${name}`).catch((error: unknown) => {
      if (!(error instanceof KubeApiError && error.status === 404)) throw error;
    });
  }
  for (const name of names) {
    await waitFor(`the node ${name} is gone`, async () => (await kubeGetOrNull(env, `/api/v1/nodes/${name}`)) === null);
  }
}

async function listNodes(env: LabEnv): Promise<Node[]> {
  return (await kube<{ items: Node[] }>(env, 'GET', '/api/v1/nodes')).items;
}

function isReady(node: Node): boolean {
  return (node.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
}

function fakeNode(name: string, arch: string, labels: Record<string, string>): object {
  const size = { cpu: '64', memory: '256Gi', pods: '1000' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      annotations: { [FAKE_NODE_ANNOTATION]: 'fake' },
      labels: {
        'kubernetes.io/arch': arch,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/hostname': name,
        type: 'kwok',
        ...labels,
      },
    },
    spec: { taints: [{ key: FAKE_NODE_ANNOTATION, value: 'fake', effect: 'NoSchedule' }] },
    status: {
      allocatable: size,
      capacity: size,
      nodeInfo: {
        architecture: arch,
        operatingSystem: 'linux',
        bootID: '',
        containerRuntimeVersion: '',
        kernelVersion: '',
        kubeProxyVersion: '',
        kubeletVersion: '',
        machineID: '',
        osImage: '',
        systemUUID: '',
      },
    },
  };
}
