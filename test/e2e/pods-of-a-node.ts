import { kube } from '../lab/kube-api.ts';
import type { LabEnv } from '../lab/lab.ts';
import { waitFor } from '../lab/wait.ts';

interface Pods {
  readonly items: readonly {
    readonly spec: { readonly nodeName?: string };
    readonly status: { readonly phase?: string };
  }[];
}

/**
 * Makes a Deployment whose pods all run on one simulated host and may go to the others; and the DNS of the cluster, on two
 * of them, as the gate wants it.
 *
 * @param names all hosts
 */
export async function fillNode(env: LabEnv, names: readonly string[], node: string, replicas: number): Promise<void> {
  const others = names.filter((name) => name !== node);
  await setSchedulable(env, others, false);
  await createDeployment(env, 'default', 'app', replicas, {});
  await running(env, 'default', 'app', (on) => on.length === replicas && on.every((name) => name === node));
  await setSchedulable(env, others, true);
  const apart = { labelSelector: { matchLabels: { app: 'coredns' } }, topologyKey: 'kubernetes.io/hostname' };
  await createDeployment(env, 'kube-system', 'coredns', 2, {
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } },
  });
  await running(env, 'kube-system', 'coredns', (on) => on.length === 2);
}

async function setSchedulable(env: LabEnv, names: readonly string[], schedulable: boolean): Promise<void> {
  for (const name of names) {
    const body = { spec: { unschedulable: schedulable ? null : true } };
    await kube(env, 'PATCH', `/api/v1/nodes/${name}`, { body, contentType: 'application/merge-patch+json' });
  }
}

function createDeployment(env: LabEnv, namespace: string, name: string, replicas: number, spec: object) {
  const labels = { app: name };
  const container = { name: 'main', image: 'simulated' };
  const body = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { ...spec, containers: [container], nodeSelector: { type: 'simulated' } },
      },
    },
  };
  return kube(env, 'POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, { body });
}

async function running(
  env: LabEnv,
  namespace: string,
  name: string,
  areWell: (nodes: readonly string[]) => boolean,
): Promise<void> {
  await waitFor(`the pods of ${name} run`, async () => {
    const { items } = await kube<Pods>(env, 'GET', `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3D${name}`);
    const on = items.flatMap(({ spec, status }) => (status.phase === 'Running' ? [spec.nodeName ?? ''] : []));
    return areWell(on);
  });
}
