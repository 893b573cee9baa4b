import { createKubernetes } from '../activities/kubernetes/create.ts';
import type { KubernetesConfig, KubernetesPort } from '../activities/kubernetes/port.ts';
import type { WorkerConfig } from './config.ts';

/**
 * The clusters of a configuration, by name. Without clusters in it, the current kubeconfig context is the cluster
 * `default`.
 *
 * @returns null for a cluster that this worker has not
 */
export async function clustersOf(config: WorkerConfig): Promise<(cluster: string) => KubernetesPort | null> {
  const clusters = new Map<string, KubernetesPort>();
  const configured = Object.keys(config.clusters).length > 0 ? config.clusters : { default: {} };
  for (const [name, cluster] of Object.entries(configured)) {
    clusters.set(name, await createKubernetes(kubernetesConfig(name, cluster)));
  }
  return (name) => clusters.get(name) ?? null;
}

function kubernetesConfig(name: string, cluster: WorkerConfig['clusters'][string]): KubernetesConfig {
  if ('inCluster' in cluster) return { name, inCluster: true };
  const { kubeconfig, context } = cluster;
  return { name, ...(kubeconfig === undefined ? {} : { kubeconfig }), ...(context === undefined ? {} : { context }) };
}
