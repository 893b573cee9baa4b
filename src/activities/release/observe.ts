import { setOwn } from '../../domain/core/own.ts';
import { isUnmeasured, type Reading } from '../../domain/core/verdict.ts';
import { addressOf, type TargetAddress } from '../../domain/release/address.ts';
import { incumbentsOf } from '../../domain/release/incumbents.ts';
import { linesOf } from '../../domain/release/line.ts';
import type { Observation, ResolvedLine, TargetObservation } from '../../domain/release/observation.ts';
import { clusterOf } from '../kubernetes/cluster-of.ts';
import type { ReleaseDependencies } from './dependencies.ts';
import type { ImageCache } from './image-cache.ts';
import { readImageFacts } from './image-facts.ts';
import { readIncumbents } from './incumbents.ts';
import { mapBounded } from './map-bounded.ts';
import { readArchitectures, type ArchitecturesOf } from './nodes.ts';
import type { ObserveInput } from './port.ts';
import { readWorkloads } from './read-workloads.ts';
import { resolveLine } from './resolve-line.ts';
import { readRunningDigests, type Seen } from './running-digests.ts';
import { snapshotOf } from './snapshot.ts';

const LINES_AT_A_TIME = 8;

/**
 * Reads once all that an evaluation needs; see ReleaseActivities.observe. Each line, each image, each cluster's nodes
 * and each namespace's workloads are asked for once, however many targets share them.
 */
export async function observeRelease(
  dependencies: ReleaseDependencies,
  images: ImageCache,
  { spec, pin }: ObserveInput,
  signal: AbortSignal,
): Promise<Observation> {
  const at = (dependencies.clock ?? Date.now)();
  const addresses = spec.targets.map((target) => addressOf(target, spec));
  const [lines, incumbents, workloads, architectures] = await Promise.all([
    readLines(dependencies, images, { spec, pin }),
    readIncumbents(dependencies, incumbentsOf(spec), signal),
    readWorkloads(dependencies, addresses, signal),
    readClusters(dependencies, addresses, signal),
  ]);
  const seen: Seen[] = addresses.flatMap((target) => {
    const workload = workloads.get(target.name);
    return workload?.kind === 'read' ? [{ target, workload: workload.value }] : [];
  });
  const running = await readRunningDigests(dependencies, seen, signal);

  const targets: Record<string, TargetObservation> = {};
  for (const target of addresses) {
    const workload = workloads.get(target.name);
    if (workload === undefined) continue;
    const where = architectures.get(target.cluster);
    if (workload.kind === 'unmeasured' || where === undefined) {
      const unread = workload.kind === 'unmeasured' ? workload : notConfigured(dependencies, target);
      setOwn(targets, target.name, { workload: unread, architectures: unread });
      continue;
    }
    setOwn(targets, target.name, {
      workload: snapshotOf(workload.value, target, running.get(target.name) ?? null),
      architectures: where(workload.value),
    });
  }
  const snapshots = Object.values(targets).flatMap((t) => (t.workload.kind === 'read' ? [t.workload.value] : []));
  const facts = await readImageFacts(images, snapshots);
  signal.throwIfAborted();
  return { at, lines, images: facts, targets, incumbents, freezes: dependencies.freezes ?? [] };
}

async function readLines(
  { registry }: ReleaseDependencies,
  images: ImageCache,
  { spec, pin }: Pick<ObserveInput, 'spec' | 'pin'>,
): Promise<Record<string, Reading<ResolvedLine>>> {
  const resolved = await mapBounded(
    linesOf(spec, pin),
    LINES_AT_A_TIME,
    async (line) => [line.key, await resolveLine(registry, images, line)] as const,
  );
  return Object.fromEntries(resolved);
}

/** By cluster; a cluster that this worker does not have is left out. */
async function readClusters(
  dependencies: ReleaseDependencies,
  addresses: readonly TargetAddress[],
  signal: AbortSignal,
): Promise<Map<string, ArchitecturesOf>> {
  const clusters = [...new Set(addresses.map((a) => a.cluster))];
  const found = await Promise.all(
    clusters.map(async (cluster) => {
      const port = clusterOf(dependencies, cluster);
      return isUnmeasured(port) ? [] : [[cluster, await readArchitectures(port, signal)] as const];
    }),
  );
  return new Map(found.flat());
}

function notConfigured(dependencies: ReleaseDependencies, { cluster }: TargetAddress) {
  const port = clusterOf(dependencies, cluster);
  if (isUnmeasured(port)) return port;
  throw new Error(`nodes of cluster ${cluster} were not read`);
}
