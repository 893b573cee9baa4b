import { readFile } from 'node:fs/promises';
import { Context } from '@temporalio/activity';
import { createApprovalActivities, type ApprovalActivities } from '../activities/approval/verify-signature.ts';
import { createKubernetes } from '../activities/kubernetes/create.ts';
import type { KubernetesConfig, KubernetesPort } from '../activities/kubernetes/port.ts';
import { createNotifyActivities, type NotifyActivities } from '../activities/notify/create.ts';
import { createLogNotifier, type NotificationLog } from '../activities/notify/log.ts';
import type { Notifier } from '../activities/notify/port.ts';
import type { ReferenceSource } from '../activities/notify/reference.ts';
import { createWebhookNotifier } from '../activities/notify/webhook.ts';
import { createPrometheus } from '../activities/prometheus/create.ts';
import type { PrometheusConfig } from '../activities/prometheus/port.ts';
import { createRegistry } from '../activities/registry/create.ts';
import { createReleaseActivities } from '../activities/release/create.ts';
import type { ReleaseActivities } from '../activities/release/port.ts';
import { readSecret, type WorkerConfig } from './config.ts';

/**
 * The activities of releases over the clusters, registries, Prometheus and receivers of a configuration. Without
 * clusters in it, the current kubeconfig context is the cluster `default`.
 *
 * @param log hears every notification
 */
export async function releaseActivities(
  config: WorkerConfig,
  log: NotificationLog,
): Promise<ReleaseActivities & ApprovalActivities & NotifyActivities> {
  const clusters = new Map<string, KubernetesPort>();
  const configured = Object.keys(config.clusters).length > 0 ? config.clusters : { default: {} };
  for (const [name, cluster] of Object.entries(configured)) {
    clusters.set(name, await createKubernetes(kubernetesConfig(name, cluster)));
  }
  return {
    ...createApprovalActivities(),
    ...createNotifyActivities({
      notifiers: [createLogNotifier(log), ...config.notify.map(webhookOf)],
      signal: () => Context.current().cancellationSignal,
    }),
    ...createReleaseActivities({
      kubernetes: (name) => clusters.get(name) ?? null,
      registry: createRegistry({ registries: config.registries, dockerConfig: config.dockerConfig }),
      freezes: config.freeze,
      prometheus: config.prometheus === undefined ? null : createPrometheus(prometheusConfig(config.prometheus)),
    }),
  };
}

function webhookOf({ name, webhook, format }: WorkerConfig['notify'][number], index: number): Notifier {
  const source: ReferenceSource = {
    env: (variable) => process.env[variable],
    readFile: (path) => readFile(path, 'utf8'),
  };
  return createWebhookNotifier({ name: name ?? `${index + 1}`, url: webhook, format }, source);
}

function kubernetesConfig(name: string, cluster: WorkerConfig['clusters'][string]): KubernetesConfig {
  if ('inCluster' in cluster) return { name, inCluster: true };
  const { kubeconfig, context } = cluster;
  return { name, ...(kubeconfig === undefined ? {} : { kubeconfig }), ...(context === undefined ? {} : { context }) };
}

function prometheusConfig(config: NonNullable<WorkerConfig['prometheus']>): PrometheusConfig {
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
