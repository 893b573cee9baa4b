import { imageParts } from './deployed-image.ts';
import { managedByOf } from './marks.ts';
import type { MarksPatch, RollbackTarget, RolloutState, TargetRollout } from './rollout.ts';

/*
 * Instants in marks are those at which the step began, never those of the write: a write that is repeated because its
 * reply got lost then finds everything as it wanted it.
 */

/** Marks of the one patch that sets the new image: they carry the way back. */
export function rolloutMarks(state: RolloutState, target: TargetRollout): MarksPatch {
  const { item, rollbackTo, placements, since } = target;
  return {
    managedBy: managedByOf(state.release),
    applied: item.to,
    version: item.toLabel,
    previousImage: rollbackTo?.image ?? null,
    previousVersion: rollbackTo?.version ?? null,
    upgradedAt: iso(since),
    rolledBackFrom: null,
    rolledBackAt: null,
    placements,
  };
}

/** Marks once an image has passed gate and soak. One that somebody else wrote becomes ours with them. */
export function passedMarks(state: RolloutState, target: TargetRollout): MarksPatch {
  const { item, rollbackTo } = target;
  const passed = { passed: item.to, placements: null };
  if (item.action === 'roll') return passed;
  return {
    ...passed,
    managedBy: managedByOf(state.release),
    applied: item.to,
    version: item.toLabel,
    // What was recorded stays recorded where nothing better is known.
    ...(rollbackTo === null ? {} : { previousImage: rollbackTo.image, previousVersion: rollbackTo.version }),
    rolledBackFrom: null,
    rolledBackAt: null,
  };
}

/**
 * Marks of the patch that puts the image back: the annotations as they were, where it came from, and the failed digest,
 * so that no run after this one rolls it again. Where the image itself is not proven bad only its cooldown is kept.
 */
export function rollbackMarks(state: RolloutState, target: TargetRollout, to: RollbackTarget): MarksPatch {
  const { before, since, item } = target;
  const block = blockMark(state, target);
  return {
    managedBy: managedByOf(state.release),
    applied: to.image,
    version: to.version,
    previousImage: before?.previousImage ?? null,
    previousVersion: before?.previousVersion ?? null,
    upgradedAt: before?.upgradedAt ?? null,
    passed: before?.passed ?? null,
    rolledBackFrom: item.to,
    rolledBackAt: iso(since),
    ...(block === null ? {} : { block: [block] }),
  };
}

function blockMark(state: RolloutState, target: TargetRollout): NonNullable<MarksPatch['block']>[number] | null {
  const { failure, item, since } = target;
  const { digest } = imageParts(item.to);
  if (failure === null || digest === null || failure.reason === 'Aborted' || failure.reason === 'Undone') return null;
  const { cooldown } = state.spec;
  const isBlocked = state.blocked.some((entry) => entry.image === digest && !entry.cooldownOnly);
  // A pinned image may be a blocked one: what blocks it must not turn into a mere cooldown.
  const block = failure.block || isBlocked;
  if (!block && cooldown === 0) return null;
  return {
    image: digest,
    at: iso(since),
    reason: `${item.toLabel} on ${item.target}: ${failure.reason}`,
    ...(cooldown === 0 ? {} : { cooldownUntil: iso(since + cooldown) }),
    ...(block ? {} : { cooldownOnly: true as const }),
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
