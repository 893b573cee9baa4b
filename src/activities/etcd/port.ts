import type { Reading } from '../../domain/core/verdict.ts';

/** What Holdfast asks of an etcd cluster, over its HTTP gateway. Nothing is ever written. */
export interface EtcdPort {
  /** The JSON answer of `/v3/cluster/member/list`, of the first endpoint that gives one. */
  members(options: EtcdOptions): Promise<Reading<unknown>>;
  /** The JSON answer of `/health` of one member, at one of its client URLs. */
  health(clientUrl: string, options: EtcdOptions): Promise<Reading<unknown>>;
}

export interface EtcdOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Where an etcd cluster is, and how to be let in. */
export interface EtcdConfig {
  /** Such as `https://10.0.0.1:2379`, one for each member at best. */
  readonly endpoints: readonly string[];
  /** PEM files: the CA of the members' certificates [the system's], and a client certificate with its key. */
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}
