import type {
  V1Container,
  V1DaemonSet,
  V1Deployment,
  V1ObjectMeta,
  V1PodSpec,
  V1PodTemplateSpec,
  V1Probe,
  V1StatefulSet,
} from '@kubernetes/client-node';
import { REBOOT_TAINT } from './parts/reboot-node-disk.ts';

/** The taints of the lab's fake nodes and of those that reboot; the real one has none. Both have a label `type`. */
const KWOK_TAINT = 'kwok.x-k8s.io/node';
const TAINTS = { kwok: KWOK_TAINT, reboot: REBOOT_TAINT.key } as const;

/** A workload of the lab. Only the first three are needed. */
export interface SpokeWorkload {
  readonly namespace: string;
  readonly name: string;
  readonly image: string;
  /** [1]; a DaemonSet has none. */
  readonly replicas?: number;
  /** Name of the container ['spoke'] */
  readonly container?: string;
  /**
   * A node by name, or any of a kind: `kwok` has no machine behind it, `real` a kubelet, `reboot` a kubelet that can be
   * rebooted. [the real node and fake ones]
   */
  readonly node?: 'real' | 'kwok' | 'reboot' | { readonly name: string };
  /** `kubernetes.io/arch` of the nodes that the pods may run on. [any] */
  readonly architecture?: string;
  /** Of `/ready` every second [true]; or a probe of one's own. */
  readonly readinessProbe?: boolean | V1Probe;
  /** Environment of the container, beside what the image sets. */
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Of the workload itself. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly podLabels?: Readonly<Record<string, string>>;
  readonly initContainers?: readonly V1Container[];
  readonly sidecars?: readonly V1Container[];
  /** Any further field of the pod, such as `volumes` or `affinity`. */
  readonly pod?: Partial<V1PodSpec>;
  readonly minReadySeconds?: number;
  /** How a Deployment replaces pods. [the server's] */
  readonly strategy?: NonNullable<V1Deployment['spec']>['strategy'];
  /** How a StatefulSet or a DaemonSet replaces pods. [the server's] */
  readonly updateStrategy?: { readonly type: 'RollingUpdate' | 'OnDelete' };
}

/** A Deployment of spokes, ready to be created. */
export function spokeDeployment(workload: SpokeWorkload): V1Deployment {
  const { strategy } = workload;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(workload),
    spec: {
      replicas: workload.replicas ?? 1,
      selector: { matchLabels: selectorOf(workload) },
      template: templateOf(workload),
      ...minReady(workload),
      ...(strategy === undefined ? {} : { strategy }),
    },
  };
}

/** A StatefulSet of spokes. Its service is named, not made: the pods need no DNS. */
export function spokeStatefulSet(workload: SpokeWorkload): V1StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: metadataOf(workload),
    spec: {
      serviceName: workload.name,
      replicas: workload.replicas ?? 1,
      selector: { matchLabels: selectorOf(workload) },
      template: templateOf(workload),
      ...minReady(workload),
      ...updateStrategy(workload),
    },
  };
}

/** A DaemonSet of spokes: one on each node that `node` allows. */
export function spokeDaemonSet(workload: SpokeWorkload): V1DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: metadataOf(workload),
    spec: {
      selector: { matchLabels: selectorOf(workload) },
      template: templateOf(workload),
      ...minReady(workload),
      ...updateStrategy(workload),
    },
  };
}

function metadataOf(workload: SpokeWorkload): V1ObjectMeta {
  return {
    namespace: workload.namespace,
    name: workload.name,
    labels: { ...selectorOf(workload), ...workload.labels },
    ...(workload.annotations === undefined ? {} : { annotations: { ...workload.annotations } }),
  };
}

function selectorOf(workload: SpokeWorkload): Record<string, string> {
  return { app: workload.name };
}

function minReady(workload: SpokeWorkload): { minReadySeconds?: number } {
  return workload.minReadySeconds === undefined ? {} : { minReadySeconds: workload.minReadySeconds };
}

function updateStrategy(workload: SpokeWorkload): { updateStrategy?: { type: string } } {
  return workload.updateStrategy === undefined ? {} : { updateStrategy: { ...workload.updateStrategy } };
}

function templateOf(workload: SpokeWorkload): V1PodTemplateSpec {
  return {
    metadata: { labels: { ...selectorOf(workload), ...workload.podLabels } },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 1,
      containers: [containerOf(workload), ...(workload.sidecars ?? [])],
      ...(workload.initContainers === undefined ? {} : { initContainers: [...workload.initContainers] }),
      ...placementOf(workload),
      ...workload.pod,
    },
  };
}

function containerOf(workload: SpokeWorkload): V1Container {
  const probe = workload.readinessProbe ?? true;
  const env = Object.entries(workload.env ?? {}).map(([name, value]) => ({ name, value }));
  return {
    name: workload.container ?? 'spoke',
    image: workload.image,
    imagePullPolicy: 'IfNotPresent',
    ports: [{ name: 'http', containerPort: 8080 }],
    ...(probe === false ? {} : { readinessProbe: probe === true ? READY : probe }),
    ...(env.length === 0 ? {} : { env }),
    ...(workload.args === undefined ? {} : { args: [...workload.args] }),
  };
}

const READY: V1Probe = { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1, failureThreshold: 3 };

function placementOf(workload: SpokeWorkload): Partial<V1PodSpec> {
  const { node, architecture } = workload;
  const pool = node === 'kwok' || node === 'reboot' ? node : null;
  const selector = {
    ...(pool === null ? {} : { type: pool }),
    ...(architecture === undefined ? {} : { 'kubernetes.io/arch': architecture }),
  };
  return {
    ...(Object.keys(selector).length === 0 ? {} : { nodeSelector: selector }),
    ...(typeof node === 'object' ? { nodeName: node.name } : {}),
    // Without a machine behind it, a kwok node takes only what asks for it; a node that reboots does, too.
    ...(node === 'real'
      ? {}
      : { tolerations: [{ key: pool === null ? KWOK_TAINT : TAINTS[pool], operator: 'Exists' }] }),
  };
}
