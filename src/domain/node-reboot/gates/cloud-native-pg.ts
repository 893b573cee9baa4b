import { z } from 'zod';
import { allOf, fail, pass, read, unmeasured, type Reading, type Verdict } from '../../core/verdict.ts';
import type { GateReading, GateStage } from '../gate.ts';
import type { GatesSpec } from '../gates-spec.ts';
import type { NodeReading } from '../node.ts';
import { readPods, type PodReading } from '../pod.ts';
import { readObjects, type RawObjects } from '../read-objects.ts';

export interface CloudNativePgFacts {
  readonly clusters: Reading<readonly DatabaseCluster[]>;
}

/** A database cluster of CloudNativePG. */
export interface DatabaseCluster {
  /** NAMESPACE/NAME. */
  readonly name: string;
  /** How many instances there are to be. */
  readonly wanted: number;
  /** How many the operator calls ready. */
  readonly ready: number;
  /** The name of the pod; empty before there is one. */
  readonly primary: string;
  /** The pod that is to become primary; the same one while nothing moves. */
  readonly targetPrimary: string;
  readonly instances: readonly DatabaseInstance[];
  /** Its resourceVersion: the precondition of a promotion. */
  readonly version: string;
}

export interface DatabaseInstance {
  readonly pod: string;
  readonly node: string | null;
  readonly ready: boolean;
}

const clusterSchema = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string(), resourceVersion: z.string() }),
  spec: z.object({ instances: z.number() }),
  status: z.object({
    readyInstances: z.number().default(0),
    currentPrimary: z.string().default(''),
    targetPrimary: z.string().default(''),
    instanceNames: z.array(z.string()).default([]),
  }),
});

/**
 * @param clusters `clusters.postgresql.cnpg.io` of the whole cluster
 * @param pods those that carry the label `cnpg.io/cluster`; poolers and jobs among them are no instances
 */
export function readCloudNativePg(clusters: RawObjects, pods: RawObjects): CloudNativePgFacts {
  const understood = readObjects(clusters, 'CloudNativePG clusters', clusterSchema);
  if (understood.kind === 'unmeasured') return { clusters: understood };
  const all = readPods(pods);
  if (all.kind === 'unmeasured') return { clusters: all };
  return {
    clusters: read(
      understood.value.map(({ metadata, spec, status }) => ({
        name: `${metadata.namespace}/${metadata.name}`,
        wanted: spec.instances,
        ready: status.readyInstances,
        primary: status.currentPrimary,
        targetPrimary: status.targetPrimary,
        instances: all.value
          .filter(({ namespace, name }) => namespace === metadata.namespace && status.instanceNames.includes(name))
          .map(instanceOf),
        version: metadata.resourceVersion,
      })),
    ),
  };
}

function instanceOf({ name, node, ready, terminating }: PodReading): DatabaseInstance {
  return { pod: name, node, ready: ready && !terminating };
}

/**
 * Every database cluster has all its instances, no primary is on the move, and one of them is ready on another node that
 * takes pods: the primary, or a replica that becomes it. Between drain and reboot instances that were on the node are
 * missing by our own doing: then the primary must be ready on another node.
 */
export function cloudNativePgGate(
  { clusters }: CloudNativePgFacts,
  spec: NonNullable<GatesSpec['cloudNativePG']>,
  nodes: Reading<readonly NodeReading[]>,
  turn: string,
  stage: GateStage,
): GateReading {
  const lift = 'wait until all instances are ready, or move a replica to another node';
  return { gate: 'cloudNativePG', verdict: judge(clusters, spec.clusters, nodes, turn, stage), lift };
}

function judge(
  clusters: Reading<readonly DatabaseCluster[]>,
  expected: number,
  nodes: Reading<readonly NodeReading[]>,
  turn: string,
  stage: GateStage,
): Verdict {
  if (clusters.kind === 'unmeasured') return clusters;
  if (nodes.kind === 'unmeasured') return nodes;
  const count = clusters.value.length;
  if (count === 0) {
    return unmeasured('CloudNativePG clusters', 'API server', 'empty', 'CloudNativePG lists no clusters');
  }
  if (count !== expected) return fail('DatabasesMissing', `there are ${count} of ${expected} database clusters`);
  const others = otherNodes(nodes.value, turn);
  const all = allOf(
    clusters.value.map((cluster) => judgeCluster(cluster, others, turn, stage)),
    'CloudNativePG clusters',
  );
  return all.kind === 'pass' ? pass(`${count} database clusters are as they should be`) : all;
}

function judgeCluster(cluster: DatabaseCluster, others: readonly string[], turn: string, stage: GateStage): Verdict {
  const { name, wanted, ready, primary, targetPrimary, instances } = cluster;
  if (primary === '' || primary !== targetPrimary) {
    return fail('PrimaryMoves', `the primary of ${name} is on the move, from ${primary || 'none'} to ${targetPrimary}`);
  }
  const at = instances.find(({ pod }) => pod === primary);
  if (at === undefined || !at.ready) return fail('PrimaryNotReady', `the primary ${primary} of ${name} is not ready`);
  if (stage === 'last') {
    return at.node === turn ? fail('PrimaryStays', `the primary ${primary} of ${name} is on node ${turn}`) : pass();
  }
  if (ready !== wanted) return fail('InstancesNotReady', `${name} has ${ready} of ${wanted} instances ready`);
  if (stage === 'before' && readyOn(others, cluster) === null) {
    return fail('NoReplicaElsewhere', `${name} has no ready instance on another node that takes pods`);
  }
  return pass();
}

/** A primary that is to leave its node. */
export interface PrimaryHere {
  /** NAMESPACE/NAME. */
  readonly cluster: string;
  readonly pod: string;
  /** The operator has begun to move it. */
  readonly moving: boolean;
  /** The pod that can take over; null where none can. */
  readonly successor: string | null;
  /** The resourceVersion of the cluster, as all this was read. */
  readonly version: string;
}

/** The primaries that are on a node, each with the replica that could be promoted where the operator does not do it. */
export function primariesOn(
  { clusters }: CloudNativePgFacts,
  nodes: Reading<readonly NodeReading[]>,
  turn: string,
): Reading<readonly PrimaryHere[]> {
  if (clusters.kind === 'unmeasured') return clusters;
  if (nodes.kind === 'unmeasured') return nodes;
  const others = otherNodes(nodes.value, turn);
  const here = clusters.value.filter(({ primary, instances }) =>
    instances.some(({ pod, node }) => pod === primary && node === turn),
  );
  return read(
    here.map((cluster) => ({
      cluster: cluster.name,
      pod: cluster.primary,
      moving: cluster.primary !== cluster.targetPrimary,
      successor: readyOn(others, cluster),
      version: cluster.version,
    })),
  );
}

function readyOn(nodes: readonly string[], { instances }: DatabaseCluster): string | null {
  return instances.find(({ node, ready }) => ready && node !== null && nodes.includes(node))?.pod ?? null;
}

function otherNodes(nodes: readonly NodeReading[], turn: string): readonly string[] {
  return nodes
    .filter(({ name, ready, unschedulable }) => name !== turn && ready && !unschedulable)
    .map(({ name }) => name);
}
