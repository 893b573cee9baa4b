import type { Condition } from '../core/conditions.ts';
import { narrower, type Mode } from '../core/mode.ts';
import { rolloutView, type RolloutView } from './history.ts';
import { instant } from './hold.ts';
import type { Plan } from './plan.ts';
import { phaseNow, type ReleasePhase } from './release-phase.ts';
import type { RolloutState } from './rollout.ts';
import type { PersonMark, ReleaseState } from './state.ts';
import { targetStatuses, type TargetStatus } from './target-status.ts';
import { waitingOf, type Waiting } from './waiting.ts';

/** A release as `status -o json` prints it. Fields are only ever added. Instants are ISO strings. */
export interface ReleaseStatus {
  readonly kind: 'Release';
  readonly name: string;
  readonly mode: Mode;
  readonly effectiveMode: Mode;
  /** Why the effective mode is lower than the spec's; null where it is not. */
  readonly modeReason: string | null;
  readonly phase: ReleasePhase;
  readonly generation: number;
  readonly conditions: readonly Condition[];
  readonly targets: readonly TargetStatus[];
  /** Null where every target runs what is wanted. */
  readonly waiting: Waiting | null;
  readonly plan: Plan;
  readonly planHash: string;
  readonly pinned: (Who & { readonly image: string }) | null;
  readonly blocked: readonly BlockedStatus[];
  readonly paused: Who | null;
  /** The rollout that is under way; null where none is. */
  readonly rollout: RolloutStatus | null;
  /** The newest last. */
  readonly lastRollouts: readonly RolloutView[];
  readonly rollouts: number;
  readonly rollbacks: number;
  /** When time alone may change the answer next. */
  readonly changesAt: string | null;
  /**
   * When what was evaluated last was read; null before the first time. Registry and clusters are read at every poll, and
   * evaluated again when anything differs.
   */
  readonly evaluatedAt: string | null;
  readonly asOf: string;
}

export interface Who {
  readonly by: string;
  readonly reason: string;
  readonly at: string;
}

export interface BlockedStatus extends Who {
  readonly image: string;
  readonly cooldownUntil: string | null;
  /** Not blocked: only its cooldown holds it. */
  readonly cooldownOnly: boolean;
}

export interface RolloutStatus {
  readonly id: string;
  readonly planHash: string;
  /** Why no further target is started; null while they are. */
  readonly stopped: string | null;
}

/**
 * What people and programs are told of a release.
 *
 * @param rollout the living rollout as last reported; null where there is none
 * @param now epoch milliseconds
 */
export function releaseStatus(state: ReleaseState, rollout: RolloutState | null, now: number): ReleaseStatus {
  const { evaluation, spec } = state;
  const targets = targetStatuses(evaluation?.targets ?? [], rollout);
  const phase = phaseNow(state, rollout);
  return {
    kind: 'Release',
    name: state.name,
    mode: spec.mode,
    // What was set since the last evaluation holds at once, where it narrows.
    effectiveMode: narrower(spec.mode, evaluation?.effectiveMode ?? 'Observe'),
    modeReason: evaluation === null ? 'nothing was evaluated yet' : evaluation.modeReason,
    phase,
    generation: state.generation,
    conditions: state.conditions,
    targets,
    waiting: waitingOf(state, phase, rollout, state.waits?.since ?? null),
    plan: evaluation?.plan ?? { release: state.name, items: [], terms: '' },
    planHash: evaluation?.planHash ?? '',
    pinned: state.pin === null ? null : { image: state.pin.image, ...who(state.pin) },
    blocked: state.blocked
      .filter((entry) => !entry.cooldownOnly || entry.cooldownUntil > now)
      .map((entry) => ({
        image: entry.image,
        ...who(entry),
        cooldownUntil: entry.cooldownUntil > now ? instant(entry.cooldownUntil) : null,
        cooldownOnly: entry.cooldownOnly,
      })),
    paused: state.paused === null ? null : who(state.paused),
    rollout:
      rollout === null
        ? null
        : { id: rollout.id, planHash: rollout.planHash, stopped: rollout.stopped?.message ?? null },
    lastRollouts: state.rollouts.map(rolloutView),
    rollouts: state.rolloutCount,
    rollbacks: state.rollbacks,
    changesAt: optionalInstant(evaluation?.changesAt ?? null),
    evaluatedAt: optionalInstant(evaluation?.at ?? null),
    asOf: instant(now),
  };
}

function optionalInstant(at: number | null): string | null {
  return at === null ? null : instant(at);
}

function who(mark: PersonMark): Who {
  return { by: mark.by, reason: mark.reason, at: instant(mark.at) };
}
