import { unmeasured, type Unmeasured } from '../../domain/core/verdict.ts';
import type { KubernetesPort } from './port.ts';

/** The clusters of a worker, by their names. */
export interface Clusters {
  /** The cluster of that name; null where this worker has none. */
  readonly kubernetes: (cluster: string) => KubernetesPort | null;
}

/** The cluster of that name, or a reading that says that this worker has none. */
export function clusterOf({ kubernetes }: Clusters, cluster: string): KubernetesPort | Unmeasured {
  const port = kubernetes(cluster);
  if (port !== null) return port;
  const message = `this worker has no cluster "${cluster}"; add it under clusters: in the worker's configuration`;
  return unmeasured(`cluster ${cluster}`, 'this worker', 'missing', message);
}
