import { own } from '../core/own.ts';
import { architectureGate } from './architectures.ts';
import { blockOf } from './block-list.ts';
import { deployedImage, sameContent } from './deployed-image.ts';
import { workloadHold } from './hold.ts';
import type { Line } from './line.ts';
import { unknownTarget } from './initial-state.ts';
import { isOfOtherRelease } from './marks.ts';
import type { Observation, ResolvedLine } from './observation.ts';
import { baselineOf } from './remember-target.ts';
import { targetName, type TargetSpec } from './spec.ts';
import type { Candidate, ReleaseState, TargetMemory } from './state.ts';
import { versionHold, versionOfImage } from './version-guard.ts';

/** What an evaluation knows before it has decided what each line comes to. */
export interface Surroundings {
  readonly state: ReleaseState;
  readonly memories: ReadonlyMap<string, TargetMemory>;
  readonly observation: Observation;
  readonly now: number;
}

/**
 * The candidate of a line under a minimum age. The one that was first seen ages, frozen, while newer images queue
 * behind it, and newer ones never reset it. Once every target that can take it has it, or it is blocked, was tried or
 * was rejected, the next candidate is what the line resolves to then, which has aged since it was first seen.
 *
 * @param head what the line resolves to now
 * @param targets those that follow the line
 */
export function nextCandidate(
  line: Line,
  head: ResolvedLine,
  targets: readonly TargetSpec[],
  around: Surroundings,
): Candidate {
  const before = own(around.state.candidates, line.key);
  if (before === undefined) return fresh(head, around.now);
  if (before.digest === head.digest) return before.next === null ? before : { ...before, next: null };
  const next = before.next?.digest === head.digest ? before.next : { digest: head.digest, firstSeen: around.now };
  if (stillAwaited(before, line, targets, around)) return before.next === next ? before : { ...before, next };
  return fresh(head, next.firstSeen);
}

function fresh(head: ResolvedLine, firstSeen: number): Candidate {
  return { digest: head.digest, firstSeen, resolved: head, tried: false, next: null };
}

function stillAwaited(candidate: Candidate, line: Line, targets: readonly TargetSpec[], around: Surroundings): boolean {
  if (candidate.tried || blockOf(around.state, candidate.resolved, around.now) !== null) return false;
  return targets.some((target) => mayTake(candidate, line, target, around));
}

/** True where the target has something else and nothing but time keeps it from taking the candidate. */
function mayTake(candidate: Candidate, line: Line, target: TargetSpec, around: Surroundings): boolean {
  const name = targetName(target);
  const seen = own(around.observation.targets, name);
  if (seen === undefined || seen.workload.kind === 'unmeasured') return true;
  const workload = seen.workload.value;
  if (workload.image === null || isOfOtherRelease(workload.marks, around.state.name)) return false;
  const memory = around.memories.get(name) ?? unknownTarget;
  const wanted = deployedImage(candidate.resolved);
  // Not written by us, but there: it is adopted with this very evaluation.
  if (memory.applied === null && workload.image === wanted) return false;
  const from = baselineOf(memory) ?? workload.image;
  if (sameContent(from, wanted) || workloadHold(workload) !== null) return false;
  if (architectureGate(candidate.resolved, seen.architectures).kind === 'fail') return false;
  const version = versionOfImage(from, around.observation.images);
  const asWanted = { line, resolved: candidate.resolved, block: null, agesAt: null };
  return versionHold('', asWanted, from, version, target.allowMajorChange) === null;
}
