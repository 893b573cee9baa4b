import type { HolderRun } from '../../domain/node-reboot/lock.ts';
import type { RebootCommand } from '../../domain/node-reboot/reboot-command.ts';
import type { EtcdPort } from '../etcd/port.ts';
import type { Clusters } from '../kubernetes/cluster-of.ts';
import type { PrometheusPort } from '../prometheus/port.ts';

/** What the activities of a NodeReboot reach the world through. */
export interface NodeRebootDependencies extends Clusters {
  /** The Prometheus of that name; null where this worker has none. */
  readonly prometheus: (name: string) => PrometheusPort | null;
  /** The etcd cluster of that name; null where this worker has none. */
  readonly etcd: (name: string) => EtcdPort | null;
  /** How a run of a campaign's workflow stands, as Temporal tells. */
  readonly holderRun: (campaign: string, run: string) => Promise<HolderRun>;
  /** The image of the one-shot pods that read a host or reboot it: a shell with cat, and nsenter. */
  readonly hostImage: string;
  /** The commands that reboot a node from elsewhere, by the names that specs use [none]. */
  readonly commands?: Readonly<Record<string, RebootCommand>>;
  /** Epoch milliseconds [Date.now]. */
  readonly clock?: () => number;
}
