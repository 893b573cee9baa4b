import { counted } from '../core/counted.ts';
import { accepted, acceptedAgain, refused, type ActionAnswer } from './action-answer.ts';
import type { ActionOf } from './actions.ts';
import { abortCommands } from './commands.ts';
import { onDefaultLine } from './line.ts';
import type { RolloutState } from './rollout.ts';
import type { ReleaseState } from './state.ts';
import { changeMemories, fresh } from './unstick.ts';

/**
 * Pins the targets on the default line to an image: freezes the fleet, or moves it on purpose. What failed before does
 * not hold a pin that a person gives now.
 */
export function pin(
  state: ReleaseState,
  action: ActionOf<'pin'>,
  now: number,
  rollout: RolloutState | null,
): ActionAnswer {
  const own = state.spec.targets.filter((target) => !onDefaultLine(target)).length;
  if (own === state.spec.targets.length) {
    return refused('every target has an image, track or pin of its own, which a pin does not move; change the spec');
  }
  if (state.pin?.image === action.image) {
    return acceptedAgain(state, `pins ${action.image}, which ${state.pin.by} had pinned already`, {
      effect: 'evaluate',
    });
  }
  const hints = [
    ...(own === 0
      ? []
      : [
          `${counted(own, 'target with an image, track or pin of its own is', 'targets with an image, track or pin of their own are')} not moved`,
        ]),
    ...(rollout === null ? [] : [`rollout ${rollout.id} goes on first, unless ${abortCommands(state.name)}`]),
  ];
  const pinned = { by: action.by, reason: action.reason, at: now, image: action.image };
  return accepted(
    { ...changeMemories(state, onDefaultLine, fresh), pin: pinned },
    [`pins ${action.image}`, ...hints].join('; '),
    { effect: 'evaluate' },
  );
}

/** Ends a person's pin: the targets follow `spec.pin` or their track again. */
export function unpin(state: ReleaseState): ActionAnswer {
  if (state.pin === null) {
    const inSpec = state.spec.pin === undefined ? '' : `; spec.pin (${state.spec.pin}) is lifted by changing the spec`;
    return refused(`nobody has pinned release ${state.name}${inSpec}`);
  }
  return accepted(
    { ...changeMemories(state, onDefaultLine, fresh), pin: null },
    `unpins ${state.pin.image}, which ${state.pin.by} had pinned`,
    { effect: 'evaluate' },
  );
}
