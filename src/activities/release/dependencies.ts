import type { Freeze } from '../../domain/core/window.ts';
import { unmeasured, type Unmeasured } from '../../domain/core/verdict.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import type { PrometheusPort } from '../prometheus/port.ts';
import type { RegistryPort } from '../registry/port.ts';

/** What the activities of a release reach the world through. */
export interface ReleaseDependencies {
  /** The cluster of that name; null where this worker has none. */
  readonly kubernetes: (cluster: string) => KubernetesPort | null;
  readonly registry: RegistryPort;
  /** Null where this worker has no Prometheus. */
  readonly prometheus: Pick<PrometheusPort, 'value'> | null;
  /** Freezes of all releases [none]. */
  readonly freezes?: readonly Freeze[];
  /** Epoch milliseconds [Date.now]. */
  readonly clock?: () => number;
}

/** Field manager of every write: how `managedFields` names this writer. */
export const FIELD_MANAGER = 'holdfast';

/** The cluster of that name, or a reading that says that this worker has none. */
export function clusterOf(dependencies: ReleaseDependencies, cluster: string): KubernetesPort | Unmeasured {
  const port = dependencies.kubernetes(cluster);
  if (port !== null) return port;
  const message = `this worker has no cluster "${cluster}"; add it under clusters: in the worker's configuration`;
  return unmeasured(`cluster ${cluster}`, 'this worker', 'missing', message);
}

/** Tells a cluster that is missing from one that is there. */
export function isUnmeasured(value: object): value is Unmeasured {
  return 'kind' in value && value.kind === 'unmeasured';
}
