import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import { parse } from 'yaml';
import type { KubernetesConfig } from './port.ts';

/** What keeps a kubeconfig from being used, with the cluster that it is for. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

/** A cluster and an identity, loaded anew each time so that rotated files and tokens are seen. */
export interface Loaded {
  readonly kubeConfig: KubeConfig;
  readonly cluster: Cluster;
  /** Headers that client-node does not add by itself (impersonated groups). */
  readonly headers: Readonly<Record<string, string | string[]>>;
}

/**
 * Loads what `config` names: the in-cluster service account, a kubeconfig file, or as kubectl does KUBECONFIG (several
 * files, merged), ~/.kube/config, in-cluster. client-node is imported here and nowhere earlier: it costs 0.75 s.
 * @throws KubeconfigError for people when the configuration cannot be used; that is no outcome of an API.
 */
export async function loadKubeConfig(config: KubernetesConfig): Promise<Loaded> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const kubeConfig = new KubeConfig();
  const files = configFiles(config);
  try {
    if (config.inCluster === true) {
      if (!process.env.KUBERNETES_SERVICE_HOST)
        throw new Error('KUBERNETES_SERVICE_HOST is not set: this is not a pod');
      kubeConfig.loadFromCluster();
    } else if (config.kubeconfig !== undefined) kubeConfig.loadFromFile(config.kubeconfig);
    else kubeConfig.loadFromDefault();
    if (config.context !== undefined) kubeConfig.setCurrentContext(config.context);
  } catch (error) {
    const source =
      config.inCluster === true ? 'the in-cluster service account' : files.join(', ') || 'the default kubeconfig';
    throw new KubeconfigError(`cluster "${config.name}": ${source} cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  return select(config, kubeConfig, files);
}

function select(config: KubernetesConfig, kubeConfig: KubeConfig, files: readonly string[]): Loaded {
  const context = kubeConfig.getContextObject(kubeConfig.getCurrentContext());
  if (context === null) {
    const names = kubeConfig.getContexts().map((c) => c.name);
    const wanted = config.context ?? kubeConfig.getCurrentContext();
    throw new KubeconfigError(
      `cluster "${config.name}": there is no context "${wanted}" in ${files.join(', ') || 'the kubeconfig'}` +
        `; it has ${names.length === 0 ? 'none' : names.join(', ')}`,
    );
  }
  const cluster = kubeConfig.getCurrentCluster();
  if (cluster === null)
    throw new KubeconfigError(
      `cluster "${config.name}": context "${context.name}" names the cluster "${context.cluster}", which is not in the kubeconfig`,
    );
  if (!URL.canParse(cluster.server) || !/^https?:/.test(cluster.server))
    throw new KubeconfigError(`cluster "${config.name}": "${cluster.server}" is no https:// address of an API server`);
  if (kubeConfig.getCurrentUser() === null) {
    // client-node leaves out the CA too when a context has no user.
    const user = { name: 'anonymous of holdfast' };
    kubeConfig.addUser(user);
    kubeConfig.contexts = kubeConfig.contexts.map((c) => (c.name === context.name ? { ...c, user: user.name } : c));
  }
  const user = kubeConfig.getCurrentUser();
  const headers = user === null ? {} : complete(user, cluster, userEntry(user.name, files));
  return { kubeConfig, cluster, headers };
}

/** What client-node 2.0.1 does not take from a user entry: `tokenFile`, impersonated groups, and KUBERNETES_EXEC_INFO. */
function complete(user: User, cluster: Cluster, entry: UserEntry | undefined): Record<string, string | string[]> {
  if (entry?.tokenFile !== undefined) {
    // Through its file provider, which reads the token again every minute: service account tokens rotate.
    Object.assign(user, { authProvider: { name: 'tokenFile', config: { tokenFile: entry.tokenFile } } });
  }
  const plugin: unknown = user.exec;
  if (isPlugin(plugin)) {
    // client.authentication.k8s.io: plugins read from this variable that nobody can answer a prompt, and for which cluster.
    const info = {
      apiVersion: plugin.apiVersion,
      kind: 'ExecCredential',
      spec: {
        interactive: false,
        ...(plugin.provideClusterInfo === true
          ? {
              cluster: {
                server: cluster.server,
                ...(cluster.caData === undefined ? {} : { 'certificate-authority-data': cluster.caData }),
              },
            }
          : {}),
      },
    };
    plugin.env = [...(plugin.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }];
  }
  return entry?.groups === undefined || entry.groups.length === 0 ? {} : { 'Impersonate-Group': entry.groups };
}

interface Plugin {
  apiVersion?: string;
  command: string;
  env?: { name: string; value: string }[] | null;
  provideClusterInfo?: boolean;
}

function isPlugin(value: unknown): value is Plugin {
  return typeof value === 'object' && value !== null && 'command' in value && typeof value.command === 'string';
}

interface UserEntry {
  readonly tokenFile?: string;
  readonly groups?: string[];
}

function userEntry(name: string, files: readonly string[]): UserEntry | undefined {
  for (const file of files) {
    const document: unknown = parse(readFileSync(file, 'utf8'));
    const users = field(document, 'users');
    const entry: unknown = Array.isArray(users) ? users.find((u) => field(u, 'name') === name) : undefined;
    if (entry === undefined) continue;
    const user = field(entry, 'user');
    const tokenFile = field(user, 'tokenFile');
    const groups = field(user, 'as-groups');
    return {
      ...(typeof tokenFile === 'string'
        ? { tokenFile: isAbsolute(tokenFile) ? tokenFile : join(dirname(file), tokenFile) }
        : {}),
      ...(Array.isArray(groups) ? { groups: groups.map(String) } : {}),
    };
  }
  return undefined;
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

function configFiles(config: KubernetesConfig): string[] {
  if (config.inCluster === true) return [];
  if (config.kubeconfig !== undefined) return [config.kubeconfig];
  const listed = (process.env.KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '');
  const files = listed.length > 0 ? listed : [join(homedir(), '.kube', 'config')];
  return files.filter((file) => statSync(file, { throwIfNoEntry: false }) !== undefined);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}
