import { z } from 'zod';
import { fail, pass, read, unmeasured, type Reading, type Verdict } from '../../core/verdict.ts';
import { parseMarks } from '../../release/marks.ts';
import type { GateReading } from '../gate.ts';
import { isFinished, podName, readPods, type PodReading } from '../pod.ts';
import { readObjects, type RawObjects } from '../read-objects.ts';

export interface ReleasesFacts {
  /** The workloads of releases that have pods on the node. */
  readonly workloads: Reading<readonly ReleasedWorkload[]>;
}

export interface ReleasedWorkload {
  /** Such as `Deployment shop/web`. */
  readonly name: string;
  /** Such as `release/shop`. */
  readonly release: string;
  /** Its image has not passed gate and soak yet. */
  readonly unproven: boolean;
  /** Its pods are not all of the newest template yet. */
  readonly rolling: boolean;
}

const workloadSchema = z
  .object({
    kind: z.enum(['Deployment', 'StatefulSet', 'DaemonSet']),
    metadata: z.object({
      namespace: z.string(),
      name: z.string(),
      uid: z.string(),
      generation: z.number().default(0),
      annotations: z.record(z.string(), z.string()).nullish(),
    }),
    spec: z.object({ replicas: z.number().default(1) }),
    status: z
      .object({
        observedGeneration: z.number().default(0),
        replicas: z.number().default(0),
        updatedReplicas: z.number().default(0),
        desiredNumberScheduled: z.number().default(0),
        updatedNumberScheduled: z.number().default(0),
      })
      .prefault({}),
  })
  .transform(({ kind, metadata, spec, status }) => {
    const updated = kind === 'DaemonSet' ? status.updatedNumberScheduled : status.updatedReplicas;
    const wanted = kind === 'DaemonSet' ? status.desiredNumberScheduled : spec.replicas;
    return {
      name: `${kind} ${metadata.namespace}/${metadata.name}`,
      uid: metadata.uid,
      annotations: metadata.annotations ?? {},
      rolling: status.observedGeneration < metadata.generation || updated < wanted || status.replicas > updated,
    };
  });

const replicaSetSchema = z.object({
  metadata: z.object({
    uid: z.string(),
    ownerReferences: z.array(z.object({ uid: z.string(), controller: z.boolean().nullish() })).nullish(),
  }),
});

/**
 * Which workloads of releases run on a node, by the marks that a release leaves on them; pods are told by their owners.
 *
 * @param workloads all Deployments, StatefulSets and DaemonSets, with their kind
 * @param replicaSets all ReplicaSets, which stand between Deployments and pods
 * @param pods those on the node
 */
export function readReleases(workloads: RawObjects, replicaSets: RawObjects, pods: RawObjects): ReleasesFacts {
  const all = readObjects(workloads, 'workloads', workloadSchema);
  if (all.kind === 'unmeasured') return { workloads: all };
  const sets = readObjects(replicaSets, 'ReplicaSets', replicaSetSchema);
  if (sets.kind === 'unmeasured') return { workloads: sets };
  const here = readPods(pods);
  if (here.kind === 'unmeasured') return { workloads: here };
  const deploymentOf = new Map(
    sets.value.map(({ metadata }) => [
      metadata.uid,
      metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid ?? null,
    ]),
  );

  const running = new Set<string | null>();
  for (const pod of here.value.filter((one) => !one.terminating && !isFinished(one) && one.controller !== null)) {
    const owner = ownerOf(pod, deploymentOf);
    if (owner === undefined) {
      const message = `the ReplicaSet of pod ${podName(pod)} is not there`;
      return { workloads: unmeasured('releases on the node', 'API server', 'missing', message) };
    }
    running.add(owner);
  }

  const released: ReleasedWorkload[] = [];
  for (const { name, annotations, rolling } of all.value.filter(({ uid }) => running.has(uid))) {
    const marks = parseMarks(annotations, name);
    if (marks.kind === 'unmeasured') return { workloads: marks };
    const { managedBy, applied, passed, rolledBackFrom } = marks.value;
    if (managedBy === null) continue;
    // What was put back is not proven anew; its pods are waited for.
    const unproven = applied !== null && applied !== passed && rolledBackFrom === null;
    released.push({ name, release: managedBy, unproven, rolling });
  }
  return { workloads: read(released) };
}

/** The uid of the workload that a pod belongs to; undefined where the way to it is not there. */
function ownerOf({ controller }: PodReading, deploymentOf: ReadonlyMap<string, string | null>) {
  if (controller === null) return null;
  return controller.kind === 'ReplicaSet' ? deploymentOf.get(controller.uid) : controller.uid;
}

/** No release is changing or watching what runs on the node: a drain would look like a failure of the new image. */
export function releasesGate({ workloads }: ReleasesFacts): GateReading {
  return {
    gate: 'releases',
    verdict: judge(workloads),
    lift: 'wait until the release has ended, or pause it and undo',
  };
}

function judge(workloads: ReleasesFacts['workloads']): Verdict {
  if (workloads.kind === 'unmeasured') return workloads;
  const busy = workloads.value.filter(({ unproven, rolling }) => unproven || rolling);
  if (busy.length === 0) return pass(`${workloads.value.length} workloads of releases on the node are at rest`);
  const named = busy.map(({ name, release, rolling }) => `${name} of ${release} is ${rolling ? 'rolling' : 'soaking'}`);
  return fail('ReleaseUnderWay', named.join(', '));
}
