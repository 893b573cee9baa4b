import type { Reading } from '../../domain/core/verdict.ts';

/**
 * What Holdfast asks of a Prometheus (or of anything that speaks its HTTP API). One question: what a query's single
 * value is now. No data, several series, NaN, an error, a time-out and an answer cut short are each unmeasured, with a
 * cause of their own; none of them is a number.
 */
export interface PrometheusPort {
  /** The one value of an instant query. */
  value(query: string, options: QueryOptions): Promise<Reading<number>>;
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
