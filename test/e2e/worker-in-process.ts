import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { runWorker, type Capability } from '../../src/worker/run-worker.ts';
import type { LabEnv } from '../lab/lab.ts';

export interface TestWorker {
  readonly client: Client;
  /** `host:port` of /healthz, /readyz and /metrics. */
  readonly health: string;
  stop(): Promise<void>;
}

/** What differs from a worker on the lab as it is. */
export interface WorkerChanges {
  /** As whom, or which way, the worker reaches the cluster [the lab's administrator]. */
  readonly kubeconfig?: string;
  /** Further parts of its configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/**
 * Runs a worker on the lab in this process, and a client beside it.
 *
 * @param kubeconfig as whom the worker reaches the cluster [the lab's administrator]
 * @param more further parts of its configuration
 * @param capabilities what it works on [releases]
 */
export async function startTestWorker(
  lab: LabEnv,
  kubeconfig = lab.kubeconfig,
  more: WorkerChanges['config'] = {},
  capabilities: readonly Capability[] = ['release'],
): Promise<TestWorker> {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-worker-'));
  const configFile = join(dir, 'worker.yaml');
  const config = {
    clusters: { default: { kubeconfig } },
    registries: { [lab.registry]: { plainHttp: true } },
    ...(lab.prometheus === '' ? {} : { prometheus: { url: lab.prometheus } }),
    ...more,
  };
  writeFileSync(configFile, JSON.stringify(config));
  const ending = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const health = await new Promise<string>((resolve, reject) => {
    running = runWorker({
      capabilities,
      configFile,
      listen: '127.0.0.1:0',
      logLevel: 'error',
      address: lab.temporalAddress,
      signal: ending.signal,
      onReady: (where) => resolve(where.health),
    });
    running.catch(reject);
  });
  const connection = await Connection.connect({ address: lab.temporalAddress });
  return {
    client: new Client({ connection }),
    health,
    stop: async () => {
      ending.abort();
      await running;
      await connection.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
