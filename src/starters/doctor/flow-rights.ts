import type { AccessReview } from '../../activities/kubernetes/port.ts';
import type { KeycloakFlowSpec } from '../../domain/keycloak-flow/spec.ts';
import type { WorkerConfig } from '../../worker/config.ts';
import type { ClusterNeeds } from './kubernetes-checks.ts';
import { clusterConfigs } from './needs.ts';

/** What is read of a cluster for login flows, by its name: bind switches, and credentials that stand in Secrets. */
export function flowRights(
  config: WorkerConfig,
  specs: readonly KeycloakFlowSpec[],
): ReadonlyMap<string, AccessReview[]> {
  const rights = new Map<string, AccessReview[]>();
  const add = (cluster: string, resource: string, namespace: string, name: string): void => {
    const known = rights.get(cluster) ?? [];
    if (!known.some((other) => other.resource === resource && other.namespace === namespace && other.name === name)) {
      known.push({ verb: 'get', group: '', resource, namespace, name });
    }
    rights.set(cluster, known);
  };
  for (const { bind } of specs) {
    if (bind === undefined || !('configMap' in bind)) continue;
    const { cluster, namespace, name } = bind.configMap;
    add(cluster, 'configmaps', namespace, name);
  }
  const servers = new Set(specs.map(({ server }) => server));
  const named = specs.flatMap(({ probe }) =>
    Object.values(probe?.users ?? {}).flatMap((user) => Object.values(user ?? {})),
  );
  const references = [
    ...Object.entries(config.keycloak).flatMap(([name, { clientId, clientSecret }]) =>
      servers.has(name) ? [clientId, clientSecret] : [],
    ),
    ...[...new Set(named)].flatMap((name) => (Object.hasOwn(config.secrets, name) ? (config.secrets[name] ?? []) : [])),
  ];
  for (const reference of references) {
    if (!('secret' in reference)) continue;
    const { cluster, namespace, name } = reference.secret;
    add(cluster, 'secrets', namespace, name);
  }
  return rights;
}

/** Nothing is written in a cluster. */
const manifests = { read: 'deploy/keycloak-flow', write: 'deploy/keycloak-flow' };

/** What each cluster must allow for login flows; none where nothing is read there. */
export function flowClusterNeeds(config: WorkerConfig, specs: readonly KeycloakFlowSpec[]): readonly ClusterNeeds[] {
  const rights = flowRights(config, specs);
  return clusterConfigs(config).flatMap((cluster): ClusterNeeds[] => {
    const read = rights.get(cluster.name) ?? [];
    return read.length === 0 ? [] : [{ config: cluster, mode: 'Shadow', read, write: [], manifests }];
  });
}
