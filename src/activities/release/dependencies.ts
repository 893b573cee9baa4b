import type { Freeze } from '../../domain/core/window.ts';
import type { Clusters } from '../kubernetes/cluster-of.ts';
import type { PrometheusPort } from '../prometheus/port.ts';
import type { RegistryPort } from '../registry/port.ts';

/** What the activities of a release reach the world through. */
export interface ReleaseDependencies extends Clusters {
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
