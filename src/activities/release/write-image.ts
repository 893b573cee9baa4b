import { isDeepStrictEqual } from 'node:util';
import {
  applyMarksPatch,
  annotationNames,
  managedByOf,
  marksPatchToAnnotations,
  noMarks,
  parseMarks,
} from '../../domain/release/marks.ts';
import type { Reading } from '../../domain/core/verdict.ts';
import type { Marks } from '../../domain/release/observation.ts';
import type { LastWrite, MarksPatch, WriteResult } from '../../domain/release/rollout.ts';
import type { ReleaseDependencies } from './dependencies.ts';
import { readIncumbents, standsInTheWay } from './incumbents.ts';
import type { WriteImageInput, WriteMarksInput } from './port.ts';
import { containerIn, containerNames, workloadName, type WorkloadObject } from './workload.ts';
import { writeWorkload, type Intent } from './write-workload.ts';

/**
 * Writes an image and its marks in one patch; see ReleaseActivities.writeImage.
 *
 * A strategic merge patch names the container, so that every other one stays (a JSON merge patch would drop them:
 * kubernetes/kubernetes#26412). A container that the template lacks is refused here, since that patch would add it.
 */
export function writeImage(
  dependencies: ReleaseDependencies,
  input: WriteImageInput,
  signal: AbortSignal,
  reading = signal,
): Promise<WriteResult> {
  const { target, from, to } = input;
  const name = workloadName(target);
  return writeWorkload(
    dependencies,
    {
      target,
      async decide(workload) {
        const found = containerIn(workload, target.container);
        if (found === null) {
          const message = `${name} has no container ${target.container}; its containers: ${containerNames(workload).join(', ')}`;
          return { do: 'refuse', reason: 'Missing', message };
        }
        const marks = intentForMarks(workload, name, input);
        if (marks.do === 'refuse') return marks;
        const current = parseMarks(workload.metadata.annotations, name);
        if (found.image === to && (marks.do === 'nothing' || isDone(current, input))) return { do: 'nothing' };
        if (found.image !== from && found.image !== to) {
          return {
            do: 'refuse',
            reason: 'Changed',
            message: `${name} has ${found.image} now, not ${from} as planned`,
          };
        }
        if (current.kind === 'read' && isWrittenSince(current.value, input.lastWrite)) {
          return {
            do: 'refuse',
            reason: 'Changed',
            message: `another run of ${managedByOf(input.release)} has written to ${name} since this one looked at it`,
          };
        }
        const obstacle = standsInTheWay(await readIncumbents(dependencies, input.incumbents, reading));
        if (obstacle !== null) return { do: 'refuse', reason: 'Incumbent', message: obstacle };
        const annotations = marks.do === 'patch' ? marks.body : {};
        return { do: 'patch', body: imagePatch(found.list, target.container, to, annotations) };
      },
      verify: (before, after) => unexpectedChange(before, after, target.container, to),
    },
    signal,
    reading,
  );
}

/** Writes marks alone; see ReleaseActivities.writeMarks. */
export function writeMarks(
  dependencies: ReleaseDependencies,
  input: WriteMarksInput,
  signal: AbortSignal,
  reading = signal,
): Promise<WriteResult> {
  const { target } = input;
  return writeWorkload(
    dependencies,
    {
      target,
      decide(workload) {
        const name = workloadName(target);
        const now = containerIn(workload, target.container)?.image;
        if (input.image !== null && now !== input.image) {
          const message = `${name} has ${now ?? 'no such container'} now, not ${input.image}`;
          return { do: 'refuse', reason: 'Changed', message };
        }
        return intentForMarks(workload, name, input);
      },
      verify: (before, after) =>
        isDeepStrictEqual(before.spec.template, after.spec.template) ? null : 'its pod template changed as well',
    },
    signal,
    reading,
  );
}

/** What the marks alone ask for. */
function intentForMarks(
  workload: WorkloadObject,
  name: string,
  input: Pick<WriteMarksInput, 'release' | 'marks'>,
): Intent {
  const parsed = parseMarks(workload.metadata.annotations, name);
  if (parsed.kind === 'unmeasured') {
    // A broken image must not stay because an annotation was spoilt: the way back is written beside what cannot be read.
    if (!isWayBack(input.marks)) return { do: 'refuse', reason: 'Invalid', message: parsed.message };
    const annotations = readableOnly(marksPatchToAnnotations(noMarks, input.marks));
    return hasAnnotations(workload, annotations) ? { do: 'nothing' } : { do: 'patch', body: marksBody(annotations) };
  }
  const owner = parsed.value.managedBy;
  if (owner !== null && owner !== managedByOf(input.release)) {
    return {
      do: 'refuse',
      reason: 'Changed',
      message: `${name} is managed by ${owner} now, not by ${managedByOf(input.release)}`,
    };
  }
  if (hasMarks(parsed.value, input.marks)) return { do: 'nothing' };
  return { do: 'patch', body: marksBody(marksPatchToAnnotations(parsed.value, input.marks)) };
}

/**
 * The write has happened, in a run of the workflow from before a reset: only when it says that it was made differs. What
 * stands there then is the truth about it, and is left as it is.
 */
function isDone(current: Reading<Marks>, { to, marks }: WriteImageInput): boolean {
  if (current.kind !== 'read') return false;
  const { applied, rolledBackFrom, blocked } = current.value;
  if (applied !== to || rolledBackFrom !== (marks.rolledBackFrom ?? null)) return false;
  return (marks.block ?? []).every((block) => blocked.some((mark) => mark.image === block.image));
}

function isWrittenSince({ upgradedAt, rolledBackAt }: Marks, seen: LastWrite | null): boolean {
  return seen !== null && (upgradedAt !== seen.upgradedAt || rolledBackAt !== seen.rolledBackAt);
}

function hasMarks(current: Marks, patch: MarksPatch): boolean {
  return isDeepStrictEqual(applyMarksPatch(current, patch), current);
}

function hasAnnotations({ metadata }: WorkloadObject, wanted: Readonly<Record<string, string | null>>): boolean {
  return Object.entries(wanted).every(([name, value]) => (metadata.annotations?.[name] ?? null) === value);
}

function isWayBack(patch: MarksPatch): boolean {
  return typeof patch.rolledBackFrom === 'string';
}

/** Without the two that are JSON, of which one cannot be read. */
function readableOnly(annotations: Record<string, string | null>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(annotations).filter(
      ([name]) => name !== annotationNames.blocked && name !== annotationNames.placements,
    ),
  );
}

/** Annotations of the workload itself, never of its pod template, which would restart pods. */
function marksBody(annotations: Record<string, string | null>): Record<string, unknown> {
  return { metadata: { annotations } };
}

function imagePatch(
  list: 'containers' | 'initContainers',
  container: string,
  image: string,
  marks: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return { ...marks, spec: { template: { spec: { [list]: [{ name: container, image }] } } } };
}

/** What a write of one container's image changed besides, or why the image is not as written; null where all is well. */
function unexpectedChange(
  before: WorkloadObject,
  after: WorkloadObject,
  container: string,
  image: string,
): string | null {
  const found = containerIn(after, container);
  if (found?.image !== image) {
    return `its container ${container} has ${found?.image ?? 'no image'} instead of ${image}: does an admission webhook rewrite images?`;
  }
  const names = containerNames(before).join(', ');
  const namesAfter = containerNames(after).join(', ');
  if (names !== namesAfter) return `its containers are ${namesAfter} now, and were ${names}`;
  const wanted = withImage(before, container, image);
  return isDeepStrictEqual(wanted, withImage(after, container, image))
    ? null
    : `more of its pod template changed than the image of ${container}: does an admission webhook change it?`;
}

function withImage({ spec }: WorkloadObject, container: string, image: string): unknown {
  const set = <C extends { readonly name: string }>(list: readonly C[] | undefined) =>
    list?.map((c) => (c.name === container ? { ...c, image } : c));
  const template = spec.template;
  return {
    ...template,
    spec: {
      ...template.spec,
      containers: set(template.spec.containers),
      initContainers: set(template.spec.initContainers),
    },
  };
}
