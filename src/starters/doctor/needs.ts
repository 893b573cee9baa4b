import type { KubernetesConfig } from '../../activities/kubernetes/port.ts';
import type { Mode } from '../../domain/core/mode.ts';
import { workloadOf, type ReleaseSpec, type WorkloadKind } from '../../domain/release/spec.ts';
import type { WorkerConfig } from '../../worker/config.ts';
import type { ClusterNeeds } from './kubernetes-checks.ts';
import { incumbentRights, nodeRights, releaseRights } from './release-rights.ts';

const everyKind: readonly WorkloadKind[] = ['Deployment', 'StatefulSet', 'DaemonSet'];

/** The clusters of a worker configuration; without any the current kubeconfig context, called `default`. */
export function clusterConfigs(config: WorkerConfig): readonly KubernetesConfig[] {
  const configured = Object.entries(config.clusters);
  if (configured.length === 0) return [{ name: 'default' }];
  return configured.map(([name, cluster]) => {
    if ('inCluster' in cluster) return { name, inCluster: true };
    const { kubeconfig, context } = cluster;
    return { name, ...(kubeconfig === undefined ? {} : { kubeconfig }), ...(context === undefined ? {} : { context }) };
  });
}

/** The clusters that specs name and the configuration lacks. */
export function unknownClusters(config: WorkerConfig, specs: readonly ReleaseSpec[]): readonly string[] {
  const known = new Set(clusterConfigs(config).map(({ name }) => name));
  const named = specs.flatMap((spec) => [...placesOf(spec), ...incumbentsOf(spec)]).map((place) => place.cluster);
  return [...new Set(named)].filter((name) => !known.has(name));
}

/**
 * What each configured cluster must allow: what the specs touch there, or without specs whatever a release could.
 *
 * @param mode outranks the modes of the specs
 */
export function clusterNeeds(
  config: WorkerConfig,
  specs: readonly ReleaseSpec[],
  mode: Mode | undefined,
): readonly ClusterNeeds[] {
  const wanted = mode ?? (specs.some((spec) => spec.mode === 'Enforce') ? 'Enforce' : 'Shadow');
  return clusterConfigs(config).map((cluster) => {
    const kindsByNamespace =
      specs.length === 0 ? new Map([[undefined, [...everyKind]]]) : namespacesIn(cluster.name, specs);
    const rights = [...kindsByNamespace].map(([namespace, kinds]) => releaseRights(namespace, kinds));
    const incumbents = specs.flatMap(incumbentsOf).filter((place) => place.cluster === cluster.name);
    return {
      config: cluster,
      mode: wanted,
      read: [
        ...rights.flatMap(({ read }) => read),
        ...(rights.length === 0 ? [] : nodeRights),
        ...[...new Set(incumbents.map((place) => place.namespace))].flatMap(incumbentRights),
      ],
      write: rights.flatMap(({ write }) => write),
      manifests: { read: 'deploy/release/shadow', write: 'deploy/release/enforce' },
    };
  });
}

interface Place {
  readonly cluster: string;
  readonly namespace: string;
}

function placesOf(spec: ReleaseSpec): (Place & { readonly kind: WorkloadKind })[] {
  return spec.targets.map((target) => ({
    cluster: target.cluster ?? spec.cluster,
    namespace: target.namespace,
    kind: workloadOf(target).kind,
  }));
}

function incumbentsOf(spec: ReleaseSpec): Place[] {
  return spec.incumbents.map(({ cluster, namespace }) => ({ cluster: cluster ?? spec.cluster, namespace }));
}

function namespacesIn(cluster: string, specs: readonly ReleaseSpec[]): Map<string | undefined, WorkloadKind[]> {
  const found = new Map<string | undefined, WorkloadKind[]>();
  for (const place of specs.flatMap(placesOf)) {
    if (place.cluster !== cluster) continue;
    const kinds = found.get(place.namespace) ?? [];
    if (!kinds.includes(place.kind)) kinds.push(place.kind);
    found.set(place.namespace, kinds);
  }
  return found;
}
