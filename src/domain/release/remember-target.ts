import { sameRepository } from './deployed-image.ts';
import { unknownTarget } from './initial-state.ts';
import { managedByOf } from './marks.ts';
import type { WorkloadSnapshot } from './observation.ts';
import type { TargetMemory } from './state.ts';

/** Field manager of every write of ours. */
const OWN_MANAGER = 'holdfast';

/** Stands for a writer that left no trace in managedFields. */
const UNTRACED_WRITER = 'a writer that left no trace in managedFields';

/** Drifts in a row by one other writer after which its image is left alone. */
export const SECOND_WRITER_DRIFTS = 3;

/**
 * What is remembered of a target once its workload was seen and before anything is decided: marks of an earlier run
 * are adopted where nothing is remembered.
 *
 * @param memory undefined at first sight
 * @param release name without `release/`; marks of another release are not adopted
 * @param repository that the target follows
 */
export function rememberTarget(
  memory: TargetMemory | undefined,
  workload: WorkloadSnapshot,
  release: string,
  repository: string,
): TargetMemory {
  if (workload.marks.managedBy !== managedByOf(release)) return memory ?? unknownTarget;
  if (!isOfThisContainer(workload, repository)) return memory ?? unknownTarget;
  return adoptMarks(memory, workload);
}

/**
 * Marks are one set for each object: where the release has since been given another container of it, they tell of an
 * image that must not be written there. One of the container's own repository, or of the one it follows, is its own.
 */
function isOfThisContainer({ marks, image }: WorkloadSnapshot, repository: string): boolean {
  if (marks.applied === null) return true;
  return sameRepository(marks.applied, repository) || (image !== null && sameRepository(marks.applied, image));
}

/** The image that the target should have unless something else is wanted: applied by us, or found to be as wanted. */
export function baselineOf(memory: TargetMemory): string | null {
  return memory.applied ?? memory.adopted;
}

/**
 * What this release last wrote: as remembered, else as marked on the object. The object outranks memory only where the
 * image was last written by us and the marks name it: then memory is the older of the two. Marks that agree with an
 * image somebody else wrote prove nothing, since `kubectl rollout undo` brings back old annotations together with the
 * old image.
 */
function adoptMarks(memory: TargetMemory | undefined, workload: WorkloadSnapshot): TargetMemory {
  const { marks, image } = workload;
  const known = memory ?? unknownTarget;
  const ours = marks.applied === image && workload.imageWriter?.manager === OWN_MANAGER;
  if (marks.applied === null || (known.applied !== null && (!ours || known.applied === marks.applied))) {
    return known;
  }
  return {
    ...known,
    applied: marks.applied,
    appliedVersion: marks.version,
    passed: marks.passed ?? known.passed,
    stuck: known.stuck ?? (memory === undefined ? rolledBackBefore(workload) : null),
  };
}

/** After a terminate the object itself tells that its last rollout was rolled back. */
function rolledBackBefore({ marks }: WorkloadSnapshot): TargetMemory['stuck'] {
  if (marks.rolledBackFrom === null) return null;
  return {
    phase: 'RolledBack',
    reason: 'RolledBack',
    message: `rolled back from ${marks.rolledBackFrom}${marks.rolledBackAt === null ? '' : ` at ${marks.rolledBackAt}`}`,
    image: marks.rolledBackFrom,
    wanted: marks.rolledBackFrom,
    rollbackTo: marks.applied,
    at: Date.parse(marks.rolledBackAt ?? '') || 0,
  };
}

/**
 * Counts a drift once, when it is first seen: while it lasts, and while the same writer goes on changing the image, it
 * is one. It is over when the target was brought back.
 */
export function countDrift(memory: TargetMemory, workload: WorkloadSnapshot, image: string): TargetMemory {
  const { drifts } = memory;
  const baseline = baselineOf(memory);
  if (baseline === null || baseline === image) {
    if (drifts === null || drifts.lastImage === '') return memory;
    return { ...memory, drifts: { ...drifts, lastImage: '' } };
  }
  const writer = writerOf(workload);
  if (writer === OWN_MANAGER || drifts?.lastImage === image) return memory;
  if (drifts === null || drifts.writer !== writer) {
    return { ...memory, drifts: { writer, count: 1, lastImage: image } };
  }
  const count = drifts.lastImage === '' ? drifts.count + 1 : drifts.count;
  return { ...memory, drifts: { writer, count, lastImage: image } };
}

/** Who last wrote the image, by the field manager's name. */
export function writerOf(workload: WorkloadSnapshot): string {
  return workload.imageWriter?.manager ?? UNTRACED_WRITER;
}
