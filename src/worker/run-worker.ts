import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Client } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection, Runtime, Worker, type Logger } from '@temporalio/worker';
import { KEYCLOAK_FLOW_QUEUE } from '../workflows/keycloak-flow/messages.ts';
import { NODE_REBOOT_QUEUE, NODE_REBOOT_WAIT_QUEUE } from '../workflows/node-reboot/messages.ts';
import { RELEASE_QUEUE, RELEASE_WAIT_QUEUE } from '../workflows/release/messages.ts';
import { clustersOf } from './clusters.ts';
import { createCodecs } from './codec.ts';
import { readWorkerConfig, type WorkerConfig } from './config.ts';
import { serveHealth } from './http.ts';
import { keycloakFlowActivities } from './keycloak-flow-activities.ts';
import { createLogger } from './logger.ts';
import { createKeycloakFlowMetrics } from './metrics/keycloak-flow-metrics.ts';
import { createNodeRebootMetrics } from './metrics/node-reboot-metrics.ts';
import { createReleaseMetrics } from './metrics/release-metrics.ts';
import { nodeRebootActivities, requireNodeReboot } from './node-reboot-activities.ts';
import { releaseActivities } from './release-activities.ts';
import { sharedActivities } from './shared-activities.ts';
import { workflowBundle } from './workflow-bundle.ts';

export const CAPABILITIES = ['release', 'keycloak-flow', 'node-reboot'] as const;
export type Capability = (typeof CAPABILITIES)[number];

export interface WorkerOptions {
  /** All that the configuration makes possible, where none are named. */
  readonly capabilities?: readonly Capability[];
  /** Worker configuration file; undefined for the defaults. */
  readonly configFile?: string;
  /** Overrides the configuration's `listen`. */
  readonly listen?: string;
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /** Connects here instead of where Temporal's environment configuration says (the embedded server of `dev`). */
  readonly address?: string;
  /** Ends the worker; SIGTERM and SIGINT are the caller's to turn into it. */
  readonly signal: AbortSignal;
  /** Called once, when it polls and serves health. */
  readonly onReady?: (where: { health: string; namespace: string; address: string }) => void;
}

/**
 * How long reads and writes may go on: below the 60 s of grace that deploy/ gives the pod, so that they hear of the end
 * before the kernel ends them. Waits have none: they read, or evict what was to be evicted anyway,
 * and go on from their heartbeat wherever they are taken up.
 */
const SHUTDOWN_GRACE = '30s';
const NO_GRACE = 0;
const SHUTDOWN_FORCE = '50s';

/**
 * How long a workflow's next step waits for the worker that has it in memory before any other may take it: what a dead
 * worker's rollbacks wait for. Tasks take milliseconds, so one that lies this long is not about to be taken.
 */
const STICKY_PATIENCE = '3s';

/** Waits hold a slot each for hours; reads and writes are short. */
const WAIT_SLOTS = 2_000;
const SLOTS = 100;

/**
 * Runs workers for the given capabilities until the signal aborts: per capability a queue for workflows, reads and
 * writes, and one for waits.
 *
 * @returns when all work has been handed back and connections are closed
 * @throws ConfigError, also where a capability lacks what it needs, or the connection's error
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const config = await readWorkerConfig(options.configFile);
  const capabilities = options.capabilities ?? possibleCapabilities(config);
  if (capabilities.includes('node-reboot')) requireNodeReboot(config);
  const logger = createLogger(options.logLevel ?? 'info');
  const runtimeMetrics = await installRuntime(logger);
  const codecs = await createCodecs(config);
  const loaded = loadClientConnectConfig();
  const namespace = loaded.namespace ?? 'default';
  const connectionOptions = options.address === undefined ? loaded.connectionOptions : { address: options.address };
  const connection = await NativeConnection.connect(connectionOptions);
  try {
    const dataConverter = { payloadCodecs: codecs };
    const client = new Client({ connection, namespace, dataConverter });
    let workers: readonly Worker[] = [];
    const ready = () => workers.length > 0 && workers.every((w) => w.getState() === 'RUNNING');
    const ours = capabilities.map((capability) => metricsOf[capability](client));
    // Before the workers: where the address is taken there is nothing yet that would hold the connection open.
    const health = await serveHealth(options.listen ?? config.listen, ready, async () =>
      [...(await Promise.all(ours.map((text) => text()))), await runtimeMetrics()].join(''),
    );
    const stop = () => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    };
    options.signal.addEventListener('abort', stop, { once: true });
    try {
      workers = await createWorkers(config, capabilities, { connection, client, namespace, dataConverter, logger });
      const runs = Promise.all(workers.map((w) => w.run()));
      if (options.signal.aborted) stop();
      options.onReady?.({ health: health.address, namespace, address: connectionOptions.address ?? 'localhost:7233' });
      await runs;
    } finally {
      options.signal.removeEventListener('abort', stop);
      stop();
      await health.close();
    }
  } finally {
    await connection.close();
  }
}

const metricsOf: Readonly<Record<Capability, (client: Client) => () => Promise<string>>> = {
  release: createReleaseMetrics,
  'keycloak-flow': createKeycloakFlowMetrics,
  'node-reboot': createNodeRebootMetrics,
};

/** Nodes are rebooted only by a worker that was told how. */
export function possibleCapabilities({ nodeReboot }: Pick<WorkerConfig, 'nodeReboot'>): readonly Capability[] {
  return CAPABILITIES.filter((capability) => capability !== 'node-reboot' || nodeReboot !== undefined);
}

interface Shared {
  readonly connection: NativeConnection;
  readonly client: Client;
  readonly namespace: string;
  readonly dataConverter: { payloadCodecs: Awaited<ReturnType<typeof createCodecs>> };
  readonly logger: Logger;
}

async function createWorkers(
  config: WorkerConfig,
  capabilities: readonly Capability[],
  shared: Shared,
): Promise<Worker[]> {
  const { logger, client, ...common } = shared;
  const bundle = await workflowBundle(logger);
  const kubernetes = await clustersOf(config);
  const both = sharedActivities(config, logger);
  const base = {
    ...common,
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: SHUTDOWN_FORCE,
    // A worker's death must be noticed within the heartbeat time-out of an activity, and a cancel within a fraction of it:
    // a heartbeat is how a write hears that it is no longer wanted.
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
  } as const;
  const workflows = {
    ...base,
    workflowBundle: bundle,
    maxConcurrentActivityTaskExecutions: SLOTS,
    maxCachedWorkflows: 1_000,
    stickyQueueScheduleToStartTimeout: STICKY_PATIENCE,
  } as const;
  const waits = {
    ...base,
    shutdownGraceTime: NO_GRACE,
    maxConcurrentActivityTaskExecutions: WAIT_SLOTS,
  } as const;
  const of: Readonly<Record<Capability, () => Promise<Worker>[]>> = {
    release: () => {
      const activities = { ...both, ...releaseActivities(config, kubernetes) };
      return [
        Worker.create({ ...workflows, activities, taskQueue: RELEASE_QUEUE }),
        Worker.create({ ...waits, activities, taskQueue: RELEASE_WAIT_QUEUE }),
      ];
    },
    'keycloak-flow': () => {
      const activities = { ...both, ...keycloakFlowActivities(config, kubernetes) };
      return [Worker.create({ ...workflows, activities, taskQueue: KEYCLOAK_FLOW_QUEUE })];
    },
    'node-reboot': () => {
      const activities = { ...both, ...nodeRebootActivities(config, kubernetes, client) };
      return [
        Worker.create({ ...workflows, activities, taskQueue: NODE_REBOOT_QUEUE }),
        Worker.create({ ...waits, activities, taskQueue: NODE_REBOOT_WAIT_QUEUE }),
      ];
    },
  };
  return Promise.all(capabilities.flatMap((capability) => of[capability]()));
}

/**
 * Installs Temporal's runtime with our logger and its own Prometheus exporter on a free loopback port.
 *
 * @returns a function that reads that exporter, so that `/metrics` shows the runtime's figures beside ours
 */
async function installRuntime(logger: Logger): Promise<() => Promise<string>> {
  const port = await freePort();
  Runtime.install({
    logger,
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'WARN' }, forward: {} },
      metrics: { prometheus: { bindAddress: `127.0.0.1:${port}` } },
    },
    // The commands `worker` and `dev` decide what a signal means.
    shutdownSignals: [],
  });
  return async () => {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(2_000) });
      return response.ok ? await response.text() : '';
    } catch {
      return '';
    }
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}
