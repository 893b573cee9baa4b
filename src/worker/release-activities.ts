import type { KubernetesPort } from '../activities/kubernetes/port.ts';
import { createPrometheus } from '../activities/prometheus/create.ts';
import { createRegistry } from '../activities/registry/create.ts';
import { createReleaseActivities } from '../activities/release/create.ts';
import type { ReleaseActivities } from '../activities/release/port.ts';
import type { WorkerConfig } from './config.ts';
import { prometheusConfig } from './prometheus-config.ts';

/**
 * The activities of releases over the registries and the Prometheus of a configuration.
 *
 * @param kubernetes the cluster of that name; null where this worker has none
 */
export function releaseActivities(
  config: WorkerConfig,
  kubernetes: (cluster: string) => KubernetesPort | null,
): ReleaseActivities {
  return createReleaseActivities({
    kubernetes,
    registry: createRegistry({ registries: config.registries, dockerConfig: config.dockerConfig }),
    freezes: config.freeze,
    prometheus: config.prometheus === undefined ? null : createPrometheus(prometheusConfig(config.prometheus)),
  });
}
