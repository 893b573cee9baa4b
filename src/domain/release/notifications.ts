import { notification, type Notification, type Severity } from '../core/notification.ts';
import { decideCommands } from './commands.ts';
import type { Evaluation, HeldReason } from './plan.ts';
import { phaseNow } from './release-phase.ts';
import type { RolloutState, TargetRollout } from './rollout.ts';
import type { ReleaseState } from './state.ts';
import { liftedBy, waitingOf } from './waiting.ts';

/*
 * What people are told without asking. Not every transition: what went back, what failed, and what goes on only when a
 * person does something, each once.
 */

/** What is to be said of the step from one state of a rollout to the next. Empty where nothing is. */
export function rolloutNotifications(before: RolloutState, after: RolloutState): Notification[] {
  const changed = after.targets.filter((target, index) => target !== before.targets[index]);
  const was = new Map(before.targets.map((target) => [target.item.target, target]));
  const ended = changed.filter((t) => t.outcome !== null && was.get(t.item.target)?.outcome === null);
  const asking = changed.filter((t) => t.step === 'Approval' && was.get(t.item.target)?.step !== 'Approval');
  return [...ended.flatMap((target) => endOf(after, target)), ...approvalsOf(after, asking)];
}

/** A wait for a person that was told of, by what it is about; to be kept so that it is not told again. */
export interface TellWait {
  /** Null where nobody is waited for any more. */
  readonly told: string | null;
  readonly notification: Notification | null;
}

/**
 * What is to be said of a release between rollouts that waits for a person: for the approval of its plan, or held by
 * what only a person lifts. What a person brought about (Shadow, a pause, `suspend`) is not told.
 *
 * A reading that failed neither ends a wait nor begins one: what is told of stays told.
 *
 * @param state after an evaluation
 */
export function waitNotification(state: ReleaseState): TellWait {
  const { name, evaluation, told = null } = state;
  const quiet = { told, notification: null };
  if (evaluation === null) return quiet;
  const phase = phaseNow(state, null);
  if (phase === 'Unknown') return quiet;
  const wait = phase === 'AwaitingApproval' ? planWait(state) : heldWait(evaluation);
  if (wait === null) return { told: null, notification: null };
  if (wait.about === told) return quiet;
  return { told: wait.about, notification: waits(`release/${name}`, wait.text, wait.about) };
}

interface Wait {
  /** Another of these is another wait. */
  readonly about: string;
  readonly text: string;
}

function planWait(state: ReleaseState): Wait | null {
  const waiting = waitingOf(state, 'AwaitingApproval', null, null);
  if (waiting === null) return null;
  return { about: state.evaluation?.planHash ?? '', text: `waits for ${waiting.for}; next: ${waiting.next}` };
}

/** Brought about by a person, or told of when the target failed that stopped the others. */
const known: readonly string[] = ['Rejected', 'Aborted', 'StoppedByFailure'] satisfies HeldReason[];

/** The first target, in the order of the spec, that stays as it is until a person does something. */
function heldWait({ effectiveMode, targets, plan }: Evaluation): Wait | null {
  if (effectiveMode !== 'Enforce') return null;
  const planned = new Set(plan.items.map((item) => item.target));
  const held = targets.filter(
    ({ name, phase, reason }) =>
      (phase === 'Held' || phase === 'Drifted') &&
      !planned.has(name) &&
      !known.includes(reason) &&
      liftedBy(reason) === 'person',
  );
  const [first] = held;
  if (first === undefined) return null;
  const { name, phase, reason, message, desired } = first;
  const others = held.length === 1 ? '' : `; and ${held.length - 1} more`;
  return {
    about: `${name}/${reason}/${desired ?? ''}`,
    text: `${name} is ${phase}${reason === '' ? '' : ` (${reason})`}: ${message}${others}`,
  };
}

function approvalsOf(state: RolloutState, asking: readonly TargetRollout[]): Notification[] {
  const [first] = asking;
  if (first === undefined) return [];
  const names = asking.map((target) => target.item.target).join(', ');
  const next = decideCommands(state.release, state.planHash, state.spec);
  const text = `waits for an approval of ${first.item.toLabel} on ${names} (plan ${state.planHash}); next: ${next}`;
  return [waits(`release/${state.release}`, text, `${state.id}/${names}`)];
}

function waits(subject: string, text: string, occurrence: string): Notification {
  return notification('WaitsForPerson', 'warning', subject, text, occurrence);
}

function endOf({ release, id }: RolloutState, { item, outcome }: TargetRollout): Notification[] {
  if (outcome === null) return [];
  const subject = `release/${release}, target ${item.target}`;
  const say = (what: string, severity: Severity): Notification[] => [
    notification(what, severity, subject, outcome.message, id),
  ];
  switch (outcome.phase) {
    case 'RolledBack':
      // What a person aborted is no news to them.
      return say('RolledBack', outcome.reason === 'Aborted' ? 'info' : 'warning');
    case 'Failed':
      if (outcome.reason === 'RollbackDidNotRecover') return say(outcome.reason, 'page');
      // A broken image without a way back, as it stands.
      return say('Failed', outcome.reason === 'NoRollbackTarget' ? 'page' : 'warning');
    default:
      return [];
  }
}
