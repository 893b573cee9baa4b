import { blockOfImage } from './block-list.ts';
import { deployedImage, imageParts, sameContent } from './deployed-image.ts';
import type { WorkloadSnapshot } from './observation.ts';
import { baselineOf, countDrift } from './remember-target.ts';
import type { ReleaseState, TargetMemory } from './state.ts';
import type { WantedImage } from './wanted-image.ts';

/**
 * The image that a target is to get, as it is written to the workload. Where the target already has the same digest
 * from the same repository under another tag, it is that reference: a tag that was added to an image restarts nothing.
 */
export function desiredImage(wanted: WantedImage, memory: TargetMemory, image: string): string {
  const desired = deployedImage(wanted.resolved);
  const baseline = baselineOf(memory);
  if (baseline !== null) return sameContent(baseline, desired) ? baseline : desired;
  return sameContent(image, desired) && imageParts(image).tag !== null ? image : desired;
}

/**
 * Takes in what is wanted now: a phase that outlived its rollout ends when something else is wanted, a target that was
 * never written to is adopted where it is as wanted, and drifts are counted.
 *
 * @param desired null where the line could not be resolved: then nothing ends and nothing is adopted
 */
export function settleTarget(
  memory: TargetMemory,
  workload: WorkloadSnapshot,
  image: string,
  desired: string | null,
  state: Pick<ReleaseState, 'blocked' | 'spec'>,
  now: number,
): TargetMemory {
  if (desired === null) return memory.applied === null ? memory : countDrift(memory, workload, image);
  const lasting = stuckEnded(memory, desired, state, now) ? { ...memory, stuck: null } : memory;
  const adopts = lasting.applied === null && image === desired;
  return countDrift(adopts ? { ...lasting, adopted: image } : lasting, workload, image);
}

/**
 * True once something else is wanted; for RolledBack also once neither a block nor a cooldown holds the image: the next
 * attempt comes when the cooldown is over. What a person aborted waits for a person.
 */
function stuckEnded(
  { stuck }: TargetMemory,
  desired: string,
  state: Pick<ReleaseState, 'blocked' | 'spec'>,
  now: number,
): boolean {
  if (stuck === null) return false;
  if (stuck.wanted !== desired) return true;
  if (stuck.phase !== 'RolledBack' || stuck.reason === 'Aborted') return false;
  return blockOfImage(state, stuck.image, null, now) === null;
}
