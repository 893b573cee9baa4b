import { kube, kubeGetOrNull } from '../kube-api.ts';
import type { LabEnv } from '../lab.ts';
import { waitFor } from '../wait.ts';

export interface Taint {
  key: string;
  value: string;
  effect: 'NoSchedule';
}

interface NodeObject {
  spec: { taints?: unknown[] };
  status: { conditions?: { type: string; status: string }[] };
}

/**
 * Lets a real kubelet's node have pods. The kubelet refuses a loopback address of its own, so it is told that a cloud will
 * give it one. This is the cloud.
 *
 * @param taints those that the node keeps [none]
 * @returns when the node is Ready for pods
 */
export async function admitNode(env: LabEnv, name: string, taints: Taint[] = []): Promise<void> {
  const path = `/api/v1/nodes/${name}`;
  await waitFor(`the node ${name} registers`, () => kubeGetOrNull(env, path));
  const contentType = 'application/merge-patch+json';
  await kube(env, 'PATCH', path, { contentType, body: { spec: { taints: taints.length === 0 ? null : taints } } });
  const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
  await kube(env, 'PATCH', `${path}/status`, { contentType, body: { status: { addresses } } });
  await waitFor(`the node ${name} is Ready`, async () => {
    const node = await kube<NodeObject>(env, 'GET', path);
    const ready = node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
    return ready && (node.spec.taints ?? []).length === taints.length;
  });
}
