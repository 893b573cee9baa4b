import { imageParts } from './deployed-image.ts';
import { isBlockedIn } from './rollout-block.ts';
import type { PreflightFound, RollbackTarget, RolloutState, TargetRollout } from './rollout.ts';

/** An image to go back to, or why there is none. */
export type RollbackChoice =
  { readonly kind: 'found'; readonly target: RollbackTarget } | { readonly kind: 'none'; readonly message: string };

interface Candidate {
  /** As messages call it. */
  readonly what: string;
  readonly image: string | null;
  /** Whether it may be the digest that is being rolled: true of what ran and was healthy. */
  readonly maybeSame: boolean;
}

/**
 * The image that a target goes back to: the running one where it has passed this preflight, else the last one that
 * passed its soak here. Always one with a digest, and never a blocked one.
 *
 * Where a person let the preflight's gate be skipped, the running image has proven nothing and comes last. An item that
 * only verifies takes what was recorded in the write that it verifies.
 */
export function chooseRollbackTarget(
  state: Pick<RolloutState, 'blocked' | 'spec'>,
  target: Pick<TargetRollout, 'item' | 'skipPreflight' | 'remembered'>,
  found: PreflightFound,
): RollbackChoice {
  const refused: string[] = [];
  for (const candidate of candidates(target, found)) {
    const version = candidate.image === null ? null : versionOf(candidate.image, target, found);
    const why = whyNot(state, target, found, candidate, version);
    if (why === null && candidate.image !== null) return { kind: 'found', target: { image: candidate.image, version } };
    refused.push(`${candidate.what}${candidate.image === null ? '' : ` (${candidate.image})`} ${why ?? ''}`);
  }
  return { kind: 'none', message: `there is no image to go back to: ${refused.join('; ')}` };
}

function candidates(
  { item, skipPreflight, remembered }: Pick<TargetRollout, 'item' | 'skipPreflight' | 'remembered'>,
  { marks, runningImage }: PreflightFound,
): readonly Candidate[] {
  const passed = {
    what: 'the last image that passed here',
    image: marks.passed ?? remembered.passed,
    maybeSame: false,
  };
  if (item.action === 'verify') {
    const image = marks.applied === item.to ? marks.previousImage : (marks.applied ?? remembered.applied);
    return [{ what: 'the image recorded before it', image, maybeSame: false }, passed];
  }
  const running = { what: 'the running image', image: runningImage, maybeSame: !skipPreflight };
  return skipPreflight ? [passed, running] : [running, passed];
}

function whyNot(
  state: Pick<RolloutState, 'blocked' | 'spec'>,
  { item }: Pick<TargetRollout, 'item'>,
  { marks }: PreflightFound,
  { image, maybeSame }: Candidate,
  version: string | null,
): string | null {
  if (image === null) return 'is not known';
  const { digest } = imageParts(image);
  if (digest === null) return 'has no digest, and its pods do not agree on one';
  if (!maybeSame && digest === imageParts(item.to).digest) return 'is the one that is being rolled';
  return isBlockedIn(state, image, version === null ? null : { label: version }, marks) ? 'is blocked' : null;
}

function versionOf(
  image: string,
  { remembered }: Pick<TargetRollout, 'remembered'>,
  { marks, runningImage, runningLabel = null }: PreflightFound,
): string | null {
  if (image === runningImage && runningLabel !== null) return runningLabel;
  if (marks.applied === image) return marks.version;
  if (marks.previousImage === image) return marks.previousVersion;
  if (remembered.applied === image) return remembered.version;
  return imageParts(image).tag;
}
