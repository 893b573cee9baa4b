import { imageParts } from './deployed-image.ts';
import { unknownTarget } from './initial-state.ts';
import { recordOutcome } from './record-decision.ts';
import type { RolloutState, TargetOutcome, TargetRollout } from './rollout.ts';
import { summariseRollout } from './rollout-summary.ts';
import type { Blocked, ReleaseState, TargetMemory } from './state.ts';

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

  const targets = { ...state.targets };
  for (const target of rollout.targets) {
    const { outcome } = target;
    if (outcome === null) continue;
    const name = target.item.target;
    targets[name] = absorbTarget(targets[name] ?? unknownTarget, target, outcome, state, now);
  }

  const failed = rollout.targets.filter((t) => t.failure !== null && isSettledFailure(t.outcome));
  const rolledBack = failed.filter((t) => t.outcome?.phase === 'RolledBack' && t.outcome.reason !== 'Aborted');
  const stuck = new Set(Object.values(targets).map((memory) => digestOf(memory.stuck?.image)));
  const summary = summariseRollout(rollout, now);
  return recordOutcome(
    {
      ...state,
      targets,
      blocked: failed.reduce((blocked, target) => withFailure(blocked, target, state, now), state.blocked),
      candidates: Object.fromEntries(
        Object.entries(state.candidates).map(([key, candidate]) => [
          key,
          stuck.has(candidate.digest) ? { ...candidate, tried: true } : candidate,
        ]),
      ),
      // An approval was for this plan alone.
      approval: state.approval?.approved === true ? null : state.approval,
      rollbacks: state.rollbacks + rolledBack.length,
      rollouts: [...state.rollouts, summary].slice(-ROLLOUTS_KEPT),
    },
    rollout,
    summary,
    now,
  );
}

function absorbTarget(
  memory: TargetMemory,
  target: TargetRollout,
  outcome: TargetOutcome,
  state: ReleaseState,
  now: number,
): TargetMemory {
  const written = withWritten(memory, target, outcome);
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
      return { ...written, passed: target.item.to, stuck: null, notBefore: 0 };
    case 'RolledBack':
    case 'Failed':
      return stuck(outcome.phase);
    case 'Held':
      if (outcome.reason === 'Rejected' || outcome.reason === 'Aborted') return stuck('Held');
      return nextAttempt(written, state, now);
    case 'Pending':
    case 'Drifted':
    case 'RollingOut':
    case 'Unknown':
      return nextAttempt(written, state, now);
  }
}

function nextAttempt(memory: TargetMemory, state: ReleaseState, now: number): TargetMemory {
  return { ...memory, notBefore: now + state.spec.pollInterval };
}

/** What is on the target now by our own hand, and that whoever puts another image there drifts anew. */
function withWritten(memory: TargetMemory, target: TargetRollout, outcome: TargetOutcome): TargetMemory {
  const used = { ...memory, skipPreflight: null };
  if (!target.changed && outcome.phase !== 'Current') return used;
  const { item, rollbackTo, failure } = target;
  const back = outcome.phase === 'RolledBack' || (outcome.phase === 'Failed' && failure !== null);
  const applied = back && rollbackTo !== null ? rollbackTo : { image: item.to, version: item.toLabel };
  return {
    ...used,
    applied: applied.image,
    appliedVersion: applied.version,
    drifts: memory.drifts === null ? null : { ...memory.drifts, lastImage: '' },
  };
}

function isSettledFailure(outcome: TargetOutcome | null): boolean {
  return outcome?.phase === 'RolledBack' || outcome?.phase === 'Failed';
}

/** The failed digest is blocked where the image is proven bad, and in its cooldown either way. */
function withFailure(
  blocked: readonly Blocked[],
  target: TargetRollout,
  state: ReleaseState,
  now: number,
): readonly Blocked[] {
  const { failure, item, outcome } = target;
  const image = digestOf(item.to);
  if (failure === null || image === null || outcome?.reason === 'Aborted') return blocked;
  const before = blocked.find((entry) => entry.image === image);
  const cooldownOnly = !failure.block && (before === undefined || before.cooldownOnly);
  if (cooldownOnly && state.spec.cooldown === 0) return blocked;
  const entry: Blocked = {
    image,
    by: before !== undefined && !before.cooldownOnly ? before.by : 'holdfast',
    reason: `${item.toLabel} on ${item.target}: ${failure.reason}`,
    at: now,
    cooldownUntil: state.spec.cooldown === 0 ? 0 : now + state.spec.cooldown,
    cooldownOnly,
  };
  return [...blocked.filter((e) => e.image !== image), entry];
}

function digestOf(image: string | undefined): string | null {
  return image === undefined ? null : imageParts(image).digest;
}
