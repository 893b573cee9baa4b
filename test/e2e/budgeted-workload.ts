import { kube } from '../lab/kube-api.ts';
import type { LabEnv } from '../lab/lab.ts';
import { waitFor } from '../lab/wait.ts';

export interface WorkloadSpec {
  readonly replicas: number;
  /** The kind of nodes that it runs on, by their label `type` [reboot]. */
  readonly on?: 'reboot' | 'simulated';
  /** All pods begin on this node, and may go elsewhere later. */
  readonly startsOn?: string;
  /** No pod runs anywhere else. */
  readonly onlyOn?: string;
  readonly readyAfterSeconds?: number;
}

/** A Deployment with a budget that wants one of its pods ready. */
export interface BudgetedWorkload {
  /** Where its pods are; null for one that is on no node. */
  pods(): Promise<{ readonly node: string | null; readonly ready: boolean }[]>;
  /** The fewest pods that were ready at once since it began. */
  fewestReady(): Promise<number>;
  /** From now on its budget wants no pod ready. */
  loosen(): Promise<void>;
  remove(): Promise<void>;
}

interface Pods {
  readonly items: readonly {
    readonly metadata: { readonly deletionTimestamp?: string };
    readonly spec: { readonly nodeName?: string };
    readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  }[];
}

const hostName = 'kubernetes.io/hostname';

export async function startWorkload(
  env: LabEnv,
  image: string,
  name: string,
  { replicas, on = 'reboot', startsOn, onlyOn, readyAfterSeconds = 0 }: WorkloadSpec,
): Promise<BudgetedWorkload> {
  const labels = { app: name };
  const place = onlyOn ?? startsOn;
  const preferred = { weight: 100, preference: onNode(place ?? '') };
  const nodeAffinity =
    onlyOn === undefined
      ? { preferredDuringSchedulingIgnoredDuringExecution: [preferred] }
      : { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [onNode(onlyOn)] } };
  const apps = '/apis/apps/v1/namespaces/default/deployments';
  const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
  await kube(env, 'POST', apps, {
    body: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            nodeSelector: { type: on },
            affinity: { nodeAffinity },
            tolerations: [{ key: 'lab.holdfast.dev/reboots', operator: 'Exists' }],
            automountServiceAccountToken: false,
            enableServiceLinks: false,
            terminationGracePeriodSeconds: 0,
            containers: [
              {
                name: 'main',
                image,
                command: ['sh', '-c', 'sleep 3600'],
                readinessProbe: {
                  exec: { command: ['true'] },
                  initialDelaySeconds: readyAfterSeconds,
                  periodSeconds: 1,
                },
              },
            ],
          },
        },
      },
    },
  });
  await kube(env, 'POST', budgets, {
    body: {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    },
  });
  const pods = async () => {
    const list = await kube<Pods>(env, 'GET', `/api/v1/namespaces/default/pods?labelSelector=app%3D${name}`);
    return list.items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ spec, status }) => ({
        node: spec.nodeName ?? null,
        ready: status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false,
      }));
  };
  await waitFor(`the pods of ${name} are ready`, async () => {
    const all = await pods();
    const { status } = await kube<{ status: { disruptionsAllowed?: number } }>(env, 'GET', `${budgets}/${name}`);
    return all.length === replicas && all.every(({ ready }) => ready) && (status.disruptionsAllowed ?? 0) > 0;
  });
  let fewest = replicas;
  const watching = setInterval(() => {
    pods()
      .then((all) => (fewest = Math.min(fewest, all.filter(({ ready }) => ready).length)))
      .catch(() => undefined);
  }, 200);
  return {
    pods,
    fewestReady: () => Promise.resolve(fewest),
    async loosen() {
      const body = { spec: { minAvailable: 0 } };
      await kube(env, 'PATCH', `${budgets}/${name}`, { body, contentType: 'application/merge-patch+json' });
    },
    async remove() {
      clearInterval(watching);
      await kube(env, 'DELETE', `${apps}/${name}`);
      await kube(env, 'DELETE', `${budgets}/${name}`);
      await waitFor(`the pods of ${name} are gone`, async () => (await pods()).length === 0);
    },
  };
}

function onNode(name: string): object {
  return { matchExpressions: [{ key: hostName, operator: 'In', values: [name] }] };
}
