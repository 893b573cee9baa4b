import type { ListQuery, ObjectRef } from './port.ts';

/** How a kind is addressed: its plural name, and whether it lives in namespaces. */
export interface Resource {
  readonly plural: string;
  readonly namespaced: boolean;
}

const namespaced = (plural: string): Resource => ({ plural, namespaced: true });
const clusterScoped = (plural: string): Resource => ({ plural, namespaced: false });

/** The kinds that Holdfast uses itself, so that the common case asks the API server nothing. */
const known: ReadonlyMap<string, Resource> = new Map([
  ['v1/ConfigMap', namespaced('configmaps')],
  ['v1/Event', namespaced('events')],
  ['v1/Namespace', clusterScoped('namespaces')],
  ['v1/Node', clusterScoped('nodes')],
  ['v1/PersistentVolume', clusterScoped('persistentvolumes')],
  ['v1/PersistentVolumeClaim', namespaced('persistentvolumeclaims')],
  ['v1/Pod', namespaced('pods')],
  ['v1/Secret', namespaced('secrets')],
  ['v1/Service', namespaced('services')],
  ['v1/ServiceAccount', namespaced('serviceaccounts')],
  ['apps/v1/ControllerRevision', namespaced('controllerrevisions')],
  ['apps/v1/DaemonSet', namespaced('daemonsets')],
  ['apps/v1/Deployment', namespaced('deployments')],
  ['apps/v1/ReplicaSet', namespaced('replicasets')],
  ['apps/v1/StatefulSet', namespaced('statefulsets')],
  ['batch/v1/CronJob', namespaced('cronjobs')],
  ['batch/v1/Job', namespaced('jobs')],
  ['coordination.k8s.io/v1/Lease', namespaced('leases')],
  ['events.k8s.io/v1/Event', namespaced('events')],
  ['policy/v1/PodDisruptionBudget', namespaced('poddisruptionbudgets')],
  ['storage.k8s.io/v1/VolumeAttachment', clusterScoped('volumeattachments')],
]);

/** The address of a kind that is known without asking, else undefined (then discovery answers). */
export function knownResource(apiVersion: string, kind: string): Resource | undefined {
  return known.get(`${apiVersion}/${kind}`);
}

/**
 * One path segment, or undefined for a text that would address something else. The API server decodes `%2F` before it
 * routes, so encoding is not enough: names with a slash, a percent sign, or made of dots are refused, as the API server
 * itself refuses to store them (apimachinery, IsValidPathSegmentName).
 */
export function pathSegment(text: string): string | undefined {
  if (text === '' || text === '.' || text === '..' || /[/%\\]/.test(text)) return undefined;
  return encodeURIComponent(text);
}

/** `/api/v1` or `/apis/GROUP/VERSION`; undefined when the text is neither. */
export function groupVersionPath(apiVersion: string): string | undefined {
  const parts = apiVersion.split('/').map(pathSegment);
  if (parts.length > 2 || parts.includes(undefined)) return undefined;
  return parts.length === 1 ? `/api/${parts[0]}` : `/apis/${parts.join('/')}`;
}

/**
 * The path of a collection (or of one object in it), below the server's address.
 * @returns the path, or why there is none, as a sentence.
 */
export function resourcePath(
  target: Pick<ListQuery, 'apiVersion' | 'kind' | 'namespace'> & Partial<Pick<ObjectRef, 'name'>>,
  resource: Resource,
): { readonly path: string } | { readonly problem: string } {
  const base = groupVersionPath(target.apiVersion);
  if (base === undefined) return { problem: `"${target.apiVersion}" is no apiVersion` };
  let path = base;
  if (resource.namespaced) {
    if (target.namespace !== undefined) {
      const segment = pathSegment(target.namespace);
      if (segment === undefined) return { problem: `"${target.namespace}" is no name of a namespace` };
      path += `/namespaces/${segment}`;
    } else if (target.name !== undefined) {
      return { problem: `${target.kind} ${target.name} needs a namespace` };
    }
  }
  path += `/${resource.plural}`;
  if (target.name === undefined) return { path };
  const name = pathSegment(target.name);
  if (name === undefined) return { problem: `"${target.name}" is no name of an object` };
  return { path: `${path}/${name}` };
}

/** How an object is called in messages: `Deployment shop/web`. */
export function describe(ref: { readonly kind: string; readonly namespace?: string; readonly name: string }): string {
  return `${ref.kind} ${ref.namespace === undefined ? '' : `${ref.namespace}/`}${ref.name}`;
}

/** How a query is called in messages: `Pods in shop with app=web`. */
export function describeQuery(query: ListQuery): string {
  const where = query.namespace === undefined ? 'in all namespaces' : `in ${query.namespace}`;
  const selectors = [query.labelSelector, query.fieldSelector].filter((s) => s !== undefined && s !== '');
  return `list of ${query.kind} ${where}${selectors.length > 0 ? ` with ${selectors.join(' and ')}` : ''}`;
}
