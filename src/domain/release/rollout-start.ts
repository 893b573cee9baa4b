import { own } from '../core/own.ts';
import { advance } from './advance-rollout.ts';
import { sameContent } from './deployed-image.ts';
import type { PlanItem } from './plan.ts';
import type { RolloutState, TargetRollout } from './rollout.ts';
import type { ReleaseSpec } from './spec.ts';
import type { ReleaseState, TargetMemory } from './state.ts';

export interface StartRollout {
  /** Without `release/`. */
  readonly release: string;
  readonly id: string;
  readonly planHash: string;
  /** The rollout keeps this spec to its end, whatever is applied meanwhile. */
  readonly spec: ReleaseSpec;
  /** Of the plan, unchanged. */
  readonly items: readonly PlanItem[];
  /** What the release knows that a rollout must: blocks, memories of targets, whether it is paused, the mode in force. */
  readonly state: Pick<ReleaseState, 'blocked' | 'targets' | 'paused' | 'evaluation' | 'freezes' | 'approvedSteps'>;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A plan as a rollout that has just begun: the canary is at its first step, the rest waits for its wave. */
export function startRollout(start: StartRollout): RolloutState {
  const { release, id, planHash, spec, items, state, now } = start;
  const begun: RolloutState = {
    release,
    id,
    planHash,
    startedAt: now,
    spec,
    freezes: state.freezes,
    // Without an evaluation nothing says that Enforce is in force.
    mode: state.evaluation?.effectiveMode ?? 'Shadow',
    paused: state.paused !== null,
    abort: null,
    stopped: null,
    blocked: state.blocked,
    decisions: state.approvedSteps?.planHash === planHash ? state.approvedSteps.decisions : [],
    targets: items.map((item) => waitingTarget(item, own(state.targets, item.target), now)),
    waves: wavesOf(
      items.map((item) => item.target),
      spec.waves,
    ),
    canaryBefore: provedBefore(items, state.targets),
  };
  return advance(begun, now);
}

/** True where a target that is not in the plan has passed an image that the plan rolls. */
function provedBefore(items: readonly PlanItem[], memories: Readonly<Record<string, TargetMemory>>): boolean {
  const planned = new Set(items.map((item) => item.target));
  const passed = Object.entries(memories).flatMap(([name, memory]) =>
    planned.has(name) || memory.passed === null ? [] : memory.passed,
  );
  return items.some(
    (item) => isUpdate(item, own(memories, item.target)) && passed.some((p) => sameContent(p, item.to)),
  );
}

/** A target that goes back to what was applied there is none that a person was to be asked about. */
function isUpdate(item: PlanItem, memory: TargetMemory | undefined): boolean {
  return item.action === 'roll' && !sameContent(item.to, memory?.applied ?? '');
}

function waitingTarget(item: PlanItem, memory: TargetMemory | undefined, now: number): TargetRollout {
  return {
    item,
    step: 'Waiting',
    since: now,
    skipPreflight: item.action === 'verify' || (memory?.skipPreflight ?? null) !== null,
    changed: false,
    wentBack: false,
    remembered: {
      applied: memory?.applied ?? null,
      version: memory?.appliedVersion ?? null,
      passed: memory?.passed ?? null,
    },
    before: null,
    rollbackTo: null,
    placements: null,
    restarts: null,
    failure: null,
    moved: [],
    stuck: null,
    deletedPods: [],
    outcome: null,
  };
}

/**
 * The canary alone, then batches of the given sizes; the last size repeats. A percentage is one of all targets of this
 * rollout, rounded down, and at least one target.
 *
 * @param sizes numbers of targets or percentages such as `25%` [one target at a time]
 */
export function wavesOf(targets: readonly string[], sizes: ReleaseSpec['waves']): string[][] {
  const [canary, ...rest] = targets;
  if (canary === undefined) return [];
  const waves = [[canary]];
  for (let start = 0, wave = 0; start < rest.length; wave += 1) {
    const size = sizeOf(sizes?.[Math.min(wave, sizes.length - 1)] ?? 1, targets.length);
    waves.push(rest.slice(start, start + size));
    start += size;
  }
  return waves;
}

function sizeOf(size: number | string, targets: number): number {
  if (typeof size === 'number') return size;
  return Math.max(1, Math.floor((targets * Number.parseInt(size, 10)) / 100));
}
