import type { RolloutState, TargetOutcome, TargetRollout } from '../../../src/domain/release/rollout.ts';
import { digest, image, NOW, spec } from './world.ts';

/** Rollouts as values, for tests of what a release makes of them. */

export const FROM = image('v6-latest', 'a0');
export const TO = image('v6-latest', 'b1');
export const TO_DIGEST = digest('b1');

export function rolling(name: string, overrides: Partial<TargetRollout> = {}): TargetRollout {
  return {
    item: { target: name, action: 'roll', from: FROM, to: TO, toLabel: 'v6-b1', why: 'update' },
    step: 'Waiting',
    since: NOW,
    skipPreflight: false,
    changed: false,
    wentBack: false,
    remembered: { applied: FROM, version: 'v6-a0', passed: FROM },
    before: null,
    rollbackTo: null,
    placements: null,
    restarts: null,
    failure: null,
    moved: [],
    stuck: null,
    deletedPods: [],
    outcome: null,
    ...overrides,
  };
}

export function done(name: string, outcome: TargetOutcome, overrides: Partial<TargetRollout> = {}): TargetRollout {
  return rolling(name, { step: 'Done', outcome, ...overrides });
}

export function promoted(name: string, overrides: Partial<TargetRollout> = {}): TargetRollout {
  return done(
    name,
    { phase: 'Current', reason: '', message: 'passed' },
    { changed: true, rollbackTo: { image: FROM, version: 'v6-a0' }, ...overrides },
  );
}

/** A target that went back after a measured failure of its image. */
export function wentBack(name: string, overrides: Partial<TargetRollout> = {}): TargetRollout {
  return done(
    name,
    { phase: 'RolledBack', reason: 'CrashLoopBackOff', message: 'rolled back: crash loop' },
    {
      changed: true,
      wentBack: true,
      rollbackTo: { image: FROM, version: 'v6-a0' },
      failure: { reason: 'CrashLoopBackOff', message: 'crash loop', block: true },
      ...overrides,
    },
  );
}

export function rollout(targets: readonly TargetRollout[], overrides: Partial<RolloutState> = {}): RolloutState {
  return {
    release: 'hive',
    id: 'hive-1',
    planHash: `sha256:${'ab'.repeat(32)}`,
    startedAt: NOW,
    spec: spec(),
    freezes: [],
    mode: 'Enforce',
    paused: false,
    abort: null,
    stopped: null,
    blocked: [],
    decisions: [],
    targets,
    waves: targets.map((t) => [t.item.target]),
    canaryBefore: false,
    ...overrides,
  };
}
