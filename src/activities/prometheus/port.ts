import type { Reading } from '../../domain/core/verdict.ts';

/**
 * What Holdfast asks of a Prometheus (or of anything that speaks its HTTP API). No data, several series where one value is
 * asked for, NaN, an error, a time-out and an answer cut short are each unmeasured, with a cause of their own; none of them
 * is a number.
 */
export interface PrometheusPort {
  /** The one value of an instant query. */
  value(query: string, options: QueryOptions): Promise<Reading<number>>;
  /** The whole JSON answer to an instant query: all of its series, or none. */
  series(query: string, options: QueryOptions): Promise<Reading<unknown>>;
  /** The whole JSON answer that tells the alerting rules which are loaded. */
  rules(options: QueryOptions): Promise<Reading<unknown>>;
}

export interface QueryOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Where a worker's Prometheus is, and how to be let in. */
export interface PrometheusConfig {
  /** Such as `http://prometheus.monitoring:9090`; a path prefix is kept. */
  readonly url: string;
  /** Reads the secret of a reference; called for each query, so that a rotated file is honoured. */
  readonly bearer?: () => Promise<string>;
  readonly basic?: { readonly username: string; readonly password: () => Promise<string> };
  /** PEM file of the CA that signed the server's certificate [the system's CAs]. */
  readonly caFile?: string;
}

/** The real adapter also holds connections, to be let go at shutdown. */
export interface PrometheusClient extends PrometheusPort {
  close(): Promise<void>;
}
