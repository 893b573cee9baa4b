import { fail, pass, type Verdict } from '../../../src/domain/core/verdict.ts';
import { applyResult } from '../../../src/domain/release/apply-result.ts';
import { noMarks } from '../../../src/domain/release/marks.ts';
import { nextCommand } from '../../../src/domain/release/next-command.ts';
import type { Marks, Placement } from '../../../src/domain/release/observation.ts';
import type { PlanItem } from '../../../src/domain/release/plan.ts';
import { startRollout } from '../../../src/domain/release/rollout-start.ts';
import type {
  Command,
  PreflightFound,
  Result,
  RolloutState,
  TargetRollout,
  WriteResult,
} from '../../../src/domain/release/rollout.ts';
import type { ReleaseSpecInput } from '../../../src/domain/release/spec.ts';
import type { ReleaseState } from '../../../src/domain/release/state.ts';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { fleet, image, managed, marks, NOW, observe, resolved, spec, start, unread } from './world.ts';

/** Takes rollouts step by step, by the commands that they ask for, for tests of what they decide. */

export const FROM = image('v6-latest', 'a0');
export const TO = image('v6-latest', 'b1');
export const scout: Placement = { name: 'scout', backend: 'claude', model: 'opus', effort: 'high', paused: false };

export const written: WriteResult = { kind: 'written', repeated: false };
export const unknownWrite: WriteResult = { kind: 'unknown', message: 'the API server did not answer' };
export const crash = fail('CrashLoopBackOff', 'container app crashes');
export const unmeasuredGate = unread('denied', 'health');

/** Marks as a release leaves them on a target that it has rolled before. */
export const ownMarks: Marks = marks({
  managedBy: 'release/hive',
  applied: FROM,
  version: 'v6-a0',
  passed: FROM,
  previousImage: image('v6-latest', '99'),
  previousVersion: 'v6-99',
  upgradedAt: '2026-01-01T00:00:00.000Z',
});

export function item(target = 'web-1', overrides: Partial<PlanItem> = {}): PlanItem {
  return { target, action: 'roll', from: FROM, to: TO, toLabel: 'v6-b1', why: 'update', ...overrides };
}

/** A rollout of three targets in Enforce, or of others. */
export function begin(
  overrides: Partial<ReleaseSpecInput> = {},
  items: readonly PlanItem[] = [item('web-1'), item('web-2'), item('web-3')],
  knows: Partial<ReleaseState> = {},
): RolloutState {
  const of = spec(overrides);
  const evaluated = evaluate(start(of), observe(of, resolved('b1'), fleet(managed(FROM))), NOW).state;
  return startRollout({
    release: 'hive',
    id: 'hive-1',
    planHash: 'sha256:abababab',
    spec: of,
    items,
    state: { ...evaluated, ...knows },
    now: NOW,
  });
}

export const found: PreflightFound = { runningImage: FROM, placements: null, marks: ownMarks };

export const preflight = (overrides: Partial<PreflightFound> = {}, verdict: Verdict = pass()): Result => ({
  of: 'preflight',
  verdict,
  found: { ...found, ...overrides },
});
export const write = (
  of: 'patch' | 'rollBack' | 'markPassed' | 'deletePod',
  result: WriteResult = written,
): Result => ({
  of,
  write: result,
});
export const gate = (verdict: Verdict = pass(), moved: readonly Placement[] = [], block = true): Result => ({
  of: 'watchRollout',
  verdict,
  restarts: { 'uid/app': 1 },
  moved,
  block,
});
export const soak = (verdict: Verdict = pass(), block = true): Result => ({
  of: 'watchSoak',
  verdict,
  samples: 3,
  block,
});
export const restore = (verdict: Verdict = pass()): Result => ({
  of: 'restorePlacements',
  verdict,
  restored: ['scout'],
});
export const recovery = (verdict: Verdict = pass(), moved: readonly Placement[] = []): Result => ({
  of: 'watchRecovery',
  verdict,
  moved,
});
export const settle: Result = { of: 'settle' };

/** The results of one target's good rollout, in order. */
export const good: readonly Result[] = [preflight(), write('patch'), gate(), soak(), write('markPassed')];

/** Takes results in, in order, a second after each other. */
export function take(state: RolloutState, target: string, ...results: readonly Result[]): RolloutState {
  return results.reduce((after, result, index) => applyResult(after, target, result, NOW + (index + 1) * 1_000), state);
}

export function of(state: RolloutState, name = 'web-1'): TargetRollout {
  const target = state.targets.find((t) => t.item.target === name);
  if (!target) throw new Error(`no target ${name}`);
  return target;
}

export function next(state: RolloutState, name = 'web-1'): Command {
  return nextCommand(state, name, NOW);
}

/** What is to be done for every target: `web-1 preflight, web-2 wait wave`. */
export function todo(state: RolloutState): string {
  return state.targets
    .map((t) => {
      const command = next(state, t.item.target);
      return `${t.item.target} ${command.do}${command.do === 'wait' ? ` ${command.for}` : ''}`;
    })
    .join(', ');
}

/** How every target has ended: `web-1 Current, web-2 Pending StoppedByFailure`. */
export function outcomes(state: RolloutState): string {
  return state.targets
    .map((t) => [t.item.target, t.outcome?.phase ?? t.step, t.outcome?.reason ?? ''].join(' ').trim())
    .join(', ');
}

export { noMarks, NOW };
