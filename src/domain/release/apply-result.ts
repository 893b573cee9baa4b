import {
  advance,
  at,
  because,
  ended,
  isCutShort,
  isFrozen,
  isStopping,
  stop,
  targetOf,
  unstartedOutcome,
  withTarget,
} from './advance-rollout.ts';
import { addressOf, type TargetAddress } from './address.ts';
import { imageParts } from './deployed-image.ts';
import { managedByOf } from './marks.ts';
import { isHeldReason, type PlanItem } from './plan.ts';
import { lookAt } from './rollback-message.ts';
import { chooseRollbackTarget } from './rollback-target.ts';
import { isItemBlocked } from './rollout-block.ts';
import type {
  Result,
  RolloutFailure,
  RolloutState,
  Stop,
  TargetOutcome,
  TargetRollout,
  WriteResult,
} from './rollout.ts';
import { targetName } from './spec.ts';
import { IMAGE_CHANGED, notOfTheImage } from './stop-reasons.ts';
import { writeDeadline } from './write-deadline.ts';
import type { Fail, Unmeasured, Verdict } from '../core/verdict.ts';

type ResultOf<K extends Result['of']> = Extract<Result, { of: K }>;
type Refused = Extract<WriteResult, { kind: 'refused' }>;

/**
 * Takes in what came of a command. A result that does not fit the target's step changes nothing: it is late, or came
 * twice.
 *
 * @param now epoch milliseconds
 */
export function applyResult(state: RolloutState, name: string, result: Result, now: number): RolloutState {
  const target = targetOf(state, name);
  return advance(take(state, target, result, now), now);
}

function take(state: RolloutState, target: TargetRollout, result: Result, now: number): RolloutState {
  switch (result.of) {
    case 'settle':
      return settle(state, target, now);
    case 'preflight':
      return target.step === 'Preflight' ? preflighted(state, target, result, now) : state;
    case 'patch':
      return target.step === 'Patching' ? patched(state, target, result.write, now) : state;
    case 'watchRollout':
      return target.step === 'Rolling' ? rolled(state, target, result, now) : state;
    case 'restorePlacements':
      return target.step === 'Restoring' ? restored(state, target, result, now) : state;
    case 'watchSoak':
      return target.step === 'Soaking' ? soaked(state, target, result, now) : state;
    case 'markPassed':
      return target.step === 'Passing' ? marked(state, target, result.write, now) : state;
    case 'rollBack':
      return target.step === 'RollingBack' ? wroteBack(state, target, result.write, now) : state;
    case 'watchRecovery':
      return target.step === 'Recovering' ? recovered(state, target, result, now) : state;
    case 'deletePod':
      return target.step === 'Recovering' ? podDeleted(state, target, result.write, now) : state;
  }
}

/** What people, or a failure elsewhere, brought about for a target for which nothing is under way. */
function settle(state: RolloutState, target: TargetRollout, now: number): RolloutState {
  const { abort } = state;
  switch (target.step) {
    case 'Preflight':
      return isStopping(state) ? withTarget(state, ended(target, unstartedOutcome(state), now)) : state;
    case 'Patching':
      if (target.changed) return abort === null ? state : aborted(state, target, now);
      if (isStopping(state)) return withTarget(state, ended(target, unstartedOutcome(state), now));
      if (isItemBlocked(state, target.item, null)) return held(state, target, 'Blocked', isBlocked(target), now);
      return isFrozen(state) ? withTarget(state, at(target, 'Waiting', now)) : state;
    case 'Rolling':
    case 'Soaking':
    case 'Passing':
      return abort === null ? state : aborted(state, target, now);
    case 'Restoring':
      if (abort === null) return state;
      return target.failure === null ? aborted(state, target, now) : leftByAbort(state, target, now);
    case 'RollingBack':
    case 'Recovering':
      return target.rollbackTo === null ? noWayBack(state, target, now) : leftByAbort(state, target, now);
    case 'Waiting':
    case 'Approval':
    case 'Done':
      return state;
  }
}

function isBlocked({ item }: TargetRollout): string {
  return `${item.toLabel} (${item.to}) is blocked; nothing was changed`;
}

/** A target that is sick already may be waiting for this very image. */
function cure({ release }: RolloutState, { target }: PlanItem, verdict: Verdict): string {
  if (verdict.kind !== 'fail' || isHeldReason(verdict.reason)) return '';
  return `; if the new image is the cure: holdfast retry release/${release} --target ${target} --skip-preflight`;
}

function preflighted(
  state: RolloutState,
  target: TargetRollout,
  { verdict, found }: ResultOf<'preflight'>,
  now: number,
): RolloutState {
  if (isStopping(state)) return withTarget(state, ended(target, unstartedOutcome(state), now));
  const { item } = target;
  if (verdict.kind !== 'pass')
    return held(
      state,
      target,
      'PreflightFailed',
      `${said(verdict)}; nothing was changed${cure(state, item, verdict)}`,
      now,
    );
  if (found === null) {
    return held(state, target, 'PreflightFailed', 'the preflight passed but read nothing; nothing was changed', now);
  }
  const { managedBy } = found.marks;
  if (managedBy !== null && managedBy !== managedByOf(state.release)) {
    const message = `${managedBy} manages this image by now; nothing was changed`;
    return held(state, target, 'PreflightFailed', message, now);
  }
  if (isItemBlocked(state, item, found.marks)) return held(state, target, 'Blocked', isBlocked(target), now);
  const choice = chooseRollbackTarget(state, target, found);
  const rollbackTo = choice.kind === 'found' ? choice.target : null;
  if (item.action === 'verify') {
    const placements = found.marks.placements ?? found.placements;
    return withTarget(state, { ...at(target, 'Rolling', now), changed: true, rollbackTo, placements });
  }
  if (choice.kind === 'none') {
    const message = `NoRollbackTarget: ${choice.message}; nothing was changed`;
    return held(state, target, 'PreflightFailed', message, now);
  }
  const { passed, previousImage, previousVersion, upgradedAt, rolledBackAt } = found.marks;
  return withTarget(state, {
    ...at(target, 'Patching', now),
    rollbackTo,
    placements: found.placements,
    before: { passed, previousImage, previousVersion, upgradedAt, rolledBackAt },
  });
}

function patched(state: RolloutState, target: TargetRollout, write: WriteResult, now: number): RolloutState {
  switch (write.kind) {
    case 'written': {
      const rolling = { ...at(target, 'Rolling', now), changed: true };
      return state.abort === null ? withTarget(state, rolling) : aborted(state, rolling, now);
    }
    case 'unknown': {
      const changed = { ...target, changed: true };
      if (state.abort !== null) return aborted(state, changed, now);
      if (now < writeDeadline(state, target)) return withTarget(state, changed);
      return unsure(state, changed, write.message, now);
    }
    case 'refused':
      return notPatched(state, target, write, now);
  }
}

/** Refused, which says that nothing was changed only where no earlier try of the same write may have changed something. */
function notPatched(
  state: RolloutState,
  target: TargetRollout,
  { reason, message, afterUnknown }: Refused,
  now: number,
): RolloutState {
  // An incumbent is looked for only where the image was read as it was before.
  const maybe = (target.changed || afterUnknown === true) && reason !== 'Incumbent';
  if (!maybe) {
    return held(state, { ...target, changed: false }, refusal[reason], `${message}; nothing was changed`, now);
  }
  const changed = { ...target, changed: true };
  if (reason === 'Denied') return unsure(state, changed, message, now);
  const note = `an earlier try may have written ${target.item.to}`;
  return held(state, changed, refusal[reason], `${message}; ${note}${wayBack(target)}`, now);
}

const refusal = {
  Incumbent: 'Incumbent',
  Changed: 'Changed',
  Missing: 'WorkloadMissing',
  Denied: 'AccessDenied',
  Invalid: 'WriteInvalid',
} as const satisfies Record<Refused['reason'], string>;

function rolled(
  state: RolloutState,
  target: TargetRollout,
  { verdict, restarts, moved, block }: ResultOf<'watchRollout'>,
  now: number,
): RolloutState {
  switch (verdict.kind) {
    case 'pass': {
      const gated = { ...target, restarts, moved };
      if (state.abort !== null) return aborted(state, gated, now);
      return withTarget(state, at(gated, moved.length > 0 ? 'Restoring' : 'Soaking', now));
    }
    case 'fail':
      return failed(state, target, verdict, block, now);
    case 'unmeasured':
      return notMeasured(state, target, verdict, now);
  }
}

function restored(
  state: RolloutState,
  target: TargetRollout,
  { verdict }: ResultOf<'restorePlacements'>,
  now: number,
): RolloutState {
  if (target.failure !== null) {
    return verdict.kind === 'pass'
      ? wentBack(state, { ...target, moved: [] }, null, now)
      : wentBack(state, target, said(verdict), now);
  }
  switch (verdict.kind) {
    case 'pass':
      if (state.abort !== null) return aborted(state, target, now);
      return withTarget(state, { ...at(target, 'Soaking', now), moved: [] });
    case 'fail':
      return failed(state, target, verdict, true, now);
    case 'unmeasured':
      return notMeasured(state, target, verdict, now);
  }
}

function soaked(
  state: RolloutState,
  target: TargetRollout,
  { verdict, block }: ResultOf<'watchSoak'>,
  now: number,
): RolloutState {
  switch (verdict.kind) {
    case 'pass':
      return state.abort === null ? withTarget(state, at(target, 'Passing', now)) : aborted(state, target, now);
    case 'fail':
      return failed(state, target, verdict, block, now);
    case 'unmeasured':
      return notMeasured(state, target, verdict, now);
  }
}

/** The image has passed, whatever becomes of the mark: without it a run that has lost its memory proves it again. */
function marked(state: RolloutState, target: TargetRollout, write: WriteResult, now: number): RolloutState {
  const { toLabel, to } = target.item;
  if (write.kind === 'unknown' && now < writeDeadline(state, target)) return state;
  if (write.kind === 'refused' && write.reason === 'Changed') {
    const message = `${toLabel} passed, but was replaced at the same time: ${write.message}`;
    return endAndStop(state, target, { phase: 'Drifted', reason: 'Changed', message }, 'held', now);
  }
  const note = write.kind === 'written' ? '' : `; it could not be marked as passed: ${write.message}`;
  const outcome = { phase: 'Current', reason: '', message: `${toLabel} (${to}) passed gate and soak${note}` } as const;
  return withTarget(state, ended(target, outcome, now));
}

function wroteBack(state: RolloutState, target: TargetRollout, write: WriteResult, now: number): RolloutState {
  const to = target.rollbackTo?.image ?? '';
  switch (write.kind) {
    case 'written':
      return withTarget(state, { ...at(target, 'Recovering', now), wentBack: true });
    case 'unknown': {
      if (now < writeDeadline(state, target)) return state;
      return didNotRecover(state, target, `it could not be found out whether ${to} was written: ${write.message}`, now);
    }
    case 'refused': {
      if (write.reason === 'Changed') return replacedMeanwhile(state, target, write.message, now);
      return didNotRecover(state, target, `writing ${to} was refused: ${write.message}`, now);
    }
  }
}

/** What somebody else wrote is never written over, not even by a way back. */
function replacedMeanwhile(state: RolloutState, target: TargetRollout, what: string, now: number): RolloutState {
  const to = target.rollbackTo?.image ?? '';
  const message = `not rolled back to ${to}: somebody else changed the image meanwhile, and that is left alone: ${what}; it was to go back because ${why(target)}`;
  return endAndStop(state, target, { phase: 'Failed', reason: 'Changed', message }, 'measured', now);
}

function recovered(
  state: RolloutState,
  target: TargetRollout,
  { verdict, moved, stuck = null }: ResultOf<'watchRecovery'>,
  now: number,
): RolloutState {
  if (stuck !== null && !target.deletedPods.includes(stuck.uid)) return withTarget(state, { ...target, stuck });
  switch (verdict.kind) {
    case 'pass': {
      if (moved.length === 0) return wentBack(state, target, null, now);
      return withTarget(state, { ...at(target, 'Restoring', now), moved });
    }
    case 'fail':
      if (verdict.reason === IMAGE_CHANGED) return replacedMeanwhile(state, target, verdict.message, now);
      return didNotRecover(state, target, said(verdict), now);
    case 'unmeasured':
      return didNotRecover(state, target, `not measured: ${verdict.message}`, now);
  }
}

/** Whatever came of it, no pod is deleted twice; the recovery's own deadline goes on counting. */
function podDeleted(state: RolloutState, target: TargetRollout, write: WriteResult, now: number): RolloutState {
  const { stuck, deletedPods } = target;
  if (stuck === null) return state;
  if (write.kind === 'unknown') {
    if (now < writeDeadline(state, target)) return state;
    return didNotRecover(state, target, `pod ${stuck.name} keeps it from going back: ${write.message}`, now);
  }
  return withTarget(state, { ...target, stuck: null, deletedPods: [...deletedPods, stuck.uid] });
}

/** A measured failure: the rollout stops, and the target goes back to its recorded image. */
function failed(state: RolloutState, target: TargetRollout, verdict: Fail, block: boolean, now: number): RolloutState {
  const { reason, message } = verdict;
  if (notOfTheImage(reason)) return stoppedByOthers(state, target, verdict, now);
  if (state.abort?.how === 'stop') return aborted(state, target, now);
  const failure: RolloutFailure = { reason, message, block: block && !isSameDigest(target) };
  const stopped = stop(state, { target: target.item.target, reason, message, cause: 'measured' });
  if (target.rollbackTo === null) return noWayBack(stopped, { ...target, failure }, now);
  return withTarget(stopped, { ...at(target, 'RollingBack', now), failure });
}

/** The same digest ran here and was healthy, so what failed was not the image. */
function isSameDigest({ item, rollbackTo }: TargetRollout): boolean {
  return rollbackTo !== null && imageParts(item.to).digest === imageParts(rollbackTo.image).digest;
}

/** Somebody replaced the image or paused the workload while it was watched: that is theirs, and is left alone. */
function stoppedByOthers(
  state: RolloutState,
  target: TargetRollout,
  { reason, message }: Fail,
  now: number,
): RolloutState {
  if (reason === IMAGE_CHANGED) {
    return endAndStop(state, target, { phase: 'Drifted', reason, message }, 'held', now);
  }
  const text = `${message}; NOT rolled back: nothing was measured about ${target.item.to}, which is in the template${wayBack(target)}`;
  return endAndStop(state, target, { phase: 'Failed', reason, message: text }, 'unmeasured', now);
}

function notMeasured(state: RolloutState, target: TargetRollout, verdict: Unmeasured, now: number): RolloutState {
  if (state.abort !== null) return aborted(state, target, now);
  return unproven(state, target, verdict.message, now);
}

/** Stays on the new image: what was not measured proves nothing against it. */
function unproven(state: RolloutState, target: TargetRollout, why: string, now: number): RolloutState {
  return unmeasured(state, target, `${why}; it stays on ${target.item.to}`, now);
}

/** Stays on whatever it is on: nobody could find out whether the new image was written. */
function unsure(state: RolloutState, target: TargetRollout, why: string, now: number): RolloutState {
  return unmeasured(state, target, `it could not be found out whether ${target.item.to} was written: ${why}`, now);
}

function unmeasured(state: RolloutState, target: TargetRollout, why: string, now: number): RolloutState {
  const message = `NOT rolled back — unmeasured is not unhealthy: ${why}${wayBack(target)}`;
  return endAndStop(state, target, { phase: 'Failed', reason: 'Unmeasured', message }, 'unmeasured', now);
}

function wayBack({ rollbackTo }: TargetRollout): string {
  return rollbackTo === null ? '' : `; the way back is ${rollbackTo.image}`;
}

/** Nothing was changed on the target; the rollout stops, and the next attempt comes with another plan. */
function held(state: RolloutState, target: TargetRollout, reason: string, message: string, now: number): RolloutState {
  return endAndStop(state, target, { phase: 'Held', reason, message }, 'held', now);
}

/** What a person's abort means for a target that is going forward. */
function aborted(state: RolloutState, target: TargetRollout, now: number): RolloutState {
  const { abort } = state;
  const by = abort === null ? '' : `${abort.by} aborted the rollout${because(abort.reason)}`;
  if (abort?.how === 'rollback' && target.changed) {
    const failure: RolloutFailure = { reason: 'Aborted', message: by, block: false };
    if (target.rollbackTo === null) return noWayBack(state, { ...target, failure }, now);
    return withTarget(state, { ...at(target, 'RollingBack', now), failure });
  }
  const sure = target.step === 'Patching' ? `; it is not known whether ${target.item.to} was written` : '';
  const message = `${by}; left at ${target.step} on ${target.item.to}, unproven${sure}${wayBack(target)}`;
  return withTarget(state, ended(target, { phase: 'Held', reason: 'Aborted', message }, now));
}

/** `abort --now` during a rollback: it is left as it is, and that is said. */
function leftByAbort(state: RolloutState, target: TargetRollout, now: number): RolloutState {
  const { abort } = state;
  if (abort === null || !isCutShort(state, target)) return state;
  const { item, rollbackTo, failure } = target;
  const left = target.wentBack
    ? `${rollbackTo?.image ?? ''} was written back but is not known to be healthy`
    : `${item.to} was left in place although ${failure?.message ?? 'it was to go back'}${wayBack(target)}`;
  const message = `${abort.by} aborted with --now${because(abort.reason)}: ${left}; ${lookAt(addressFor(state, target), rollbackTo?.image ?? null)}`;
  return withTarget(state, ended(target, { phase: 'Failed', reason: 'Aborted', message }, now));
}

function wentBack(state: RolloutState, target: TargetRollout, notRestored: string | null, now: number): RolloutState {
  const { rollbackTo, failure, item } = target;
  const rest = notRestored === null ? '' : `; placements could not all be written back: ${notRestored}`;
  const message = `rolled back from ${item.toLabel} to ${rollbackTo?.image ?? ''}: ${failure?.message ?? ''}${rest}`;
  return withTarget(state, ended(target, { phase: 'RolledBack', reason: failure?.reason ?? '', message }, now));
}

function didNotRecover(state: RolloutState, target: TargetRollout, what: string, now: number): RolloutState {
  const image = target.rollbackTo?.image ?? null;
  const message = `ROLLBACK DID NOT RECOVER: ${what}; it was to go back because ${why(target)}; ${lookAt(addressFor(state, target), image)}`;
  return endAndStop(state, target, { phase: 'Failed', reason: 'RollbackDidNotRecover', message }, 'measured', now);
}

function noWayBack(state: RolloutState, target: TargetRollout, now: number): RolloutState {
  const message = `NOT rolled back: no image to go back to is recorded here; it stays on ${target.item.to} although ${why(target)}; ${lookAt(addressFor(state, target), null)}`;
  return withTarget(state, ended(target, { phase: 'Failed', reason: 'NoRollbackTarget', message }, now));
}

function endAndStop(
  state: RolloutState,
  target: TargetRollout,
  outcome: TargetOutcome,
  cause: Stop['cause'],
  now: number,
): RolloutState {
  const { reason, message } = outcome;
  return stop(withTarget(state, ended(target, outcome, now)), { target: target.item.target, reason, message, cause });
}

function why({ failure }: TargetRollout): string {
  return failure === null ? 'that was asked for' : failure.message;
}

function said(verdict: Exclude<Verdict, { kind: 'pass' }>): string {
  return verdict.kind === 'fail' ? `${verdict.reason}: ${verdict.message}` : `not measured: ${verdict.message}`;
}

/** @throws Error where the spec has no such target: the rollout was started with another spec than its plan */
function addressFor(state: RolloutState, target: TargetRollout): TargetAddress {
  const spec = state.spec.targets.find((t) => targetName(t) === target.item.target);
  if (spec === undefined) throw new Error(`the spec of rollout ${state.id} has no target ${target.item.target}`);
  return addressOf(spec, state.spec);
}
