import { unmeasured, type Unmeasured } from '../../domain/core/verdict.ts';
import type { HolderRun } from '../../domain/node-reboot/lock.ts';
import type { EtcdPort } from '../etcd/port.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import type { PrometheusPort } from '../prometheus/port.ts';

/** What the activities of a NodeReboot reach the world through. */
export interface NodeRebootDependencies {
  /** The cluster of that name; null where this worker has none. */
  readonly kubernetes: (cluster: string) => KubernetesPort | null;
  /** The Prometheus of that name; null where this worker has none. */
  readonly prometheus: (name: string) => PrometheusPort | null;
  /** The etcd cluster of that name; null where this worker has none. */
  readonly etcd: (name: string) => EtcdPort | null;
  /** How a run of a campaign's workflow stands, as Temporal tells. */
  readonly holderRun: (campaign: string, run: string) => Promise<HolderRun>;
  /** The image of the one-shot pods that read a host or reboot it: a shell with cat, and nsenter. */
  readonly hostImage: string;
  /** Epoch milliseconds [Date.now]. */
  readonly clock?: () => number;
}

/** The cluster of that name, or a reading that says that this worker has none. */
export function clusterOf(dependencies: NodeRebootDependencies, cluster: string): KubernetesPort | Unmeasured {
  const port = dependencies.kubernetes(cluster);
  if (port !== null) return port;
  const message = `this worker has no cluster "${cluster}"; add it under clusters: in the worker's configuration`;
  return unmeasured(`cluster ${cluster}`, 'this worker', 'missing', message);
}

/** Tells a cluster that is missing from one that is there. */
export function isUnmeasured(value: object): value is Unmeasured {
  return 'kind' in value && value.kind === 'unmeasured';
}
