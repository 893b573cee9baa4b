import { createApprovalActivities, type ApprovalActivities } from '../activities/approval/verify-signature.ts';
import { createKubernetes } from '../activities/kubernetes/create.ts';
import type { KubernetesConfig, KubernetesPort } from '../activities/kubernetes/port.ts';
import { createPrometheus } from '../activities/prometheus/create.ts';
import type { PrometheusConfig } from '../activities/prometheus/port.ts';
import { createRegistry } from '../activities/registry/create.ts';
import { createReleaseActivities } from '../activities/release/create.ts';
import type { ReleaseActivities } from '../activities/release/port.ts';
import { readSecret, type WorkerConfig } from './config.ts';

/**
 * The activities of releases over the clusters, registries and Prometheus of a configuration. Without clusters in it,
 * the current kubeconfig context is the cluster `default`.
 */
export async function releaseActivities(config: WorkerConfig): Promise<ReleaseActivities & ApprovalActivities> {
  const clusters = new Map<string, KubernetesPort>();
  const configured = Object.keys(config.clusters).length > 0 ? config.clusters : { default: {} };
  for (const [name, cluster] of Object.entries(configured)) {
    clusters.set(name, await createKubernetes(kubernetesConfig(name, cluster)));
  }
  return {
    ...createApprovalActivities(),
    ...createReleaseActivities({
      kubernetes: (name) => clusters.get(name) ?? null,
      registry: createRegistry({ registries: config.registries, dockerConfig: config.dockerConfig }),
      prometheus: config.prometheus === undefined ? null : createPrometheus(prometheusConfig(config.prometheus)),
    }),
  };
}

function kubernetesConfig(name: string, cluster: WorkerConfig['clusters'][string]): KubernetesConfig {
  if ('inCluster' in cluster) return { name, inCluster: true };
  const { kubeconfig, context } = cluster;
  return { name, ...(kubeconfig === undefined ? {} : { kubeconfig }), ...(context === undefined ? {} : { context }) };
}

function prometheusConfig(config: NonNullable<WorkerConfig['prometheus']>): PrometheusConfig {
  const { url, bearer, username, password, caFile } = config;
  return {
    url,
    ...(bearer === undefined ? {} : { bearer: () => readSecret(bearer) }),
    ...(username === undefined || password === undefined
      ? {}
      : { basic: { username, password: () => readSecret(password) } }),
    ...(caFile === undefined ? {} : { caFile }),
  };
}
