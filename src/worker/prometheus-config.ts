import type { PrometheusConfig } from '../activities/prometheus/port.ts';
import { readSecret, type WorkerConfig } from './config.ts';

/** A Prometheus of a configuration, as its adapter takes it. Secrets are read at each request. */
export function prometheusConfig(config: NonNullable<WorkerConfig['prometheus']>): PrometheusConfig {
  const { url, bearer, username, password, caFile } = config;
  return {
    url,
    ...(bearer === undefined ? {} : { bearer: () => readSecret(bearer) }),
    ...(username === undefined || password === undefined
      ? {}
      : { basic: { username, password: () => readSecret(password) } }),
    ...(caFile === undefined ? {} : { caFile }),
  };
}
