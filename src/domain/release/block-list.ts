import { own } from '../core/own.ts';
import type { BlockMark, Observation, ResolvedLine } from './observation.ts';
import { imageParts } from './deployed-image.ts';
import { isOfOtherRelease } from './marks.ts';
import type { Blocked, ReleaseState } from './state.ts';
import { sameVersion } from './version.ts';

/** Who an entry names that stands in the spec. */
export const BY_SPEC = 'spec.blocklist';
/** Who an entry names that was found on an object rather than decided in this run. */
export const BY_MARKS = 'holdfast (found on the object)';

/** An image as far as blocks name it. */
export interface BlockSubject {
  readonly digest: string | null;
  readonly label: string | null;
  /** Semver of the image, as its tag or its labels tell. */
  readonly version?: string | null;
  readonly platformDigests?: ResolvedLine['platformDigests'];
  /** The same as a list. */
  readonly manifests?: readonly string[];
}

/**
 * The blocked images of a release once its targets' marks are taken in: what an earlier run, since terminated, had
 * found bad stays blocked. A mark that a person has since unblocked is not taken in again. Entries whose cooldown is
 * over and that block nothing are dropped.
 */
export function withMarkedBlocks(state: ReleaseState, observation: Observation, now: number): readonly Blocked[] {
  const byImage = new Map(state.blocked.map((entry) => [entry.image, entry]));
  for (const target of Object.values(observation.targets)) {
    if (target.workload.kind === 'unmeasured') continue;
    const { marks } = target.workload.value;
    if (isOfOtherRelease(marks, state.name)) continue;
    for (const mark of marks.blocked) {
      if (!byImage.has(mark.image) && !isUnblocked(state, mark)) byImage.set(mark.image, fromMark(mark));
    }
  }
  return [...byImage.values()].filter((entry) => !entry.cooldownOnly || entry.cooldownUntil > now);
}

/** True for a mark that a person has taken back since it was made. */
export function isUnblocked({ unblocked }: Pick<ReleaseState, 'unblocked'>, mark: BlockMark): boolean {
  const since = own(unblocked, mark.image);
  return since !== undefined && Date.parse(mark.at) <= since;
}

/** One entry as it is written on objects. */
export function toMark(entry: Blocked): BlockMark {
  return {
    image: entry.image,
    at: new Date(entry.at).toISOString(),
    reason: entry.reason,
    ...(entry.cooldownUntil === 0 ? {} : { cooldownUntil: new Date(entry.cooldownUntil).toISOString() }),
    ...(entry.cooldownOnly ? { cooldownOnly: true as const } : {}),
  };
}

function fromMark(mark: BlockMark): Blocked {
  return {
    image: mark.image,
    by: BY_MARKS,
    reason: mark.reason,
    at: Date.parse(mark.at),
    cooldownUntil: mark.cooldownUntil === undefined ? 0 : Date.parse(mark.cooldownUntil),
    cooldownOnly: mark.cooldownOnly === true,
  };
}

/**
 * The entry that holds an image: the spec's blocklist, what failed or was blocked, or a cooldown that is not over. By
 * the index digest, the digest of one of its platforms, the label, or the version, which an image on a moving tag may
 * have besides its label; a digest is held under any tag, and a tag that was pushed again with another digest is not
 * held by the old one's.
 *
 * @returns null where nothing holds the image
 */
export function blockOf(
  state: Pick<ReleaseState, 'blocked' | 'spec'>,
  image: BlockSubject,
  now: number,
): Blocked | null {
  const listed = state.spec.blocklist.find((entry) => names(entry, image));
  if (listed !== undefined) {
    return { image: listed, by: BY_SPEC, reason: '', at: 0, cooldownUntil: 0, cooldownOnly: false };
  }
  const held = state.blocked.filter((entry) => names(entry.image, image));
  return held.find((e) => !e.cooldownOnly) ?? held.find((e) => e.cooldownUntil > now) ?? null;
}

/**
 * The entry that holds an image of which only the reference is known.
 *
 * @param label what people call it; null where its tag alone is known
 */
export function blockOfImage(
  state: Pick<ReleaseState, 'blocked' | 'spec'>,
  reference: string,
  label: string | null,
  now: number,
): Blocked | null {
  const { digest, tag } = imageParts(reference);
  return blockOf(state, { digest, label: label ?? tag }, now);
}

/** True where an entry of a blocklist names the image. */
export function names(
  entry: string,
  { digest, label, version, platformDigests, manifests = [] }: BlockSubject,
): boolean {
  if (entry === digest || entry === label) return true;
  if (typeof version === 'string' && sameVersion(entry, version)) return true;
  return manifests.includes(entry) || Object.values(platformDigests ?? {}).includes(entry);
}
