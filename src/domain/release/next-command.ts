import { isCutShort, isFrozen, isStopping, isUndoable, isWaveOpen, targetOf } from './advance-rollout.ts';
import { isFinished } from './rollout-control.ts';
import { isItemBlocked } from './rollout-block.ts';
import { passedMarks, rollbackMarks, rolloutMarks } from './rollout-marks.ts';
import type { Command, RolloutState, TargetRollout } from './rollout.ts';
import { targetName } from './spec.ts';

/**
 * What is to be done next for one target. A pure function of the state: asked again before anything has come of it, it
 * gives the same command, so that a driver that died between effect and reply repeats it.
 *
 * To be asked when nothing is under way for the target; during a watch or a wait it tells whether to go on with that.
 */
export function nextCommand(state: RolloutState, name: string, _now: number): Command {
  const target = targetOf(state, name);
  const { item, since, rollbackTo } = target;
  switch (target.step) {
    case 'Waiting':
      return { do: 'wait', for: whatWaitingIsFor(state, target) };
    case 'Approval':
      return { do: 'wait', for: 'approval' };
    case 'Preflight':
      return isStopping(state) ? { do: 'settle' } : { do: 'preflight' };
    case 'Patching':
      return patching(state, target);
    case 'Rolling':
      if (state.abort !== null) return { do: 'settle' };
      return {
        do: 'watchRollout',
        image: item.to,
        deadline: since + state.spec.rolloutTimeout,
        gateTimeoutMs: state.spec.gateTimeout,
      };
    case 'Restoring':
      if (isSettledByAbort(state, target)) return { do: 'settle' };
      return frozenOr(state, { do: 'restorePlacements', placements: target.moved });
    case 'Soaking':
      if (state.abort !== null) return { do: 'settle' };
      return { do: 'watchSoak', image: item.to, until: since + soakOf(state, name) };
    case 'Passing':
      if (state.abort !== null) return { do: 'settle' };
      return frozenOr(state, { do: 'markPassed', marks: passedMarks(state, target) });
    case 'RollingBack':
      if (isCutShort(state, target) || rollbackTo === null) return { do: 'settle' };
      return frozenOr(state, {
        do: 'rollBack',
        from: item.to,
        to: rollbackTo.image,
        marks: rollbackMarks(state, target, rollbackTo),
      });
    case 'Recovering':
      if (isCutShort(state, target) || rollbackTo === null) return { do: 'settle' };
      if (target.stuck !== null)
        return frozenOr(state, { do: 'deletePod', pod: target.stuck.name, uid: target.stuck.uid });
      return { do: 'watchRecovery', image: rollbackTo.image, deadline: since + state.spec.rollbackTimeout };
    case 'Done':
      // What was promoted may have to go back as long as another target may still fail.
      if (state.spec.onFailure === 'undo' && isUndoable(target) && !isFinished(state))
        return { do: 'wait', for: 'rollout' };
      return { do: 'done' };
  }
}

function whatWaitingIsFor(state: RolloutState, target: TargetRollout): 'wave' | 'approval' | 'enforce' | 'resume' {
  if (!isWaveOpen(state, target.item.target)) return 'wave';
  // Its wave is open and nothing holds it, so it would have begun, unless an approval is lacking: its own or another's.
  return isFrozen(state) ? freezer(state) : 'approval';
}

function patching(state: RolloutState, target: TargetRollout): Command {
  const { item, changed, before } = target;
  // Nothing is written yet, so it can still be left alone; and a freeze would make what the preflight read too old.
  if (!changed && (isStopping(state) || isFrozen(state) || isItemBlocked(state, item, null))) return { do: 'settle' };
  if (state.abort !== null) return { do: 'settle' };
  const lastWrite = before === null ? null : { upgradedAt: before.upgradedAt, rolledBackAt: before.rolledBackAt };
  return frozenOr(state, { do: 'patch', from: item.from, to: item.to, marks: rolloutMarks(state, target), lastWrite });
}

/** An abort ends what goes forward; a way back goes on, unless it was to be left at once. */
function isSettledByAbort(state: RolloutState, target: TargetRollout): boolean {
  return state.abort !== null && (target.failure === null || isCutShort(state, target));
}

/** The command, or the wait for whoever can lift what keeps it from being done. */
function frozenOr(state: RolloutState, command: Command): Command {
  return isFrozen(state) ? { do: 'wait', for: freezer(state) } : command;
}

function freezer(state: RolloutState): 'enforce' | 'resume' {
  return state.mode === 'Enforce' ? 'resume' : 'enforce';
}

/** How long a target soaks, milliseconds. */
function soakOf(state: RolloutState, name: string): number {
  return state.spec.targets.find((t) => targetName(t) === name)?.soak ?? state.spec.soak;
}
