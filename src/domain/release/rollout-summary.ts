import type { RolloutState } from './rollout.ts';
import type { RolloutSummary } from './state.ts';

/** How many targets a summary names; the rest is counted in its message. */
const TARGETS_NAMED = 20;

/** A finished rollout in short, the targets that did not end well first. */
export function summariseRollout(rollout: RolloutState, now: number): RolloutSummary {
  const ended = rollout.targets.flatMap(({ item, outcome }) => (outcome === null ? [] : [{ item, outcome }]));
  const promoted = ended.filter(({ outcome }) => outcome.phase === 'Current');
  const others = ended.filter(({ outcome }) => outcome.phase !== 'Current');
  return {
    id: rollout.id,
    startedAt: rollout.startedAt,
    endedAt: now,
    outcome: outcomeOf(rollout, promoted.length),
    message: messageOf(rollout, promoted.length, others[0]?.outcome.message),
    targets: [...others, ...promoted].slice(0, TARGETS_NAMED).map(({ item, outcome }) => ({
      name: item.target,
      phase: outcome.phase,
      from: item.from,
      to: item.to,
      reason: outcome.reason,
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

function messageOf(rollout: RolloutState, promoted: number, ended: string | undefined): string {
  const count = `${promoted} of ${rollout.targets.length} targets promoted`;
  const why = rollout.stopped?.message ?? ended;
  return why === undefined ? count : `${count}; ${why}`;
}
