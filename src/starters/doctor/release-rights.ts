import type { AccessReview } from '../../activities/kubernetes/port.ts';
import type { WorkloadKind } from '../../domain/release/spec.ts';

/** What a release must be allowed to do, per mode; the same as deploy/release grants. */
export interface Rights {
  readonly read: readonly AccessReview[];
  readonly write: readonly AccessReview[];
}

const plurals: Readonly<Record<WorkloadKind, string>> = {
  Deployment: 'deployments',
  StatefulSet: 'statefulsets',
  DaemonSet: 'daemonsets',
};

/** What lies between a workload and its pods. */
const between: Readonly<Record<WorkloadKind, string>> = {
  Deployment: 'replicasets',
  StatefulSet: 'controllerrevisions',
  DaemonSet: 'controllerrevisions',
};

/**
 * Rights in one namespace.
 *
 * @param namespace undefined for all namespaces
 * @param kinds the kinds of workloads that are targets there
 */
export function releaseRights(namespace: string | undefined, kinds: readonly WorkloadKind[]): Rights {
  const place = namespace === undefined ? {} : { namespace };
  const on = (group: string, resource: string, verbs: readonly string[], subresource?: string): AccessReview[] =>
    verbs.map((verb) => ({ verb, group, resource, ...place, ...(subresource === undefined ? {} : { subresource }) }));
  const resources = new Set(kinds.flatMap((kind) => [plurals[kind], between[kind]]));
  return {
    read: [
      ...[...resources].flatMap((resource) => on('apps', resource, ['get', 'list', 'watch'])),
      ...on('', 'pods', ['get', 'list', 'watch']),
    ],
    write: [
      ...kinds.flatMap((kind) => on('apps', plurals[kind], ['patch'])),
      ...on('', 'pods', ['delete']),
      ...on('', 'pods', ['get', 'update'], 'proxy'),
      ...on('', 'pods', ['get', 'create'], 'exec'),
      ...on('events.k8s.io', 'events', ['create']),
    ],
  };
}

/** Nodes are of the whole cluster: which architectures there are. */
export const nodeRights: readonly AccessReview[] = ['get', 'list'].map((verb) => ({
  verb,
  group: '',
  resource: 'nodes',
}));

/** An incumbent that cannot be read counts as active. */
export function incumbentRights(namespace: string): readonly AccessReview[] {
  return [{ verb: 'get', group: 'batch', resource: 'cronjobs', namespace }];
}

/** `patch deployments.apps in shop`. */
export function describeRight({ verb, group, resource, subresource, namespace }: AccessReview): string {
  const name = `${resource}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
  return `${verb} ${name}${namespace === undefined ? '' : ` in ${namespace}`}`;
}
