import { describe, expect, test } from 'vitest';
import { fail, pass, unmeasured } from '../../../src/domain/core/verdict.ts';
import { absorbOutcome } from '../../../src/domain/release/absorb-outcome.ts';
import { parseAction, type ReleaseAction } from '../../../src/domain/release/actions.ts';
import { applyAction } from '../../../src/domain/release/apply-action.ts';
import { applyResult } from '../../../src/domain/release/apply-result.ts';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { applyMarksPatch } from '../../../src/domain/release/marks.ts';
import { marksOwed } from '../../../src/domain/release/marks-owed.ts';
import { mayStart } from '../../../src/domain/release/may-start.ts';
import { nextCommand } from '../../../src/domain/release/next-command.ts';
import type { ResolvedLine, WorkloadSnapshot } from '../../../src/domain/release/observation.ts';
import { isFinished } from '../../../src/domain/release/rollout-control.ts';
import { startRollout } from '../../../src/domain/release/rollout-start.ts';
import type { Command, Result, RolloutState } from '../../../src/domain/release/rollout.ts';
import { releaseStatus } from '../../../src/domain/release/status.ts';
import type { ReleaseState } from '../../../src/domain/release/state.ts';
import { digest, HOUR, image, MINUTE, NOW, observe, resolved, spec, start, workload, writer } from './world.ts';

/** Evaluations, rollouts and outcomes together, over a fleet that is a plain value. */
class Story {
  state: ReleaseState;
  now = NOW;
  line: ResolvedLine = resolved('a0');
  /** Images that crash once they run. */
  readonly bad = new Set<string>();
  /** Images whose health cannot be asked. */
  readonly silent = new Set<string>();
  readonly writes: string[] = [];
  fleet: Record<string, WorkloadSnapshot>;

  constructor(overrides: Parameters<typeof spec>[0] = {}) {
    this.state = start(spec(overrides));
    const first = workload(image('v6-latest', 'a0'), { imageWriter: writer('kubectl-create') });
    this.fleet = { 'web-1': first, 'web-2': first, 'web-3': first };
  }

  /** One look, and the rollout that comes of it, to its end. */
  look(): RolloutState | null {
    const observation = observe(this.state.spec, this.line, this.fleet, { pin: this.state.pin?.image ?? null });
    this.state = evaluate(this.state, observation, this.now).state;
    for (const { target, marks } of marksOwed(this.state, observation)) {
      const found = this.workload(target.name);
      this.fleet[target.name] = { ...found, marks: applyMarksPatch(found.marks, marks) };
    }
    if (!mayStart(this.state) || this.state.evaluation === null) return null;
    const { plan, planHash } = this.state.evaluation;
    let rollout = startRollout({
      release: 'hive',
      id: `hive-${this.state.rolloutCount + 1}`,
      planHash,
      spec: this.state.spec,
      items: plan.items,
      state: this.state,
      now: this.now,
    });
    this.state = { ...this.state, rolloutCount: this.state.rolloutCount + 1 };
    for (let round = 0; round < 200 && !isFinished(rollout); round += 1) {
      for (const { item } of rollout.targets) {
        const command = nextCommand(rollout, item.target, this.now);
        const result = this.execute(item.target, command);
        this.now += 1_000;
        if (result !== null) rollout = applyResult(rollout, item.target, result, this.now);
      }
    }
    this.state = absorbOutcome(this.state, rollout, this.now);
    return rollout;
  }

  /** The release's run is terminated, and a new one knows nothing but the objects. */
  terminate(): void {
    this.state = start(this.state.spec);
  }

  act(action: ReleaseAction['action'], payload: Record<string, unknown> = {}): string {
    const parsed = parseAction(action, { by: 'ana', ...payload });
    if (!parsed.ok) throw new Error(parsed.message);
    const answer = applyAction(this.state, parsed.action, this.now, null);
    if (!answer.ok) return answer.message;
    this.state = answer.state;
    return answer.record;
  }

  swap(name: string, to: string, by = 'kubectl-set'): void {
    this.fleet[name] = { ...this.workload(name), image: to, imageWriter: writer(by) };
  }

  phases(): string[] {
    return releaseStatus(this.state, null, this.now).targets.map((t) =>
      t.reason === '' ? t.phase : `${t.phase} ${t.reason}`,
    );
  }

  images(): (string | null)[] {
    return Object.values(this.fleet).map((w) => w.image);
  }

  private workload(name: string): WorkloadSnapshot {
    const found = this.fleet[name];
    if (found === undefined) throw new Error(`no workload ${name}`);
    return found;
  }

  private execute(name: string, command: Command): Result | null {
    const found = this.workload(name);
    switch (command.do) {
      case 'preflight':
        return {
          of: 'preflight',
          verdict: pass(),
          found: { runningImage: found.image ?? '', placements: null, marks: found.marks },
        };
      case 'patch':
      case 'rollBack': {
        this.writes.push(`${name} ${command.to}`);
        const marks = applyMarksPatch(found.marks, command.marks);
        this.fleet[name] = { ...found, image: command.to, marks, imageWriter: writer('holdfast') };
        return { of: command.do, write: { kind: 'written', repeated: false } };
      }
      case 'markPassed':
        this.fleet[name] = { ...found, marks: applyMarksPatch(found.marks, command.marks) };
        return { of: 'markPassed', write: { kind: 'written', repeated: false } };
      case 'watchRollout': {
        const verdict = this.bad.has(command.image)
          ? fail('CrashLoopBackOff', 'app crashes')
          : this.silent.has(command.image)
            ? unmeasured('GET /api/health', 'API server pod proxy', 'denied', 'exec is denied')
            : pass();
        return { of: 'watchRollout', verdict, restarts: {}, moved: [], block: true };
      }
      case 'watchSoak':
        return { of: 'watchSoak', verdict: pass(), samples: 1, block: true };
      case 'watchRecovery':
        return { of: 'watchRecovery', verdict: pass(), moved: [] };
      case 'settle':
        return { of: 'settle' };
      case 'restorePlacements':
        return { of: 'restorePlacements', verdict: pass(), restored: [] };
      case 'deletePod':
      case 'wait':
      case 'done':
        return null;
    }
  }
}

const A = image('v6-latest', 'a0');
const B = image('v6-latest', 'b1');
const C = image('v6-latest', 'c2');

function all(one: string): string[] {
  return [one, one, one];
}

describe('a release over time', () => {
  test('adopts a fleet without a write, rolls a good image everywhere, and is quiet again', () => {
    const story = new Story();
    expect(story.look()).toBeNull();
    expect(story.phases()).toEqual(all('Current'));
    story.line = resolved('b1');
    expect(story.look()?.targets.map((t) => t.outcome?.phase)).toEqual(all('Current'));
    expect(story.images()).toEqual(all(B));
    expect(story.look()).toBeNull();
    expect(story.phases()).toEqual(all('Current'));
    expect(story.writes).toEqual([`web-1 ${B}`, `web-2 ${B}`, `web-3 ${B}`]);
  });

  test('rolls a bad image back on the canary, touches nothing else, and never tries that digest again', () => {
    const story = new Story();
    story.look();
    story.line = resolved('b1');
    story.bad.add(B);
    story.look();
    expect(story.images()).toEqual(all(A));
    expect(story.writes).toEqual([`web-1 ${B}`, `web-1 ${A}`]);
    expect(story.look()).toBeNull();
    expect(story.phases()).toEqual(['RolledBack CrashLoopBackOff', 'Held Blocked', 'Held Blocked']);
    expect(story.state).toMatchObject({ rollbacks: 1 });
    story.now += 1_000 * HOUR;
    expect(story.look()).toBeNull();
    // Upstream moves on, and so does the fleet.
    story.line = resolved('c2');
    story.look();
    expect(story.images()).toEqual(all(C));
    story.look();
    expect(story.phases()).toEqual(all('Current'));
  });

  test('knows after a terminate what it was told by the objects: same phases, digest still blocked', () => {
    const story = new Story();
    story.look();
    story.line = resolved('b1');
    story.bad.add(B);
    story.look();
    story.look();
    const before = story.phases();
    story.terminate();
    expect(story.look()).toBeNull();
    expect(story.phases().map((p) => p.split(' ')[0])).toEqual(before.map((p) => p.split(' ')[0]));
    expect(story.images()).toEqual(all(A));
    expect(story.state.blocked).toMatchObject([{ image: digest('b1'), cooldownOnly: false }]);
  });

  test('a digest that a person blocked stays blocked after a terminate, and unblocked once it was unblocked', () => {
    const story = new Story();
    story.look();
    story.act('block', { image: digest('b1'), reason: 'leaks' });
    story.look();
    story.terminate();
    story.line = resolved('b1');
    expect(story.look()).toBeNull();
    expect(story.phases()).toEqual(all('Held Blocked'));
    story.now += 1_000;
    story.act('unblock', { image: digest('b1') });
    story.look();
    story.terminate();
    story.look();
    expect(story.images()).toEqual(all(B));
    expect(story.state.blocked).toEqual([]);
  });

  test('brings back what somebody swapped, and leaves it to a writer that insists', () => {
    const story = new Story();
    story.look();
    story.line = resolved('b1');
    story.look();
    const swapped = image('v5-latest', '55');
    for (let n = 1; n <= 2; n += 1) {
      story.swap('web-2', swapped, 'argocd');
      expect(story.look()?.targets.map((t) => t.item.why)).toEqual(['drift']);
      expect(story.images()).toEqual(all(B));
    }
    story.swap('web-2', swapped, 'argocd');
    expect(story.look()).toBeNull();
    expect(story.phases()).toEqual(['Current', 'Held SecondWriter', 'Current']);
    story.act('retry', { target: 'web-2' });
    story.look();
    expect(story.images()).toEqual(all(B));
  });

  test('proves an image that somebody else put there before its turn, and can go back from it', () => {
    const story = new Story();
    story.look();
    story.line = resolved('b1');
    story.look();
    story.line = resolved('c2');
    story.swap('web-1', C);
    story.bad.add(C);
    const rolled = story.look();
    expect(rolled?.targets[0]).toMatchObject({
      item: { action: 'verify', why: 'drift' },
      outcome: { phase: 'RolledBack' },
    });
    expect(story.images()).toEqual(all(B));
    expect(story.look()).toBeNull();
    expect(story.phases()).toEqual(['RolledBack CrashLoopBackOff', 'Held Blocked', 'Held Blocked']);
  });

  test('leaves what could not be measured, starts nothing after it, and goes on when a person says so', () => {
    const story = new Story();
    story.look();
    story.line = resolved('b1');
    story.silent.add(B);
    story.look();
    expect(story.images()).toEqual([B, A, A]);
    expect(story.look()).toBeNull();
    expect(story.phases()).toEqual(['Failed Unmeasured', 'Held StoppedByFailure', 'Held StoppedByFailure']);
    expect(story.state.blocked).toEqual([]);
    story.silent.clear();
    story.act('retry');
    // The canary has the image already: it is proven there, and then the rest follows.
    expect(story.look()?.targets.map((t) => t.item.action)).toEqual(['verify', 'roll', 'roll']);
    expect(story.images()).toEqual(all(B));
    expect(story.writes).toEqual([`web-1 ${B}`, `web-2 ${B}`, `web-3 ${B}`]);
    story.look();
    expect(story.phases()).toEqual(all('Current'));
  });

  test('rolls a whole fleet back on purpose by a pin, through the same canary, and on again by unpin', () => {
    const story = new Story();
    story.look();
    story.line = resolved('b1');
    story.look();
    story.act('pin', { image: `v6-latest@${digest('a0')}` });
    story.line = resolved('a0');
    expect(story.look()?.targets.map((t) => t.item.why)).toEqual(all('pin'));
    expect(story.images()).toEqual(all(A));
    story.look();
    expect(story.phases()).toEqual(all('Current'));
    story.act('unpin');
    story.line = resolved('b1');
    story.look();
    expect(story.images()).toEqual(all(B));
  });

  test('waits for the approval of its very plan before the first target', () => {
    const story = new Story({ approval: 'beforeFirst' });
    story.look();
    story.line = resolved('b1');
    expect(story.look()).toBeNull();
    const plan = story.state.evaluation?.planHash ?? '';
    story.line = resolved('c2');
    story.look();
    expect(story.act('approve', { plan })).toContain('is not the one that waits');
    story.act('approve', { plan: story.state.evaluation?.planHash });
    story.look();
    expect(story.images()).toEqual(all(C));
    expect(story.state.approval).toBeNull();
  });

  test('tries a target that could not begin again after one poll interval, not before', () => {
    const story = new Story();
    story.look();
    story.line = resolved('b1');
    story.look();
    const memory = story.state.targets['web-1'];
    if (memory === undefined) throw new Error('no memory');
    const notBegun = { reason: 'PreflightFailed', message: 'sick' };
    story.line = resolved('c2');
    story.state = {
      ...story.state,
      targets: { ...story.state.targets, 'web-1': { ...memory, notBefore: story.now + MINUTE, notBegun } },
    };
    expect(story.look()).toBeNull();
    expect(story.phases()).toEqual(all('Held PreflightFailed'));
    story.now += MINUTE;
    story.look();
    expect(story.images()).toEqual(all(C));
  });
});
