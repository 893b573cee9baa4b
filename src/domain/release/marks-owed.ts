import { own } from '../core/own.ts';
import { addressOf, type TargetAddress } from './address.ts';
import { BY_MARKS, isUnblocked, toMark } from './block-list.ts';
import { isOfOtherRelease } from './marks.ts';
import type { Marks, Observation } from './observation.ts';
import type { MarksPatch } from './rollout.ts';
import { targetName } from './spec.ts';
import type { ReleaseState } from './state.ts';

/** A write of marks alone, without touching the pod template. */
export interface OwedMarks {
  readonly target: TargetAddress;
  readonly marks: MarksPatch;
}

/**
 * The writes that make the objects remember what people decided, so that it outlives this run: a block that no object
 * of the release carries goes to the first target that can be read, and what a person unblocked is removed wherever it
 * is still marked. Empty in every mode but Enforce.
 *
 * @param observation the reading that the state was just evaluated on
 */
export function marksOwed(state: ReleaseState, observation: Observation): readonly OwedMarks[] {
  if (state.evaluation?.effectiveMode !== 'Enforce') return [];
  const own = ownMarks(state, observation);
  const marked = new Set(own.flatMap(({ marks }) => marks.blocked.map((mark) => mark.image)));
  const missing = state.blocked.filter((entry) => entry.by !== BY_MARKS && !marked.has(entry.image));
  return own.flatMap(({ target, marks }, index) => {
    const block = index === 0 ? missing.map(toMark) : [];
    const unblock = marks.blocked
      .filter((mark) => isUnblocked(state, mark))
      .map((mark) => mark.image)
      .filter((image) => !state.blocked.some((entry) => entry.image === image));
    if (block.length + unblock.length === 0) return [];
    return {
      target,
      marks: { ...(block.length === 0 ? {} : { block }), ...(unblock.length === 0 ? {} : { unblock }) },
    };
  });
}

/** The targets that were read and that no other release manages, in the order of the spec. */
function ownMarks(
  state: ReleaseState,
  observation: Observation,
): readonly { readonly target: TargetAddress; readonly marks: Marks }[] {
  return state.spec.targets.flatMap((spec) => {
    const workload = own(observation.targets, targetName(spec))?.workload;
    if (workload?.kind !== 'read') return [];
    const { marks } = workload.value;
    if (isOfOtherRelease(marks, state.name)) return [];
    return { target: addressOf(spec, state.spec), marks };
  });
}
