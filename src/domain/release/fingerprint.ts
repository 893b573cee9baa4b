import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Reading, UnmeasuredCause } from '../core/verdict.ts';
import type { Marks, Observation, ResolvedLine, TargetObservation } from './observation.ts';

/**
 * Sha256 (hex) over what an evaluation depends on, so that a poll need only come back with what changes something. Left
 * out are when it was read, texts of errors (a registry that is down says so differently each time), instants of
 * writes, and what evaluations do not look at.
 */
export function observationFingerprint(observation: Observation): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(essence(observation)))));
}

function essence(observation: Observation): unknown {
  return [
    sorted(observation.lines, (line) => reading(line, lineEssence)),
    sorted(observation.images, (image) => reading(image, (facts) => [facts.version, facts.label])),
    sorted(observation.targets, targetEssence),
    observation.incumbents.map((incumbent) => [incumbent.name, reading(incumbent.state, (state) => state)]),
    observation.freezes.map((freeze) => [freeze.from, freeze.until, freeze.reason]),
  ];
}

function lineEssence(line: ResolvedLine): unknown {
  return [
    line.repository,
    line.tag,
    line.digest,
    line.label,
    line.version,
    line.platforms,
    line.unplatformed,
    sorted(line.platformDigests, (digest) => digest),
  ];
}

function targetEssence(target: TargetObservation): unknown {
  return [
    reading(target.workload, (workload) => [
      workload.kind,
      workload.image,
      workload.image === null ? workload.containers : null,
      workload.replicas === 0,
      workload.paused,
      workload.strategy,
      marksEssence(workload.marks),
      workload.imageWriter?.manager ?? null,
    ]),
    reading(target.architectures, (architectures) => architectures),
  ];
}

function marksEssence(marks: Marks): unknown {
  return [
    marks.managedBy,
    marks.applied,
    marks.version,
    marks.previousImage,
    marks.passed,
    marks.rolledBackFrom,
    marks.rolledBackAt,
    marks.blocked.map((b) => [b.image, b.at, b.reason, b.cooldownUntil ?? null, b.cooldownOnly ?? false]),
  ];
}

function reading<T>(of: Reading<T>, value: (read: T) => unknown): unknown {
  return of.kind === 'read' ? { read: value(of.value) } : { unmeasured: coarse(of.why) };
}

const distinct: ReadonlySet<UnmeasuredCause> = new Set(['denied', 'missing', 'not-served', 'empty', 'unparsed']);

/** Time-outs, refused connections and server errors take turns while one thing is down. */
function coarse(why: UnmeasuredCause): string {
  return distinct.has(why) ? why : 'unreadable';
}

function sorted<T>(record: Readonly<Record<string, T>>, value: (of: T) => unknown): unknown {
  return Object.entries(record)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, of]) => [key, value(of)]);
}
