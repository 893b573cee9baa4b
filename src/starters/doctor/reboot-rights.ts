import type { AccessReview, ListQuery } from '../../activities/kubernetes/port.ts';
import type { Mode } from '../../domain/core/mode.ts';
import { fail, pass } from '../../domain/core/verdict.ts';
import { lockName } from '../../domain/node-reboot/by-hand.ts';
import { hostPods } from '../../domain/node-reboot/pod.ts';
import type { NodeRebootSpec } from '../../domain/node-reboot/spec.ts';
import type { WorkerConfig } from '../../worker/config.ts';
import type { Check } from './check.ts';
import type { ClusterNeeds } from './kubernetes-checks.ts';
import { clusterConfigs } from './needs.ts';
import type { Rights } from './release-rights.ts';

/**
 * What reboots must be allowed to do in their cluster; the same as deploy/node-reboot grants, where every gate is on. What gates
 * of the spec's own list is apart: only the cluster knows how their kinds are addressed.
 */
export function rebootRights({ gates, incumbents }: Pick<NodeRebootSpec, 'gates' | 'incumbents'>): Rights {
  const { namespace, name } = lockName;
  const lock = (verb: string): AccessReview => ({ verb, group: '', resource: 'configmaps', namespace, name });
  return {
    read: [
      ...on('', 'nodes', ['get', 'list', 'watch']),
      ...on('', 'pods', ['list']),
      ...on('policy', 'poddisruptionbudgets', ['list']),
      ...(gates.dns === false ? [] : on('apps', 'deployments', ['get'])),
      ...(gates.releases ? releaseKinds.flatMap((kind) => on('apps', kind, ['list'])) : []),
      ...(incumbents.length === 0 ? [] : on('apps', 'daemonsets', ['get'])),
      ...(gates.longhorn === undefined
        ? []
        : ['volumes', 'replicas'].flatMap((kind) => on('longhorn.io', kind, ['list']))),
      ...(gates.cloudNativePG === undefined ? [] : on('postgresql.cnpg.io', 'clusters', ['list'])),
      ...(gates.nfs === undefined
        ? []
        : ['persistentvolumeclaims', 'persistentvolumes'].flatMap((kind) => on('', kind, ['list']))),
      ...(gates.kubeVirt === undefined ? [] : on('kubevirt.io', 'virtualmachineinstances', ['list'])),
      lock('get'),
      // A host is asked by a pod on it, whatever the mode.
      ...['get', 'create', 'delete'].map((verb) => ({
        verb,
        group: '',
        resource: 'pods',
        namespace: hostPods.namespace,
      })),
    ],
    write: [
      ...on('', 'nodes', ['patch']),
      { verb: 'create', group: '', resource: 'pods', subresource: 'eviction' },
      ...(gates.cloudNativePG === undefined
        ? []
        : [{ verb: 'patch', group: 'postgresql.cnpg.io', resource: 'clusters', subresource: 'status' }]),
      lock('patch'),
    ],
  };
}

const releaseKinds = ['deployments', 'statefulsets', 'daemonsets', 'replicasets'];

function on(group: string, resource: string, verbs: readonly string[]): AccessReview[] {
  return verbs.map((verb) => ({ verb, group, resource }));
}

const manifests = { read: 'deploy/node-reboot', write: 'deploy/node-reboot' };

/**
 * What each cluster must allow for reboots; none where no spec names it.
 *
 * @param mode outranks the modes of the specs
 */
export function rebootClusterNeeds(
  config: WorkerConfig,
  specs: readonly NodeRebootSpec[],
  mode: Mode | undefined,
): readonly ClusterNeeds[] {
  return clusterConfigs(config).flatMap((cluster): ClusterNeeds[] => {
    const here = specs.filter((spec) => spec.cluster === cluster.name);
    if (here.length === 0) return [];
    const rights = here.map(rebootRights);
    return [
      {
        config: cluster,
        mode: mode ?? (here.some((spec) => spec.mode === 'Enforce') ? 'Enforce' : 'Shadow'),
        read: unique(rights.flatMap(({ read }) => read)),
        write: unique(rights.flatMap(({ write }) => write)),
        lists: unique(here.flatMap(customLists)),
        manifests,
      },
    ];
  });
}

/** What gates of the spec's own list. */
function customLists({ gates }: NodeRebootSpec): ListQuery[] {
  return gates.custom.flatMap(({ resource }) => {
    if (resource === undefined) return [];
    const { apiVersion, kind, namespace } = resource;
    return [{ apiVersion, kind, ...(namespace === undefined ? {} : { namespace }) }];
  });
}

/** Several specs ask for the same. */
function unique<T>(asked: readonly T[]): T[] {
  return [...new Map(asked.map((one) => [JSON.stringify(one), one])).values()];
}

/** The clusters that specs name and the configuration lacks. */
export function unknownRebootClusters(config: WorkerConfig, specs: readonly NodeRebootSpec[]): readonly string[] {
  const known = new Set(clusterConfigs(config).map(({ name }) => name));
  return specs.map(({ cluster }) => cluster).filter((name) => !known.has(name));
}

/** What specs name of the configuration, beside clusters: each as a check that says what it has. */
export function rebootNameChecks(config: WorkerConfig, specs: readonly NodeRebootSpec[]): readonly Check[] {
  const { commands = {}, prometheus = {}, etcd = {} } = config.nodeReboot ?? {};
  const servers = config.prometheus === undefined ? prometheus : { default: config.prometheus, ...prometheus };
  const gates = specs.map((spec) => spec.gates);
  const commandsNamed = specs.flatMap(({ method }) => ('command' in method ? [method.command] : []));
  const etcdNamed = gates.flatMap((of) => (of.etcd === undefined ? [] : [of.etcd.cluster]));
  const serversNamed = gates.flatMap(({ alerts, longhorn, custom }) => [
    ...(alerts === undefined ? [] : [alerts.prometheus]),
    ...(longhorn?.prometheus === undefined ? [] : [longhorn.prometheus]),
    ...custom.flatMap((gate) => (gate.query === undefined ? [] : [gate.prometheus])),
  ]);
  return [
    ...nameChecks('reboot command', commandsNamed, commands, 'nodeReboot.commands', 'method'),
    ...nameChecks('etcd cluster', etcdNamed, etcd, 'nodeReboot.etcd', 'gates.etcd'),
    ...nameChecks('Prometheus', serversNamed, servers, 'prometheus, or nodeReboot.prometheus,', 'the gate'),
  ];
}

function nameChecks(
  what: string,
  named: readonly string[],
  known: Readonly<Record<string, unknown>>,
  where: string,
  field: string,
): Check[] {
  const there = Object.keys(known).sort();
  return [...new Set(named)].map((name) => ({
    name: `${what} ${name}`,
    verdict: there.includes(name)
      ? pass('the worker configuration has it')
      : fail('NotConfigured', `a spec names it, and the worker configuration has ${there.join(', ') || 'none'}`),
    fix: `add it under ${where} in the worker configuration (--config), or change ${field} in the spec`,
  }));
}

/** Without an image for the pods on hosts no worker takes reboots on. */
export function rebootConfigCheck({ nodeReboot }: WorkerConfig): Check {
  return {
    name: 'pods on hosts',
    verdict:
      nodeReboot === undefined
        ? fail(
            'NoHostImage',
            'the worker configuration names no image for them, so that no node can be asked or rebooted',
          )
        : pass(`of image ${nodeReboot.hostImage}`),
    fix: 'name it under nodeReboot: { hostImage: IMAGE } in the worker configuration (--config): with sh, cat, grep and nsenter',
  };
}
