import { reviewAccess, readVersion } from './access.ts';
import { createCredentials } from './credentials.ts';
import { createDiscovery } from './discovery.ts';
import { evictPod } from './evict.ts';
import { recordEvent } from './events.ts';
import { execInPod } from './exec.ts';
import { loadKubeConfig } from './kubeconfig.ts';
import { requestPod } from './pod-proxy.ts';
import type { KubernetesClient, KubernetesConfig } from './port.ts';
import { getObject, listObjects } from './reads.ts';
import type { Connection } from './reads.ts';
import { createTransport } from './transport.ts';
import { watchObjects } from './watch.ts';
import type { WatchPace } from './watch.ts';
import { createObject, deleteObject, patchObject } from './writes.ts';

const defaultRequestTimeoutMs = 15_000;

/**
 * The real adapter of KubernetesPort for one cluster. Nothing is asked of the API server yet.
 * @param pace how watches pace themselves; for tests.
 * @throws an Error for people when the kubeconfig cannot be used.
 */
export async function createKubernetes(config: KubernetesConfig, pace?: WatchPace): Promise<KubernetesClient> {
  const load = () => loadKubeConfig(config);
  const credentials = createCredentials(await load(), load);
  const transport = createTransport(credentials, config.userAgent ?? 'holdfast');
  const connection: Connection = {
    transport,
    discovery: createDiscovery(transport),
    requestTimeoutMs: config.requestTimeoutMs ?? defaultRequestTimeoutMs,
  };
  return {
    cluster: config.name,
    get: (ref, options) => getObject(connection, ref, options),
    list: (query, options) => listObjects(connection, query, options),
    patch: (ref, body, options) => patchObject(connection, ref, body, options),
    create: (object, options) => createObject(connection, object, options),
    delete: (ref, options) => deleteObject(connection, ref, options),
    evict: (pod) => evictPod(connection, pod),
    watch: (query, { signal }) => watchObjects(connection, query, signal, pace),
    exec: (pod, command, options) => execInPod(transport, pod, command, options),
    podRequest: (pod, request) => requestPod(transport, pod, request),
    can: (review) => reviewAccess(connection, review),
    version: () => readVersion(connection),
    event: (ref, event) => recordEvent(connection, ref, event, new Date().toISOString()),
    close: () => transport.close(),
  };
}
