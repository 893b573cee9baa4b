import type { Reading, Unmeasured, UnmeasuredCause } from '../../domain/core/verdict.ts';

/**
 * What Holdfast asks of a Kubernetes API server. Every capability talks to this port; `createKubernetes` (create.ts) is
 * its one real adapter. Answers of the API are values, never exceptions: what could not be read is `unmeasured` with
 * its cause, and a write whose effect is not known is `unknown`.
 */

/** One object by name. Cluster-scoped kinds leave the namespace out. */
export interface ObjectRef {
  /** Such as `apps/v1`, `v1` or `holdfast.dev/v1alpha1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** Objects of one kind; without a namespace those of all namespaces. */
export interface ListQuery {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

/** One entry of `metadata.managedFields`; `fieldsV1` is read by src/domain/core/managed-fields.ts. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  readonly subresource?: string;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  /** Instants are RFC 3339 strings, as on the wire. */
  readonly deletionTimestamp?: string;
  readonly creationTimestamp?: string;
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** Any object as on the wire; callers narrow it with a type of their own that extends this one. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** `json` bodies are arrays of RFC 6902 operations; the other three are partial objects. */
export type PatchType = 'strategic' | 'merge' | 'json' | 'apply';

/** Checked by the API server inside the write itself: when one does not hold, nothing is written (`conflict`). */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** One field that the API server refused. */
export interface InvalidCause {
  readonly field?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** What became of one write. A write is sent once; only an answer 401 (nothing was done) is sent again, with new credentials. */
export type WriteOutcome<T> =
  | { readonly kind: 'written'; readonly object: T }
  /** A precondition did not hold, the object changed meanwhile, it exists already, or another manager owns the field. */
  | { readonly kind: 'conflict'; readonly message: string }
  | { readonly kind: 'missing'; readonly message: string }
  | { readonly kind: 'denied'; readonly message: string }
  | { readonly kind: 'invalid'; readonly message: string; readonly causes: readonly InvalidCause[] }
  /** The write may or may not have taken effect: read the object back. */
  | {
      readonly kind: 'unknown';
      readonly cause: UnmeasuredCause;
      readonly message: string;
      /** `none` when it is certain that nothing was written (never connected, throttled); absent when it is not. */
      readonly effect?: 'none';
      /** What the API server asked to wait before the next try. */
      readonly retryAfterMs?: number;
    };

export interface ReadOptions {
  /** Bound over all tries of this reading [the adapter's requestTimeoutMs]. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ObjectList<T> {
  readonly items: T[];
  readonly resourceVersion: string;
}

export interface PatchOptions {
  readonly type: PatchType;
  readonly fieldManager: string;
  readonly preconditions?: Preconditions;
  /** Only for `apply`: take fields over from other managers. */
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly subresource?: 'status' | 'scale';
}

export interface DeleteOptions {
  readonly preconditions?: Preconditions;
  readonly propagationPolicy: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
}

/** `listed` comes first and again after every re-list; between two of them only changes. */
export type WatchEvent<T> =
  | { readonly type: 'listed'; readonly items: T[]; readonly resourceVersion: string }
  | { readonly type: 'added' | 'modified' | 'deleted'; readonly object: T }
  /** The API cannot be reached or refuses; the watch backs off and goes on by itself. */
  | { readonly type: 'interrupted'; readonly reading: Unmeasured };

export interface ExecTarget {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
}

export interface ExecOptions {
  readonly timeoutMs: number;
  readonly stdin?: string;
  readonly signal?: AbortSignal;
}

export type ExecOutcome =
  { readonly kind: 'exited'; readonly code: number; readonly stdout: string; readonly stderr: string } | Unmeasured;

/** Just this pod, and no other of its name. */
export interface PodUid {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What came of asking for an eviction. */
export type EvictOutcome =
  /** The pod is told to end; it may take its grace period. */
  | { readonly kind: 'evicted' }
  | { readonly kind: 'gone' }
  /** A disruption budget allows none now. */
  | { readonly kind: 'blocked'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string }
  /** It may or may not have been told: look at the pod. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface PodPort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

export interface PodRequest {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** Path and query, starting with `/`. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface PodResponse {
  readonly status: number;
  readonly body: string;
}

export interface AccessReview {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

export interface EventContent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly action: string;
  readonly reportingInstance?: string;
  /** Tells runs apart: the same content about the same object with the same key is one event, however often it is sent. */
  readonly runId?: string;
}

export interface KubernetesPort {
  /** The configured name of the cluster, as specs use it. */
  readonly cluster: string;

  /** Reads one object. A missing one is `unmeasured` with why `missing`, a forbidden one `denied`. */
  get<T extends KubeObject>(ref: ObjectRef, options?: ReadOptions): Promise<Reading<T>>;

  /** Reads all pages, or nothing: a list cut short is `unmeasured`. */
  list<T extends KubeObject>(query: ListQuery, options?: ReadOptions): Promise<Reading<ObjectList<T>>>;

  patch<T extends KubeObject>(ref: ObjectRef, body: unknown, options: PatchOptions): Promise<WriteOutcome<T>>;

  /** An object of that name that exists already is a `conflict`. */
  create<T extends KubeObject>(object: T, options: { readonly fieldManager: string }): Promise<WriteOutcome<T>>;

  /** `written` holds the object as it was last seen; with finalizers or a grace period it may still exist. */
  delete(ref: ObjectRef, options: DeleteOptions): Promise<WriteOutcome<KubeObject>>;

  /** Asks for the eviction of a pod, which disruption budgets may refuse. It is sent once. */
  evict(pod: PodUid): Promise<EvictOutcome>;

  /** Lists, then follows. Ends only when the signal aborts (or the caller stops iterating). */
  watch<T extends KubeObject>(
    query: ListQuery,
    options: { readonly signal: AbortSignal },
  ): AsyncGenerator<WatchEvent<T>, void, undefined>;

  /** Runs a command in a container. Anything but a reported exit code is unmeasured. The output is complete. */
  exec(pod: ExecTarget, command: readonly string[], options: ExecOptions): Promise<ExecOutcome>;

  /** One HTTP request to a pod through the API server. Only the pod's own answer is `read`, whatever its status. */
  podRequest(pod: PodPort, request: PodRequest): Promise<Reading<PodResponse>>;

  /** Whether the client's own identity may do this, by SelfSubjectAccessReview. */
  can(review: AccessReview): Promise<Reading<boolean>>;

  /** The API server's version, such as `v1.34.1`. */
  version(): Promise<Reading<string>>;

  /** Records an event about an object; a repeat of the same event is not a second one. */
  event(ref: ObjectRef & { readonly uid?: string }, event: EventContent): Promise<WriteOutcome<KubeObject>>;
}

/** The real adapter also holds connections, to be let go at shutdown. */
export interface KubernetesClient extends KubernetesPort {
  close(): Promise<void>;
}

export interface KubernetesConfig {
  /** How specs call this cluster. */
  readonly name: string;
  /** Path of a kubeconfig [KUBECONFIG, then ~/.kube/config, then in-cluster]. */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
  /** Bound of one reading or write [15000]. */
  readonly requestTimeoutMs?: number;
  readonly userAgent?: string;
}
