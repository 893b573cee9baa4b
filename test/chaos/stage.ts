import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { registerNamespace } from '../e2e/own-namespace.ts';
import { startCli, type RunningCli } from '../e2e/start-cli.ts';
import type { LabEnv } from '../lab/lab.ts';
import { activityMoments, inWords, type ActivityMoments, type Boundary } from './activity-moments.ts';
import { startApiProxy, type ApiProxy, type ApiWrite, type HeldWrite } from './api-proxy.ts';
import { copyProduct } from './product-copy.ts';
import { startTemporalProxy } from './temporal-proxy.ts';

/**
 * A worker in a process of its own, between proxies through which it reaches Temporal and the API server, in a Temporal
 * namespace of its own: what happens to it happens to nobody else.
 */
export interface Stage {
  /** Reaches Temporal without the proxy. */
  readonly client: Client;
  readonly moments: ActivityMoments;
  readonly api: ApiProxy;
  /** Its configuration file. */
  readonly workerConfig: string;
  /** Starts another worker [the only one]; returns when it polls. */
  startWorker(): Promise<RunningCli>;
  hasWorker(): boolean;
  /** Waits until an activity is there; the worker goes on, but what was to say so is lost. */
  reaches(boundary: Boundary): Promise<void>;
  /** Sends SIGKILL at the boundary, within the same tick. @returns when the worker is gone */
  killAt(boundary: Boundary): Promise<void>;
  /** The same once a write has taken effect and before its reply. */
  killAtReply(which: (write: ApiWrite) => boolean): Promise<void>;
  /** The same before a write reaches the API server; `then` gets the write. */
  killAtRequest(which: (write: ApiWrite) => boolean, then: (held: HeldWrite) => void): Promise<void>;
  /** SIGKILL now; returns when it is gone. */
  stopWorker(): Promise<void>;
  /** After a failed test: forgets what was to happen, and ends the worker. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** How long a boundary may take to come. */
const BOUNDARY_MS = 90_000;

/** What its workers do. */
export interface StageWorkers {
  /** [all that the configuration allows] */
  readonly capabilities?: string;
  /** Further parts of their configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export async function openStage(lab: LabEnv, { capabilities, config: more }: StageWorkers = {}): Promise<Stage> {
  const connection = await Connection.connect({ address: lab.temporalAddress });
  const namespace = `chaos-${randomBytes(3).toString('hex')}`;
  await registerNamespace(connection, namespace);
  const moments = activityMoments();
  const temporal = await startTemporalProxy(lab.temporalAddress, moments.tap);
  const api = await startApiProxy(lab);
  const product = await copyProduct();
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-chaos-'));
  writeFileSync(join(dir, 'kubeconfig'), kubeconfig(api.url));
  const config = join(dir, 'worker.yaml');
  writeFileSync(
    config,
    JSON.stringify({
      clusters: { default: { kubeconfig: join(dir, 'kubeconfig') } },
      ...(lab.registry === '' ? {} : { registries: { [lab.registry]: { plainHttp: true } } }),
      listen: '127.0.0.1:0',
      ...more,
    }),
  );
  const workers = new Set<RunningCli>();
  let latest: RunningCli | null = null;

  async function stopWorker(): Promise<void> {
    latest?.signal('SIGKILL');
    await latest?.exited;
  }

  async function killWhen(what: string, comes: (kill: () => void) => void): Promise<void> {
    await within(BOUNDARY_MS, what, (then) =>
      comes(() => {
        latest?.signal('SIGKILL');
        then();
      }),
    );
    await latest?.exited;
  }

  return {
    client: new Client({ connection, namespace }),
    moments,
    api,
    workerConfig: config,
    async startWorker() {
      const worker = startCli(
        [
          'worker',
          ...(capabilities === undefined ? [] : ['--capabilities', capabilities]),
          ...['--config', config, '--log-level', 'error'],
        ],
        { ...product.env, TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: namespace },
        product.launcher,
      );
      workers.add(worker);
      void worker.exited.then(() => workers.delete(worker));
      latest = worker;
      await worker.says(/Worker polls/);
      return worker;
    },
    hasWorker: () => workers.size > 0,
    reaches: (boundary) => within(BOUNDARY_MS, inWords(boundary), (then) => moments.at(boundary, then)),
    killAt: (boundary) => killWhen(inWords(boundary), (kill) => moments.at(boundary, kill)),
    killAtReply: (which) => killWhen('a write done', (kill) => api.holdReply(which, kill)),
    killAtRequest: (which, then) =>
      killWhen('a write sent', (kill) =>
        api.holdRequest(which, (held) => {
          kill();
          then(held);
        }),
      ),
    stopWorker,
    async reset() {
      moments.forget();
      api.forget();
      await stopWorker();
    },
    async close() {
      for (const worker of workers) worker.signal('SIGKILL');
      await Promise.all([...workers].map((w) => w.exited));
      await temporal.close();
      await api.close();
      await connection.close();
      rmSync(dir, { recursive: true, force: true });
      product.remove();
    },
  };
}

/** Waits until `comes` calls back. @throws Error when it does not in time */
export async function within(ms: number, what: string, comes: (then: () => void) => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ${what} within ${ms} ms`)), ms);
    comes(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function kubeconfig(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'lab', cluster: { server } }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: '' } }],
    'current-context': 'lab',
  });
}
