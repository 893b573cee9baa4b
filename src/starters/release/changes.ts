import type { ReleaseStatus } from '../../domain/release/status.ts';
import type { TargetStatus } from '../../domain/release/target-status.ts';

/**
 * What has changed between two looks at a release, a sentence each and in the order in which people read it: targets,
 * the rollout, what is waited for.
 *
 * @param before null for the first look, which tells all that is not Current
 */
export function describeChanges(before: ReleaseStatus | null, after: ReleaseStatus): readonly string[] {
  return [
    ...ofTargets(before, after),
    ...ofRollouts(before, after),
    ...ofMode(before, after),
    ...ofWaiting(before, after),
  ];
}

function ofTargets(before: ReleaseStatus | null, after: ReleaseStatus): string[] {
  const known = new Map(before?.targets.map((target) => [target.name, target]) ?? []);
  return after.targets.flatMap((target) => {
    const was = known.get(target.name);
    if (was === undefined && target.phase === 'Current') return [];
    if (was !== undefined && stateOf(was) === stateOf(target)) return [];
    const from = was === undefined || was.phase === target.phase ? '' : `, was ${was.phase}`;
    return [`${target.name}: ${stateOf(target)}${from}${target.message === '' ? '' : `: ${target.message}`}`];
  });
}

/** The words that tell one state of a target from another; messages may change with every look. */
function stateOf({ phase, step, reason }: TargetStatus): string {
  const place = step === null ? phase : `${phase}/${step}`;
  return reason === '' || reason === step ? place : `${place} (${reason})`;
}

function ofRollouts(before: ReleaseStatus | null, after: ReleaseStatus): string[] {
  if (before === null) return [];
  const known = new Set(before.lastRollouts.map((rollout) => rollout.id));
  const begun =
    after.rollout !== null && after.rollout.id !== before.rollout?.id
      ? [`rollout ${after.rollout.id} begins, plan ${after.rollout.planHash}`]
      : [];
  const stopped =
    after.rollout !== null &&
    after.rollout.stopped !== null &&
    after.rollout.stopped !== (before.rollout?.stopped ?? null)
      ? [`rollout ${after.rollout.id} stops: ${after.rollout.stopped}`]
      : [];
  const ended = after.lastRollouts
    .filter((rollout) => !known.has(rollout.id))
    .map((rollout) => `rollout ${rollout.id} ended: ${rollout.outcome}: ${rollout.message}`);
  return [...begun, ...stopped, ...ended];
}

function ofMode(before: ReleaseStatus | null, after: ReleaseStatus): string[] {
  // Before the first evaluation there is no mode that could have changed.
  if (before === null || before.targets.length === 0 || before.effectiveMode === after.effectiveMode) return [];
  return [
    `mode ${after.effectiveMode}, was ${before.effectiveMode}${after.modeReason === null ? '' : `: ${after.modeReason}`}`,
  ];
}

/** Only what a person can lift and no target has said. */
function ofWaiting(before: ReleaseStatus | null, after: ReleaseStatus): string[] {
  const { waiting } = after;
  if (waiting?.who !== 'person' || before?.waiting?.for === waiting.for) return [];
  if (after.phase === 'Degraded' || after.phase === 'Held') return [];
  return [`waits for ${waiting.for}; next: ${waiting.next}`];
}
