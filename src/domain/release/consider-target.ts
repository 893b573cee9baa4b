import type { Unmeasured, UnmeasuredCause } from '../core/verdict.ts';
import { blockOfImage } from './block-list.ts';
import { command } from './commands.ts';
import { held, settled, wants, type Consideration, type PlacedTarget, type TargetCase } from './consideration.ts';
import { desiredHold } from './desired-hold.ts';
import { driftedTarget } from './drifted-target.ts';
import { blockHold, hold, workloadHold } from './hold.ts';
import { isOfOtherRelease } from './marks.ts';
import type { WorkloadSnapshot } from './observation.ts';
import type { UnreadReason } from './reasons.ts';
import { baselineOf } from './remember-target.ts';
import { desiredImage } from './settle-target.ts';
import { targetName } from './spec.ts';

/** Decides about one target. Reads nothing but its argument. */
export function considerTarget(of: TargetCase): Consideration {
  const { seen, wanted } = of;
  if (seen === undefined) return settled(of, 'Unknown', 'NotObserved', 'the target was not read');
  if (seen.workload.kind === 'unmeasured') {
    return settled(of, 'Unknown', unreadReason(seen.workload.why), seen.workload.message);
  }
  const workload = seen.workload.value;
  if ('kind' in wanted) return asLastSeen(of, wanted);
  if (workload.image === null) return noSuchContainer(of, workload);
  if (isOfOtherRelease(workload.marks, of.state.name)) return otherRelease(of, workload);

  const desired = desiredImage(wanted, of.memory, workload.image);
  const placed: PlacedTarget = { ...of, wanted, seen, workload, image: workload.image, desired };
  const baseline = baselineOf(of.memory);
  if (baseline !== null && baseline !== workload.image) return driftedTarget(placed, baseline);
  if (of.memory.stuck !== null) return stuckTarget(placed, of.memory.stuck);
  return workload.image === desired ? targetAsWanted(placed) : targetToMove(placed);
}

function unreadReason(why: UnmeasuredCause): UnreadReason {
  switch (why) {
    case 'denied':
      return 'AccessDenied';
    case 'missing':
      return 'WorkloadMissing';
    case 'unparsed':
      return 'MarksUnreadable';
    default:
      return 'WorkloadUnread';
  }
}

/**
 * The registry did not answer: the phase stays what it was, and nothing is planned. What went wrong with a target in
 * its rollout stays what people are told of it: a registry that is down as well does not make that less true.
 */
function asLastSeen(of: TargetCase, line: Unmeasured): Consideration {
  const name = targetName(of.spec);
  const before = of.state.evaluation?.targets.find((t) => t.name === name);
  const { stuck } = of.memory;
  const reason: UnreadReason =
    line.why === 'missing' || line.why === 'empty' ? 'LineUnresolved' : 'RegistryUnreachable';
  const wayOut = reason === 'LineUnresolved' ? `; ${resolvableAgain(of)}` : '';
  const last = before === undefined || before.phase === 'Unknown' ? '' : '; the phase is the last one known';
  const unread = `${line.message}${wayOut}`;
  const now =
    stuck === null
      ? settled(of, before?.phase ?? 'Unknown', reason, `${unread}${last}`)
      : settled(of, stuck.phase, stuck.reason, `${stuck.message}. Besides, ${unread}`);
  const { desired = null, desiredLabel = null } = before ?? {};
  return { ...now, view: { ...now.view, desired, desiredLabel } };
}

/** What makes a line resolve again, by who has asked for it. */
function resolvableAgain({ line, state }: TargetCase): string {
  switch (line.pinnedBy) {
    case 'person':
      return `${command('unpin', state.name)} follows the spec again, or pin an image that is there`;
    case 'spec':
    case 'target':
      return 'push it, or change the pin in the spec and apply it';
    case null:
      return 'push it, or change the track in the spec and apply it';
  }
}

function noSuchContainer(of: TargetCase, { kind, containers }: WorkloadSnapshot): Consideration {
  const there = containers.length === 0 ? 'none' : containers.join(', ');
  return held(
    of,
    hold('NoSuchContainer', `the ${kind} has no container ${of.spec.container}; its containers: ${there}`),
  );
}

function otherRelease(of: TargetCase, { marks }: WorkloadSnapshot): Consideration {
  return held(
    of,
    hold(
      'OtherRelease',
      `${marks.managedBy} manages this image; remove the target there, or holdfast release-ownership ${marks.managedBy}`,
    ),
  );
}

/** A phase that outlived its rollout; a RolledBack one ends by itself with its cooldown, where nothing is blocked. */
function stuckTarget(of: PlacedTarget, stuck: NonNullable<TargetCase['memory']['stuck']>): Consideration {
  const entry = blockOfImage(of.state, stuck.image, null, of.now);
  const until = entry?.cooldownOnly === true ? entry.cooldownUntil : null;
  return settled(of, stuck.phase, stuck.reason, stuck.message, until);
}

function targetAsWanted(of: PlacedTarget): Consideration {
  const { memory, image, wanted } = of;
  const { label } = wanted.resolved;
  const blocked = blockHold(of.state.name, wanted);
  if (blocked !== null) return held(of, { ...blocked, message: `the target runs it, and ${blocked.message}` });
  if (memory.passed === memory.applied) return settled(of, 'Current', '', `runs ${label}`);
  const against = workloadHold(of.workload) ?? of.stops.holdFor(targetName(of.spec), image);
  if (against !== null) return held(of, against);
  return wants(
    of,
    'Pending',
    { action: 'verify', to: image, toLabel: label, why: 'unproven' },
    `${label} was written here but has not passed its gate and soak yet`,
  );
}

function targetToMove(of: PlacedTarget): Consideration {
  const against = desiredHold(of);
  if (against !== null) return held(of, against);
  const { label } = of.wanted.resolved;
  const why = of.wanted.line.pin === null ? 'update' : 'pin';
  return wants(of, 'Pending', { action: 'roll', to: of.desired, toLabel: label, why }, `${label} is to be rolled`);
}
