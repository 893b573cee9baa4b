import { z } from 'zod';
import { own } from '../core/own.ts';
import type { Reading } from '../core/verdict.ts';
import { readObjects, type RawObjects } from './read-objects.ts';

/** A pod, as far as a reboot of its node is concerned. */
export interface PodReading {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Null where it is not on a node yet. */
  readonly node: string | null;
  /** Such as `Running`. */
  readonly phase: string;
  readonly ready: boolean;
  readonly terminating: boolean;
  /** The kubelet's own picture of a static pod, which the API server cannot evict. */
  readonly mirror: boolean;
  /** What creates it anew; null for a bare pod. */
  readonly controller: PodController | null;
  /** It has an emptyDir whose data is of value: none that its annotation names as safe to lose. */
  readonly emptyDir: boolean;
  /** Names of its claims, in its own namespace. */
  readonly claims: readonly string[];
  /** NFS servers that it mounts without a claim. */
  readonly nfsServers: readonly string[];
}

export interface PodController {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

const ownerSchema = z.object({
  kind: z.string(),
  name: z.string(),
  uid: z.string(),
  controller: z.boolean().nullish(),
});

const volumeSchema = z.object({
  name: z.string(),
  emptyDir: z.object({}).nullish(),
  persistentVolumeClaim: z.object({ claimName: z.string() }).nullish(),
  ephemeral: z.object({}).nullish(),
  nfs: z.object({ server: z.string() }).nullish(),
});

/** The names of emptyDirs that an eviction may lose, in the words of the cluster autoscaler (kubernetes/autoscaler, FAQ). */
const safeVolumes = 'cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes';

const podSchema = z
  .object({
    metadata: z.object({
      namespace: z.string(),
      name: z.string(),
      uid: z.string(),
      labels: z.record(z.string(), z.string()).nullish(),
      annotations: z.record(z.string(), z.string()).nullish(),
      deletionTimestamp: z.string().nullish(),
      ownerReferences: z.array(ownerSchema).nullish(),
    }),
    spec: z.object({ nodeName: z.string().nullish(), volumes: z.array(volumeSchema).nullish() }),
    status: z.object({
      phase: z.string(),
      conditions: z.array(z.object({ type: z.string(), status: z.string() })).nullish(),
    }),
  })
  .transform(({ metadata, spec, status }): PodReading => {
    const owner = metadata.ownerReferences?.find((one) => one.controller === true);
    const volumes = spec.volumes ?? [];
    const safeToLose = (own(metadata.annotations ?? {}, safeVolumes) ?? '').split(',').map((name) => name.trim());
    return {
      namespace: metadata.namespace,
      name: metadata.name,
      uid: metadata.uid,
      labels: metadata.labels ?? {},
      node: spec.nodeName ?? null,
      phase: status.phase,
      ready: status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false,
      terminating: typeof metadata.deletionTimestamp === 'string',
      mirror: Object.hasOwn(metadata.annotations ?? {}, 'kubernetes.io/config.mirror'),
      controller: owner === undefined ? null : { kind: owner.kind, name: owner.name, uid: owner.uid },
      emptyDir: volumes.some(({ name, emptyDir }) => isThere(emptyDir) && !safeToLose.includes(name)),
      claims: volumes.flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
        if (isThere(persistentVolumeClaim)) return [persistentVolumeClaim.claimName];
        // The claim that is made for an ephemeral volume is named after pod and volume.
        return isThere(ephemeral) ? [`${metadata.name}-${name}`] : [];
      }),
      nfsServers: volumes.flatMap(({ nfs }) => (isThere(nfs) ? [nfs.server] : [])),
    };
  });

/** Understands pods as the API server lists them. */
export function readPods(objects: RawObjects): Reading<readonly PodReading[]> {
  return readObjects(objects, 'pods', podSchema);
}

/** NAMESPACE/NAME. */
export function podName({ namespace, name }: Pick<PodReading, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

/**
 * Where Holdfast places its own one-shot pods on hosts, and the label by which they are known. The namespace is one of its own,
 * since it lets privileged pods in.
 */
export const hostPods = {
  namespace: 'holdfast-hosts',
  label: 'app.kubernetes.io/managed-by',
  value: 'holdfast',
} as const;

/** A one-shot pod of Holdfast that asks a host something: nothing creates it anew, and it ends by itself. */
export function isHostPod({ namespace, labels, controller }: PodReading): boolean {
  return controller === null && namespace === hostPods.namespace && own(labels, hostPods.label) === hostPods.value;
}

/** Its containers have ended for good. */
export function isFinished({ phase }: PodReading): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

function isThere<T>(value: T): value is NonNullable<T> {
  return value !== undefined && value !== null;
}
