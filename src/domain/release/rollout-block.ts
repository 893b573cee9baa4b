import { imageParts } from './deployed-image.ts';
import { names, type BlockSubject } from './block-list.ts';
import type { Marks } from './observation.ts';
import type { PlanItem } from './plan.ts';
import type { RolloutState } from './rollout.ts';

/**
 * True where an image is blocked: by the spec's list, by a person or a failure, or by a mark on the object itself. By
 * digest, label or version. A cooldown alone blocks nothing.
 *
 * @param called what people call it, and its version; null where only its tag is known
 * @param marks of the object, as just read; null where they were not
 */
export function isBlockedIn(
  state: Pick<RolloutState, 'blocked' | 'spec'>,
  image: string,
  called: Omit<BlockSubject, 'digest'> | null,
  marks: Pick<Marks, 'blocked'> | null,
): boolean {
  const { digest, tag } = imageParts(image);
  const subject: BlockSubject = { digest, ...(called ?? { label: tag }) };
  const entries = [
    ...state.spec.blocklist,
    ...[...state.blocked, ...(marks?.blocked ?? [])].filter((entry) => entry.cooldownOnly !== true).map((e) => e.image),
  ];
  return entries.some((entry) => names(entry, subject));
}

/** True where an item must not be rolled since its image is blocked. A pin bypasses that; verifying rolls nothing. */
export function isItemBlocked(
  state: Pick<RolloutState, 'blocked' | 'spec'>,
  item: PlanItem,
  marks: Pick<Marks, 'blocked'> | null,
): boolean {
  return item.action === 'roll' && item.why !== 'pin' && isBlockedIn(state, item.to, calledIn(item), marks);
}

function calledIn({ toLabel, toVersion, toManifests = [] }: PlanItem): Omit<BlockSubject, 'digest'> {
  return { label: toLabel, version: toVersion ?? null, manifests: toManifests };
}
