import { canonicalJson, planHash } from '../core/plan-hash.ts';
import { placeOf } from './address.ts';
import { own, setOwn } from '../core/own.ts';
import { imageParts } from './deployed-image.ts';
import { targetName } from './spec.ts';
import { unknownTarget } from './initial-state.ts';
import type { Evaluation, TargetView } from './plan.ts';
import { planOf } from './plan-terms.ts';
import { recordOutcome } from './record-decision.ts';
import type { RolloutState, TargetOutcome, TargetRollout } from './rollout.ts';
import { summariseRollout } from './rollout-summary.ts';
import type { Blocked, ReleaseState, RolloutSummary, TargetMemory } from './state.ts';
import { targetStatuses } from './target-status.ts';

/** How many finished rollouts are kept. */
const ROLLOUTS_KEPT = 20;

/**
 * Takes a finished rollout in: what is applied and proven on each target now, what is blocked and for how long, and
 * which targets stay as they ended until a person says retry or something else is wanted. Taking it in again changes
 * nothing.
 *
 * @param now epoch milliseconds; cooldowns count from here
 */
export function absorbOutcome(state: ReleaseState, rollout: RolloutState, now: number): ReleaseState {
  if (state.rollouts.some((r) => r.id === rollout.id)) return state;

  const targets: Record<string, TargetMemory> = { ...state.targets };
  const places = new Map(state.spec.targets.map((t) => [targetName(t), placeOf(t, state.spec)]));
  const then = new Map(rollout.spec.targets.map((t) => [targetName(t), placeOf(t, rollout.spec)]));
  for (const target of rollout.targets) {
    const { outcome } = target;
    if (outcome === null) continue;
    const name = target.item.target;
    // The name stands for another workload by now, or for none.
    if (places.get(name) !== then.get(name)) continue;
    const memory = own(targets, name) ?? unknownTarget;
    setOwn(targets, name, absorbTarget(memory, target, outcome, { state, rollout, now }));
  }

  const failed = rollout.targets.filter(isMeasuredFailure);
  const stuck = new Set(Object.values(targets).map((memory) => digestOf(memory.stuck?.image)));
  const summary = summariseRollout(rollout, now);
  const again = sameAgain(state.rollouts.at(-1), summary, rollout);
  const rollouts = again === null ? [...state.rollouts, summary] : [...state.rollouts.slice(0, -1), again];
  return recordOutcome(
    {
      ...state,
      targets,
      evaluation: asLeft(state.evaluation, rollout, targets),
      blocked: failed.reduce((blocked, target) => withFailure(blocked, target, state, now), state.blocked),
      candidates: Object.fromEntries(
        Object.entries(state.candidates).map(([key, candidate]) => [
          key,
          stuck.has(candidate.digest) ? { ...candidate, tried: true } : candidate,
        ]),
      ),
      approval: afterwards(state.approval, rollout),
      approvedSteps: stepsAfterwards(rollout),
      rollbacks: state.rollbacks + failed.filter((t) => t.outcome?.phase === 'RolledBack').length,
      // An adopted rollout of a run before this one has a number of its own, which is not given again.
      rolloutCount: Math.max(state.rolloutCount, numberOf(rollout.id)),
      rollouts: rollouts.slice(-ROLLOUTS_KEPT),
    },
    rollout,
    again ?? summary,
    now,
  );
}

/**
 * The entry for a rollout that came to just what the one before it came to, without a write: a target that cannot begin
 * is tried at every poll, and must not push out of the history what was really done. Null for any other.
 */
function sameAgain(
  before: RolloutSummary | undefined,
  summary: RolloutSummary,
  rollout: RolloutState,
): RolloutSummary | null {
  if (before?.outcome !== 'Held' || rollout.targets.some((t) => t.changed)) return null;
  if (before.targets.some((t) => t.phase === 'Current')) return null;
  const common = (of: RolloutSummary): string => canonicalJson({ ...of, ...nothingOfOne });
  if (common(before) !== common(summary)) return null;
  return { ...summary, startedAt: before.startedAt, attempts: (before.attempts ?? 1) + 1 };
}

/** What tells two rollouts apart that came to the same. */
const nothingOfOne = { id: '', startedAt: 0, endedAt: 0, attempts: 1 };

/**
 * The last evaluation as the rollout left the targets: what is shown until the world is read again, and after that for
 * as long as the registry does not answer. What was planned is done or over, and what comes next is not known yet.
 */
function asLeft(
  evaluation: Evaluation | null,
  rollout: RolloutState,
  memories: Readonly<Record<string, TargetMemory>>,
): Evaluation | null {
  if (evaluation === null) return null;
  const shown = new Map(targetStatuses(evaluation.targets, rollout).map((status) => [status.name, status]));
  const targets = evaluation.targets.map((view): TargetView => {
    const { phase, step, reason, message, current, rollbackTo } = shown.get(view.name) ?? view;
    const applied = own(memories, view.name)?.applied ?? view.applied;
    return { ...view, phase, step, reason, message, current, rollbackTo, applied };
  });
  const plan = planOf(rollout.release, rollout.spec, []);
  return { ...evaluation, targets, plan, planHash: planHash(plan) };
}

function absorbTarget(
  memory: TargetMemory,
  target: TargetRollout,
  outcome: TargetOutcome,
  { state, rollout, now }: { readonly state: ReleaseState; readonly rollout: RolloutState; readonly now: number },
): TargetMemory {
  const written = withWritten(memory, target, outcome, rollout.startedAt);
  const wanted = state.evaluation?.targets.find((t) => t.name === target.item.target)?.desired ?? target.item.to;
  const stuck = (phase: 'RolledBack' | 'Failed' | 'Held'): TargetMemory => ({
    ...written,
    stuck: {
      phase,
      reason: outcome.reason,
      message: outcome.message,
      image: target.item.to,
      wanted,
      rollbackTo: target.rollbackTo?.image ?? null,
      at: now,
    },
  });
  switch (outcome.phase) {
    case 'Current':
      return { ...written, passed: target.item.to, stuck: null, notBefore: 0, notBegun: null };
    case 'RolledBack':
    case 'Failed':
      return stuck(outcome.phase);
    case 'Held':
      if (outcome.reason === 'Rejected' || outcome.reason === 'Aborted') return stuck('Held');
      return nextAttempt(written, outcome, state, now);
    case 'Drifted':
    case 'Unknown':
      return nextAttempt(written, outcome, state, now);
    case 'Pending':
    case 'RollingOut':
      // It was not begun, so nothing was learnt about it.
      return memory;
  }
}

function nextAttempt(
  memory: TargetMemory,
  { reason, message }: TargetOutcome,
  state: ReleaseState,
  now: number,
): TargetMemory {
  return { ...memory, notBefore: now + state.spec.pollInterval, notBegun: { reason, message } };
}

/** What is on the target now by our own hand, and that whoever puts another image there drifts anew. */
function withWritten(
  memory: TargetMemory,
  target: TargetRollout,
  outcome: TargetOutcome,
  startedAt: number,
): TargetMemory {
  // What a person said after the rollout had begun is for the next one.
  const { skipPreflight } = memory;
  const used = skipPreflight !== null && skipPreflight.at > startedAt ? memory : { ...memory, skipPreflight: null };
  if (!target.changed && outcome.phase !== 'Current') return used;
  const { item, rollbackTo, wentBack } = target;
  const applied = wentBack && rollbackTo !== null ? rollbackTo : { image: item.to, version: item.toLabel };
  return {
    ...used,
    applied: applied.image,
    appliedVersion: applied.version,
    drifts: memory.drifts === null ? null : { ...memory.drifts, lastImage: '' },
  };
}

/** Not what a person aborted, nor what went back because another target failed. */
function isMeasuredFailure({ failure, outcome }: TargetRollout): boolean {
  if (failure === null || failure.reason === 'Aborted' || failure.reason === 'Undone') return false;
  return outcome?.phase === 'RolledBack' || outcome?.phase === 'Failed';
}

/** An approval was for this plan alone; it stands where nothing of the plan was done. */
function afterwards(approval: ReleaseState['approval'], rollout: RolloutState): ReleaseState['approval'] {
  if (approval === null || !approval.approved) return approval;
  return rollout.targets.some((t) => t.changed) ? null : approval;
}

/** Likewise for steps. What somebody rejected ends with its rollout. */
function stepsAfterwards({
  planHash: hash,
  targets,
  decisions,
}: RolloutState): NonNullable<ReleaseState['approvedSteps']> | null {
  const approved = decisions.filter((decision) => decision.approved);
  return approved.length === 0 || targets.some((t) => t.changed) ? null : { planHash: hash, decisions: approved };
}

/** The failed digest is blocked where the image is proven bad, and in its cooldown either way. */
function withFailure(
  blocked: readonly Blocked[],
  target: TargetRollout,
  state: ReleaseState,
  now: number,
): readonly Blocked[] {
  const { failure, item } = target;
  const image = digestOf(item.to);
  if (failure === null || image === null) return blocked;
  const before = blocked.find((entry) => entry.image === image && !entry.cooldownOnly);
  const entry: Blocked = {
    image,
    by: before?.by ?? 'holdfast',
    reason: `${item.toLabel} on ${item.target}: ${failure.reason}`,
    at: now,
    // Never at once: an image that is rolled back and not blocked would go round without end.
    cooldownUntil: now + Math.max(state.spec.cooldown, state.spec.pollInterval),
    cooldownOnly: !failure.block && before === undefined,
  };
  return [...blocked.filter((e) => e.image !== image), entry];
}

/** The number at the end of a rollout's id, such as 7 of `hive-7`; 0 where it has none. */
function numberOf(id: string): number {
  return Number(/-(\d+)$/.exec(id)?.[1] ?? 0);
}

function digestOf(image: string | undefined): string | null {
  return image === undefined ? null : imageParts(image).digest;
}
