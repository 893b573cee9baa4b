import { Client, Connection } from '@temporalio/client';
import { createKubernetes } from '../../src/activities/kubernetes/create.ts';
import type { KubeObject, KubernetesClient, ObjectRef } from '../../src/activities/kubernetes/port.ts';
import { annotationNames } from '../../src/domain/release/marks.ts';
import type { ReleaseSpecInput, WorkloadKind } from '../../src/domain/release/spec.ts';
import type { ReleaseStatus } from '../../src/domain/release/status.ts';
import { createNamespace, deleteNamespace } from '../lab/access.ts';
import { pushSpokeImage, type ImageSpec, type PushedImage } from '../lab/images.ts';
import type { LabEnv } from '../lab/lab.ts';
import { waitFor } from '../lab/wait.ts';
import { applyRelease, type AppliedRelease } from './applied-release.ts';
import { startTestWorker, type TestWorker, type WorkerChanges } from './worker-in-process.ts';

/** What one test file works with: a worker and a namespace of its own on the lab, looked at as the administrator. */
export interface Rig {
  readonly lab: LabEnv;
  readonly namespace: string;
  readonly kubernetes: KubernetesClient;
  /** The worker that runs now. @throws Error while there is none */
  worker(): TestWorker;
  /** Ends the worker that runs, if any, and starts one as another identity [the administrator]. */
  workAs(kubeconfig?: string): Promise<void>;
  /** Pushes an image under its version as tag. Repositories are this rig's own, so that a lab can serve many. */
  image(repository: string, version: string, more?: Partial<ImageSpec>): Promise<PushedImage>;
  /** `host:port/path` of a repository, as a spec names it. */
  repository(name: string): string;
  /** Creates a workload and waits until it is available. */
  deploy(workload: object): Promise<void>;
  create(object: object): Promise<void>;
  /** Starts a release whose name no other run of this rig has. */
  apply(name: string, spec: ReleaseSpecInput): Promise<AppliedRelease>;
  workload(name: string, kind?: WorkloadKind): Promise<Workload>;
  /** The image in the template of a container, or init container [spoke]. */
  imageOf(name: string, kind?: WorkloadKind, container?: string): Promise<string>;
  /** A mark of ours on a workload; undefined where it has none. */
  mark(name: string, which: keyof typeof annotationNames, kind?: WorkloadKind): Promise<string | undefined>;
  /** Writes another image to a Deployment, as somebody who is not Holdfast. */
  swapImage(name: string, image: string, writer: string): Promise<void>;
  /** Events that Holdfast recorded about a workload, the oldest first. */
  events(name: string): Promise<RecordedEvent[]>;
  close(): Promise<void>;
}

export interface Workload extends KubeObject {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly name: string; readonly image: string }[];
        readonly initContainers?: readonly { readonly name: string; readonly image: string }[];
      };
    };
  };
  readonly status?: Readonly<Record<string, unknown>>;
}

export interface RecordedEvent extends KubeObject {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string; readonly name: string };
  readonly eventTime: string;
  readonly reportingController?: string;
}

/**
 * @param prefix of the namespace
 * @param kubeconfig as whom the worker reaches the cluster [the lab's administrator]; null for no worker yet
 * @param config further parts of the workers' configuration
 */
export async function startRig(
  lab: LabEnv,
  prefix: string,
  kubeconfig: string | null = lab.kubeconfig,
  config: WorkerChanges['config'] = {},
): Promise<Rig> {
  const kubernetes = await createKubernetes({ name: 'test', kubeconfig: lab.kubeconfig });
  const namespace = await createNamespace(lab, prefix);
  // Its own: a worker's client goes with the worker.
  const connection = await Connection.connect({ address: lab.temporalAddress });
  const client = new Client({ connection });
  let worker = kubeconfig === null ? null : await startTestWorker(lab, kubeconfig, config);
  const applied: AppliedRelease[] = [];

  const ref = (name: string, kind: WorkloadKind): ObjectRef => ({ apiVersion: 'apps/v1', kind, namespace, name });

  async function read<T extends KubeObject>(what: ObjectRef): Promise<T> {
    const seen = await kubernetes.get<T>(what);
    if (seen.kind !== 'read') throw new Error(seen.message);
    return seen.value;
  }

  async function create(object: object): Promise<void> {
    // As it goes over the wire: client-node's types allow undefined where ours leave a field out.
    const wire = JSON.parse(JSON.stringify(object)) as KubeObject;
    const outcome = await kubernetes.create(wire, { fieldManager: 'test' });
    if (outcome.kind !== 'written') throw new Error(outcome.message);
  }

  const workload = (name: string, kind: WorkloadKind = 'Deployment') => read<Workload>(ref(name, kind));

  return {
    lab,
    namespace,
    kubernetes,
    worker() {
      if (worker === null) throw new Error('no worker runs: workAs starts one');
      return worker;
    },
    async workAs(as = lab.kubeconfig) {
      await worker?.stop();
      worker = null;
      worker = await startTestWorker(lab, as, config);
    },
    image: (repository, version, more = {}) =>
      pushSpokeImage(lab.registry, {
        repository: `${namespace}/${repository}`,
        tag: version,
        version,
        revision: version.padStart(40, '0').replaceAll(/[^0-9a-f]/g, 'a'),
        ...more,
      }),
    repository: (name) => `${lab.registry}/${namespace}/${name}`,
    create,
    async deploy(object) {
      await create(object);
      const { kind, metadata } = object as { kind: WorkloadKind; metadata: { name: string } };
      await waitFor(
        `${kind} ${metadata.name} to be available`,
        async () => isAvailable(await workload(metadata.name, kind)),
        120_000,
      );
    },
    async apply(name, spec) {
      const release = await applyRelease(client, `${name}-${namespace}`, spec);
      applied.push(release);
      return release;
    },
    workload,
    async imageOf(name, kind = 'Deployment', container = 'spoke') {
      const { containers, initContainers = [] } = (await workload(name, kind)).spec.template.spec;
      return [...containers, ...initContainers].find((c) => c.name === container)?.image ?? '';
    },
    async mark(name, which, kind = 'Deployment') {
      return (await workload(name, kind)).metadata.annotations?.[annotationNames[which]];
    },
    async swapImage(name, image, writer) {
      const body = { spec: { template: { spec: { containers: [{ name: 'spoke', image }] } } } };
      const outcome = await kubernetes.patch(ref(name, 'Deployment'), body, {
        type: 'strategic',
        fieldManager: writer,
      });
      if (outcome.kind !== 'written') throw new Error(outcome.message);
    },
    async events(name) {
      const list = await kubernetes.list<RecordedEvent>({ apiVersion: 'events.k8s.io/v1', kind: 'Event', namespace });
      if (list.kind !== 'read') throw new Error(list.message);
      return list.value.items
        .filter((event) => event.regarding.name === name && event.reportingController?.includes('holdfast'))
        .sort((a, b) => (a.eventTime < b.eventTime ? -1 : 1));
    },
    async close() {
      // What a failed test has left running would hold the worker up, and meet the next one.
      for (const release of applied) await release.terminate();
      await worker?.stop();
      await connection.close();
      await kubernetes.close();
      await deleteNamespace(lab, namespace);
    },
  };
}

function isAvailable({ kind, metadata, status = {} }: Workload): boolean {
  if (status['observedGeneration'] !== metadata.generation) return false;
  const [wanted, available] =
    kind === 'DaemonSet'
      ? [status['desiredNumberScheduled'], status['numberAvailable']]
      : [status['replicas'], status['availableReplicas']];
  return typeof wanted === 'number' && wanted > 0 && available === wanted;
}

/** True once no rollout runs and every target runs the image that people call so. */
export function allCurrent(label: string): (status: ReleaseStatus) => boolean {
  return ({ rollout, targets }) =>
    rollout === null && targets.length > 0 && targets.every((t) => t.phase === 'Current' && t.label === label);
}

/** True once no rollout runs and the target is in that phase. */
export function ended(target: string, phase: string): (status: ReleaseStatus) => boolean {
  return ({ rollout, targets }) => rollout === null && targets.some((t) => t.name === target && t.phase === phase);
}
