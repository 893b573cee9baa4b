import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { createEtcd } from '../activities/etcd/create.ts';
import type { EtcdConfig } from '../activities/etcd/port.ts';
import type { KubernetesPort } from '../activities/kubernetes/port.ts';
import { createNodeRebootActivities } from '../activities/node-reboot/create.ts';
import type { NodeRebootActivities } from '../activities/node-reboot/port.ts';
import { createPrometheus } from '../activities/prometheus/create.ts';
import type { HolderRun } from '../domain/node-reboot/lock.ts';
import { nodeRebootId } from '../workflows/node-reboot/messages.ts';
import { ConfigError, type WorkerConfig } from './config.ts';
import { prometheusConfig } from './prometheus-config.ts';

/**
 * The activities of NodeReboots over the clusters of a configuration.
 *
 * @param kubernetes the cluster of that name; null where this worker has none
 * @param client asks Temporal how the run stands that a lock names
 * @throws ConfigError where the configuration does not say how nodes are rebooted
 */
export function nodeRebootActivities(
  config: WorkerConfig,
  kubernetes: (cluster: string) => KubernetesPort | null,
  client: Client,
): NodeRebootActivities {
  const { hostImage, commands, prometheus, etcd } = requireNodeReboot(config);
  const servers = config.prometheus === undefined ? prometheus : { default: config.prometheus, ...prometheus };
  return createNodeRebootActivities({
    kubernetes,
    prometheus: byName(servers, (server) => createPrometheus(prometheusConfig(server))),
    etcd: byName(etcd, (cluster) => createEtcd(etcdConfig(cluster))),
    holderRun: (campaign, run) => holderRun(client, campaign, run),
    hostImage,
    commands,
  });
}

/** One port for each name of a configuration; null for a name that it has not. */
function byName<Config, Port>(
  configured: Readonly<Record<string, Config>>,
  create: (config: Config) => Port,
): (name: string) => Port | null {
  const ports = new Map(Object.entries(configured).map(([name, config]) => [name, create(config)]));
  return (name) => ports.get(name) ?? null;
}

function etcdConfig({ endpoints, caFile, certFile, keyFile }: NodeRebootConfig['etcd'][string]): EtcdConfig {
  return {
    endpoints,
    ...(caFile === undefined ? {} : { caFile }),
    ...(certFile === undefined ? {} : { certFile }),
    ...(keyFile === undefined ? {} : { keyFile }),
  };
}

type NodeRebootConfig = NonNullable<WorkerConfig['nodeReboot']>;

/**
 * What the configuration says of reboots.
 *
 * @throws ConfigError with what is missing and why nothing goes without it
 */
export function requireNodeReboot({ nodeReboot }: WorkerConfig): NodeRebootConfig {
  if (nodeReboot !== undefined) return nodeReboot;
  throw new ConfigError(
    'capability node-reboot needs nodeReboot: { hostImage: IMAGE } in the worker configuration: an image with sh, cat, grep and nsenter, of which the pods are made that ask a host whether it wants a reboot, and that reboot it',
  );
}

/**
 * How the chain of runs stands that begins with a run of a campaign's workflow. Asked by its id, since a list of executions
 * lags behind.
 *
 * @param run the first run of the chain, as a lock names it
 */
export async function holderRun(client: Pick<Client, 'workflow'>, campaign: string, run: string): Promise<HolderRun> {
  // Temporal refuses what does not look like one, which is no answer; anybody may have written it into the lock.
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(run)) return 'unknown';
  const id = nodeRebootId(campaign);
  const first = await described(client, id, run);
  if (first !== null && first.status.name !== 'CONTINUED_AS_NEW') {
    return first.status.name === 'RUNNING' ? 'running' : 'ended';
  }
  const newest = await described(client, id);
  if (newest?.raw.workflowExecutionInfo?.firstRunId === run) {
    return newest.status.name === 'RUNNING' ? 'running' : 'ended';
  }
  // Temporal forgets a run when its retention is over, though its chain may go on for years.
  return first === null ? 'unknown' : 'ended';
}

/** A run of a workflow, the newest where none is named; null where Temporal knows none. */
async function described(client: Pick<Client, 'workflow'>, id: string, run?: string) {
  try {
    return await client.workflow.getHandle(id, run).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
