import { counted } from '../core/counted.ts';
import { abortCommands, command, decideCommands } from './commands.ts';
import { instant } from './hold.ts';
import { isHeldReason, type HeldReason, type TargetView } from './plan.ts';
import type { ReleasePhase } from './release-phase.ts';
import type { RolloutState, TargetRollout } from './rollout.ts';
import type { ReleaseState } from './state.ts';

/** What a release waits for, since when, who can lift it, and what happens next. */
export interface Waiting {
  readonly for: string;
  /** ISO instant; null where it is not known. */
  readonly since: string | null;
  /** `upstream` is whoever publishes images, `outside` a registry or cluster that does not answer. */
  readonly who: 'person' | 'time' | 'upstream' | 'outside' | 'rollout';
  readonly next: string;
}

/** Null where nothing is waited for: every target runs what is wanted. */
export function waitingOf(
  state: ReleaseState,
  phase: ReleasePhase,
  rollout: RolloutState | null,
  since: number | null,
): Waiting | null {
  const at = since === null ? null : instant(since);
  const { evaluation } = state;
  const targets = evaluation?.targets ?? [];
  switch (phase) {
    case 'Suspended':
      return { for: 'spec.suspend', since: at, who: 'person', next: 'set suspend: false and apply the spec' };
    case 'AwaitingApproval':
      return rollout === null ? planApprovalOf(state, at) : approvalOf(rollout);
    case 'RollingOut':
      return rollout === null ? null : rollingOf(rollout);
    case 'Degraded':
      return degradedOf(state.name, targets, at);
    case 'Unknown':
      return unknownOf(targets, at);
    case 'Pending':
      return pendingOf(state, at);
    case 'Held':
      return heldOf(state.name, targets, evaluation?.changesAt ?? null, at);
    case 'Current':
      return null;
  }
}

function pendingOf({ name, evaluation, spec, paused }: ReleaseState, since: string | null): Waiting {
  if (paused !== null) {
    return {
      for: `resume: paused by ${paused.by}`,
      since: instant(paused.at),
      who: 'person',
      next: command('resume', name),
    };
  }
  if (evaluation?.effectiveMode === 'Enforce') {
    return { for: 'the rollout to start', since, who: 'rollout', next: 'the canary is rolled first' };
  }
  const why = evaluation?.modeReason ?? null;
  return {
    for: why === null ? 'mode Enforce' : `mode Enforce: ${why}`,
    since,
    who: 'person',
    next:
      spec.mode === 'Enforce' ? 'the plan is rolled as soon as that is lifted' : command('set-mode', name, 'Enforce'),
  };
}

function planApprovalOf({ name, spec, evaluation }: ReleaseState, since: string | null): Waiting | null {
  if (evaluation === null) return null;
  const { plan, planHash } = evaluation;
  const labels = [...new Set(plan.items.map((item) => item.toLabel))].join(', ');
  return {
    for: `an approval of ${labels} on ${counted(plan.items.length, 'target')} (plan ${planHash})`,
    since,
    who: 'person',
    next: decideCommands(name, planHash, spec),
  };
}

function approvalOf(rollout: RolloutState): Waiting | null {
  const waiting = rollout.targets.filter((t) => t.step === 'Approval');
  const [first] = waiting;
  if (first === undefined) return null;
  const frozen = frozenBy(rollout, instant(first.since));
  if (frozen !== null) return frozen;
  const names = waiting.map((t) => t.item.target).join(', ');
  return {
    for: `an approval of ${first.item.toLabel} on ${names} (plan ${rollout.planHash})`,
    since: instant(first.since),
    who: 'person',
    next: decideCommands(rollout.release, rollout.planHash, rollout.spec),
  };
}

function rollingOf(rollout: RolloutState): Waiting | null {
  const moving = rollout.targets.find((t) => t.step !== 'Waiting' && t.step !== 'Done') ?? rollout.targets[0];
  if (moving === undefined) return null;
  const since = instant(moving.since);
  const frozen = frozenBy(rollout, since);
  if (frozen !== null) return frozen;
  return { for: `${moving.item.target}: ${moving.step}`, since, who: 'rollout', next: after(moving, rollout) };
}

/** What a rollout in which nothing may be written or begun waits for; null where it goes on. */
function frozenBy(rollout: RolloutState, since: string): Waiting | null {
  const { id, release, paused, mode } = rollout;
  if (paused) {
    const next = `${command('resume', release)}; or ${abortCommands(release)}`;
    return { for: `resume of rollout ${id}`, since, who: 'person', next };
  }
  if (mode === 'Enforce') return null;
  const next = `${command('set-mode', release, 'Enforce')}; or ${abortCommands(release)}`;
  return { for: `mode Enforce: rollout ${id} is frozen where it is`, since, who: 'person', next };
}

function after(moving: TargetRollout, rollout: RolloutState): string {
  if (moving.failure !== null) return 'the rollout stops once the image before is healthy again';
  if (rollout.stopped !== null) return `the rollout ends: ${rollout.stopped.message}`;
  const next = rollout.targets.find((t) => t.step === 'Waiting');
  return next === undefined ? 'the rollout ends' : `${next.item.target} follows`;
}

function degradedOf(release: string, targets: readonly TargetView[], since: string | null): Waiting | null {
  const target = targets.find((t) => t.phase === 'Failed') ?? targets.find((t) => t.phase === 'RolledBack');
  if (target === undefined) return null;
  return {
    for: `${target.name}, which is ${target.phase}: ${target.message}`,
    since,
    who: 'person',
    next: `another image is rolled as soon as one is wanted; ${command('retry', release)} tries this one again`,
  };
}

function unknownOf(targets: readonly TargetView[], since: string | null): Waiting {
  const unresolved = ['RegistryUnreachable', 'LineUnresolved'];
  const target = targets.find((t) => t.phase === 'Unknown') ?? targets.find((t) => unresolved.includes(t.reason));
  return {
    for: target === undefined ? 'the first evaluation' : `${target.name}: ${target.message}`,
    since,
    // That there is no such tag is the registry's own word: somebody asked for it.
    who: target?.reason === 'LineUnresolved' ? 'person' : 'outside',
    next: 'everything is read again at the next poll',
  };
}

/** Who can lift what holds a target. */
const lifts: Readonly<Record<HeldReason, Waiting['who']>> = {
  Blocked: 'upstream',
  Cooldown: 'time',
  MajorChange: 'person',
  UnknownVersion: 'person',
  Downgrade: 'person',
  Architecture: 'upstream',
  ArchitectureUnknown: 'outside',
  ZeroReplicas: 'person',
  OnDeleteStrategy: 'person',
  WorkloadPaused: 'person',
  NoSuchContainer: 'person',
  SecondWriter: 'person',
  OtherRelease: 'person',
  MinimumAge: 'time',
  OutsideWindow: 'time',
  Frozen: 'time',
  Rejected: 'person',
  Aborted: 'person',
  StoppedByFailure: 'person',
  MarksUnread: 'outside',
  PreflightFailed: 'time',
  Incumbent: 'person',
  Changed: 'time',
  ImageChanged: 'time',
  WorkloadMissing: 'person',
  AccessDenied: 'person',
  WriteInvalid: 'person',
};

/** Who can lift what a target is held or drifted for. */
export function liftedBy(reason: string): Waiting['who'] {
  if (reason === 'RegistryUnreachable') return 'outside';
  return isHeldReason(reason) ? lifts[reason] : 'person';
}

/** What lifts it where that is a command; else when it is looked at again, since the message has the way out. */
function nextAfter(reason: string, release: string, changesAt: number | null): string {
  switch (reason) {
    case 'Aborted':
    case 'Rejected':
    case 'StoppedByFailure':
    case 'SecondWriter':
      return `${command('retry', release)}; another image is rolled as soon as one is wanted`;
    default:
      return changesAt === null
        ? 'it is looked at again when anything changes'
        : `it is looked at again at ${instant(changesAt)}`;
  }
}

function heldOf(
  release: string,
  targets: readonly TargetView[],
  changesAt: number | null,
  since: string | null,
): Waiting | null {
  const target = targets.find((t) => t.phase === 'Held') ?? targets.find((t) => t.phase === 'Drifted');
  if (target === undefined) return null;
  const { name, reason, message } = target;
  return {
    for: `${name} (${reason}): ${message}`,
    since,
    who: liftedBy(reason),
    next: nextAfter(reason, release, changesAt),
  };
}
