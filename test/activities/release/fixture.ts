import { MockActivityEnvironment } from '@temporalio/testing';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubeObject, KubernetesClient } from '../../../src/activities/kubernetes/port.ts';
import { createRegistry } from '../../../src/activities/registry/create.ts';
import { createReleaseActivities } from '../../../src/activities/release/create.ts';
import type { ReleaseActivities } from '../../../src/activities/release/port.ts';
import type { TargetAddress } from '../../../src/domain/release/address.ts';
import type { WorkloadKind } from '../../../src/domain/release/spec.ts';
import { createNamespace, deleteNamespace } from '../../lab/access.ts';
import type { LabEnv } from '../../lab/lab.ts';
import { waitFor } from '../../lab/wait.ts';

/** The activities of releases on the lab's real parts, for one test file, in a namespace of its own. */
export interface ReleaseLab {
  readonly env: LabEnv;
  readonly namespace: string;
  readonly kubernetes: KubernetesClient;
  readonly activities: ReleaseActivities;
  /** The activities as another identity, by its kubeconfig. */
  activitiesAs(kubeconfig: string): Promise<ReleaseActivities>;
  create(object: object): Promise<void>;
  target(workload: string, change?: { kind?: WorkloadKind; container?: string }): TargetAddress;
  /** Waits until a workload has rolled out. */
  settled(target: TargetAddress): Promise<void>;
  workload(target: TargetAddress): Promise<LooseWorkload>;
  close(): Promise<void>;
}

export interface LooseWorkload extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly template: {
      readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec: {
        readonly containers: readonly { readonly name: string; readonly image: string }[];
        readonly initContainers?: readonly { readonly name: string; readonly image: string }[];
      };
    };
  };
  readonly status?: Readonly<Record<string, number>>;
}

export async function releaseLab(env: LabEnv): Promise<ReleaseLab> {
  const registry = createRegistry({ registries: { [env.registry]: { plainHttp: true } } });
  const kubernetes = await createKubernetes({ name: 'default', kubeconfig: env.kubeconfig });
  const namespace = await createNamespace(env, 'release');
  const clients = [kubernetes];
  const activitiesOn = (client: KubernetesClient) =>
    createReleaseActivities({ kubernetes: (name) => (name === 'default' ? client : null), registry, prometheus: null });

  async function workload(target: TargetAddress): Promise<LooseWorkload> {
    const ref = { apiVersion: 'apps/v1', kind: target.kind, namespace: target.namespace, name: target.workload };
    const found = await kubernetes.get<LooseWorkload>(ref);
    if (found.kind === 'unmeasured') throw new Error(found.message);
    return found.value;
  }

  return {
    env,
    namespace,
    kubernetes,
    activities: activitiesOn(kubernetes),
    async activitiesAs(kubeconfig) {
      const client = await createKubernetes({ name: 'default', kubeconfig });
      clients.push(client);
      return activitiesOn(client);
    },
    async create(object) {
      const outcome = await kubernetes.create(object as KubeObject, { fieldManager: 'test' });
      if (outcome.kind !== 'written') throw new Error(outcome.message);
    },
    target: (name, { kind = 'Deployment', container = 'spoke' } = {}) => ({
      name,
      cluster: 'default',
      namespace,
      kind,
      workload: name,
      container,
    }),
    async settled(target) {
      await waitFor(`${target.kind} ${target.workload} has rolled out`, async () => {
        const { metadata, spec, status = {} } = await workload(target);
        if (status['observedGeneration'] !== metadata.generation) return false;
        if (target.kind === 'DaemonSet') {
          return (
            status['desiredNumberScheduled'] !== 0 && status['numberAvailable'] === status['desiredNumberScheduled']
          );
        }
        return (
          status['availableReplicas'] === (spec.replicas ?? 1) && status['updatedReplicas'] === (spec.replicas ?? 1)
        );
      });
    },
    workload,
    async close() {
      for (const client of clients) await client.close();
      await deleteNamespace(env, namespace);
    },
  };
}

type Activity<K extends keyof ReleaseActivities> = (
  input: Parameters<ReleaseActivities[K]>[0],
) => Promise<Awaited<ReturnType<ReleaseActivities[K]>>>;

/** Runs an activity as Temporal's worker would. */
export function run<K extends keyof ReleaseActivities>(
  activities: ReleaseActivities,
  name: K,
  input: Parameters<ReleaseActivities[K]>[0],
  environment = new MockActivityEnvironment({ scheduleToCloseTimeoutMs: 0 }),
): Promise<Awaited<ReturnType<ReleaseActivities[K]>>> {
  const activity = activities[name] as unknown as Activity<K>;
  return environment.run((i: Parameters<ReleaseActivities[K]>[0]) => activity(i), input);
}
