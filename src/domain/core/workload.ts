/**
 * Deployments, StatefulSets and DaemonSets, narrowed to the fields that decisions read, and which pods belong to the
 * template that a workload has now. Pods are told by ownership (controller reference, by uid), never by labels: pods of
 * the previous revision carry the same ones.
 */

export interface OwnerReference {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

/** Metadata of an object that was read from the API server, so that uid and resourceVersion are there. */
export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
}

export interface Container {
  readonly name: string;
  readonly image: string;
}

export interface PodTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: PodSpec;
}

/** A few named fields; everything else takes part in comparing templates, unread. */
export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
}

interface WorkloadBase {
  readonly metadata: Metadata;
}

export interface Deployment extends WorkloadBase {
  readonly kind: 'Deployment';
  readonly spec: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly minReadySeconds?: number;
    readonly progressDeadlineSeconds?: number;
    readonly strategy?: { readonly type?: string };
    readonly template: PodTemplate;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly unavailableReplicas?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface StatefulSet extends WorkloadBase {
  readonly kind: 'StatefulSet';
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
    readonly template: PodTemplate;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly currentRevision?: string;
    readonly updateRevision?: string;
    readonly conditions?: readonly Condition[];
  };
}

export interface DaemonSet extends WorkloadBase {
  readonly kind: 'DaemonSet';
  readonly spec: {
    readonly minReadySeconds?: number;
    readonly updateStrategy?: { readonly type?: string };
    readonly template: PodTemplate;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly desiredNumberScheduled?: number;
    readonly currentNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberReady?: number;
    readonly numberAvailable?: number;
    readonly numberUnavailable?: number;
    readonly numberMisscheduled?: number;
    readonly conditions?: readonly Condition[];
  };
}

export type Workload = Deployment | StatefulSet | DaemonSet;

export interface ReplicaSet {
  readonly metadata: Metadata;
  readonly spec: { readonly replicas?: number; readonly template: PodTemplate };
}

export interface ControllerRevision {
  readonly metadata: Metadata;
  /** Rises with each change of the template; going back to an old template gives its revision a new number. */
  readonly revision: number;
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly reason?: string;
    readonly message?: string;
    readonly signal?: number;
    readonly startedAt?: string;
    readonly finishedAt?: string;
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly started?: boolean;
  readonly restartCount: number;
  readonly image?: string;
  readonly imageID?: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

export interface Pod {
  readonly metadata: Metadata;
  readonly spec?: PodSpec;
  readonly status?: {
    readonly phase?: string;
    /** Such as `Evicted`. */
    readonly reason?: string;
    readonly message?: string;
    readonly startTime?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

/** What makes the pods of a workload: ReplicaSets of a Deployment, ControllerRevisions of the other two. */
export type Revision = ReplicaSet | ControllerRevision;

const replicaSetHash = 'pod-template-hash';
const revisionHash = 'controller-revision-hash';

/** Whether the workload's controller has seen the newest spec; before that its whole status speaks of an older one. */
export function isObserved(workload: Workload): boolean {
  const { generation } = workload.metadata;
  const observed = workload.status?.observedGeneration;
  return generation !== undefined && observed !== undefined && observed >= generation;
}

/** The object's controller is exactly this one, by uid. */
export function isControlledBy(object: { readonly metadata: Metadata }, uid: string | undefined): boolean {
  if (uid === undefined) return false;
  return object.metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) ?? false;
}

/** The pod is on its way out. */
export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}

/** The pod is neither on its way out nor over (as an evicted one is): its controller counts on it. */
export function isActive(pod: Pod): boolean {
  return !isTerminating(pod) && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed';
}

/**
 * The ReplicaSet that carries a Deployment's current template: owned by it, and with the same template but for the hash
 * label that the controller adds (as the Deployment controller itself finds it). Of several the oldest.
 * @returns null while the controller has not made it yet.
 */
export function currentReplicaSet(deployment: Deployment, replicaSets: readonly ReplicaSet[]): ReplicaSet | null {
  const wanted = fingerprint(deployment.spec.template);
  const same = replicaSets.filter(
    (set) => isControlledBy(set, deployment.metadata.uid) && fingerprint(set.spec.template) === wanted,
  );
  return same.sort(byAge)[0] ?? null;
}

/**
 * The `controller-revision-hash` of a StatefulSet's or DaemonSet's current template: a StatefulSet tells it in its
 * status, a DaemonSet's is the newest revision that it owns.
 * @returns null while the controller has not seen the newest spec.
 */
export function currentRevisionHash(
  workload: StatefulSet | DaemonSet,
  revisions: readonly ControllerRevision[],
): string | null {
  if (!isObserved(workload)) return null;
  if (workload.kind === 'StatefulSet') return workload.status?.updateRevision ?? null;
  const owned = revisions.filter((revision) => isControlledBy(revision, workload.metadata.uid));
  const newest = owned.reduce<ControllerRevision | null>(
    (best, next) => (best === null || next.revision > best.revision ? next : best),
    null,
  );
  return newest?.metadata.labels?.[revisionHash] ?? null;
}

/**
 * The pods that run (or try to run) the template that the workload has now. Terminating pods are left out: they count
 * neither for nor against it. Pods that are over (`Failed`, such as evicted ones) are in; see `isActive`.
 * @param revisions ReplicaSets for a Deployment, ControllerRevisions for a DaemonSet; a StatefulSet needs none.
 * @returns null while the current template's revision does not exist yet, so that nothing can be said of its pods.
 */
export function podsOfCurrentTemplate(
  workload: Workload,
  revisions: readonly Revision[],
  pods: readonly Pod[],
): Pod[] | null {
  const alive = pods.filter((pod) => !isTerminating(pod));
  if (workload.kind === 'Deployment') {
    const set = currentReplicaSet(workload, revisions.filter(isReplicaSet));
    return set === null ? null : alive.filter((pod) => isControlledBy(pod, set.metadata.uid));
  }
  const hash = currentRevisionHash(workload, revisions.filter(isControllerRevision));
  if (hash === null) return null;
  // A StatefulSet's updateRevision is a revision's name, `web-5d6f7c`; the label on pods is the same text.
  return alive.filter(
    (pod) => isControlledBy(pod, workload.metadata.uid) && pod.metadata.labels?.[revisionHash] === hash,
  );
}

/** The pods of older templates that are still there and not on their way out. */
export function podsOfOlderTemplates(workload: Workload, revisions: readonly Revision[], pods: readonly Pod[]): Pod[] {
  const current = new Set(podsOfCurrentTemplate(workload, revisions, pods)?.map((pod) => pod.metadata.uid));
  const owners =
    workload.kind === 'Deployment'
      ? revisions.filter((set) => isControlledBy(set, workload.metadata.uid)).map((set) => set.metadata.uid)
      : [workload.metadata.uid];
  return pods.filter(
    (pod) => !isTerminating(pod) && !current.has(pod.metadata.uid) && owners.some((uid) => isControlledBy(pod, uid)),
  );
}

/** Whether two templates would make the same pods: equal but for the hash label that the controller adds. */
export function sameTemplate(a: PodTemplate, b: PodTemplate): boolean {
  return fingerprint(a) === fingerprint(b);
}

function fingerprint({ metadata, spec }: PodTemplate): string {
  const labels = Object.entries(metadata?.labels ?? {}).filter(([name]) => name !== replicaSetHash);
  const annotations = Object.entries(metadata?.annotations ?? {});
  return JSON.stringify(
    normal({ labels: Object.fromEntries(labels), annotations: Object.fromEntries(annotations), spec }),
  );
}

/** Keys have no order, and null and `[]` are how Go may write what is absent. `{}` is not: `emptyDir: {}` says something. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([, field]) => field !== null && field !== undefined && !(Array.isArray(field) && field.length === 0))
    .map(([key, field]) => [key, normal(field)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries);
}

function byAge(a: ReplicaSet, b: ReplicaSet): number {
  const order = (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '');
  return order === 0 ? a.metadata.name.localeCompare(b.metadata.name) : order;
}

function isReplicaSet(revision: Revision): revision is ReplicaSet {
  return 'spec' in revision;
}

function isControllerRevision(revision: Revision): revision is ControllerRevision {
  return 'revision' in revision;
}
