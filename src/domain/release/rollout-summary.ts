import type { RolloutState, TargetRollout } from './rollout.ts';
import type { RolloutSummary } from './state.ts';

/** How many targets a summary names; the rest is counted in its message. */
const TARGETS_NAMED = 20;

/** A finished rollout in short, the targets that did not end well first. */
export function summariseRollout(rollout: RolloutState, now: number): RolloutSummary {
  const ended = rollout.targets.filter((t) => t.outcome !== null);
  const promoted = ended.filter((t) => t.outcome?.phase === 'Current');
  const others = ended.filter((t) => t.outcome?.phase !== 'Current');
  return {
    id: rollout.id,
    startedAt: rollout.startedAt,
    endedAt: now,
    outcome: outcomeOf(rollout, promoted.length),
    message: messageOf(rollout, promoted.length),
    targets: [...others, ...promoted].slice(0, TARGETS_NAMED).map((t) => ({
      name: t.item.target,
      phase: t.outcome?.phase ?? 'Pending',
      from: t.item.from,
      to: t.item.to,
      reason: t.outcome?.reason ?? '',
    })),
  };
}

function outcomeOf(rollout: RolloutState, promoted: number): RolloutSummary['outcome'] {
  if (ends(rollout, 'Failed')) return 'Failed';
  if (rollout.abort !== null) return 'Aborted';
  if (ends(rollout, 'RolledBack')) return 'RolledBack';
  return promoted === rollout.targets.length ? 'Promoted' : 'Held';
}

function ends(rollout: RolloutState, phase: 'Failed' | 'RolledBack'): boolean {
  return rollout.targets.some((t) => t.outcome?.phase === phase);
}

function messageOf(rollout: RolloutState, promoted: number): string {
  const count = `${promoted} of ${rollout.targets.length} targets promoted`;
  const why = rollout.stopped?.message ?? firstMessage(rollout.targets);
  return why === null ? count : `${count}; ${why}`;
}

function firstMessage(targets: readonly TargetRollout[]): string | null {
  const ended = targets.find((t) => t.outcome !== null && t.outcome.phase !== 'Current');
  return ended?.outcome?.message ?? null;
}
