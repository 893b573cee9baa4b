import { applyAction } from '../../../src/domain/release/apply-action.ts';
import { parseAction, type ReleaseAction } from '../../../src/domain/release/actions.ts';
import { absorbOutcome } from '../../../src/domain/release/absorb-outcome.ts';
import { applyControl, controlsOf } from '../../../src/domain/release/controls.ts';
import { applyResult } from '../../../src/domain/release/apply-result.ts';
import { imageParts } from '../../../src/domain/release/deployed-image.ts';
import { evaluate } from '../../../src/domain/release/evaluate.ts';
import { initialState } from '../../../src/domain/release/initial-state.ts';
import { lineFor } from '../../../src/domain/release/line.ts';
import { marksOwed } from '../../../src/domain/release/marks-owed.ts';
import { mayStart } from '../../../src/domain/release/may-start.ts';
import { nextCommand } from '../../../src/domain/release/next-command.ts';
import { isFinished } from '../../../src/domain/release/rollout-control.ts';
import { startRollout } from '../../../src/domain/release/rollout-start.ts';
import type { Command, Result, RolloutState } from '../../../src/domain/release/rollout.ts';
import { targetName, type ReleaseSpec } from '../../../src/domain/release/spec.ts';
import type { ReleaseState } from '../../../src/domain/release/state.ts';
import {
  catalogue,
  isWatch,
  isWrite,
  knownOf,
  labelOf,
  majorOf,
  newFleet,
  observeFleet,
  perform,
  referenceOf,
  writeMarks,
  type Fleet,
} from './simulated-fleet.ts';
import { NOW } from './world.ts';

/** The decisions under test. A mutant replaces one of them. */
export interface Decisions {
  readonly evaluate: typeof evaluate;
  readonly startRollout: typeof startRollout;
  readonly nextCommand: typeof nextCommand;
  readonly applyResult: typeof applyResult;
}

export const shipped: Decisions = { evaluate, startRollout, nextCommand, applyResult };

/** The promises, by the letters under which users know them. */
export type Guarantee = 'a' | 'b' | 'c' | 'd' | 'e' | 'f';

/** A promise that was broken. */
export class Broken extends Error {
  readonly promise: Guarantee;
  constructor(promise: Guarantee, message: string) {
    super(`(${promise}) ${message}`);
    this.promise = promise;
  }
}

/** One thing that happens. */
export type Happening =
  /** A target's command goes on by one of its three parts: it is issued, takes effect, is answered. */
  | { readonly kind: 'step'; readonly target: number }
  /** Everything goes on for so many rounds. */
  | { readonly kind: 'run'; readonly rounds: number }
  /** The release looks at the world, decides and starts a rollout. */
  | { readonly kind: 'look' }
  /** The worker died after the effect and before the answer: the activity runs again. */
  | { readonly kind: 'repeat'; readonly target: number }
  /** Whether a write took effect stays unknown; it may have. */
  | { readonly kind: 'lose'; readonly target: number; readonly landed: boolean }
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'publish'; readonly image: number }
  /** Somebody writes an image, out of band. */
  | { readonly kind: 'edit'; readonly target: number; readonly image: number }
  | {
      readonly kind: 'fault';
      readonly of: 'registry' | 'target' | 'workload-paused' | 'placements';
      readonly target: number;
      readonly on: boolean;
    }
  | { readonly kind: 'incumbent'; readonly state: Fleet['incumbent'] }
  | { readonly kind: 'person'; readonly action: PersonAction }
  /** The workflows are terminated and made anew from what is outside: the release alone, or its rollout too. */
  | { readonly kind: 'terminate'; readonly rollout: boolean; readonly landed: boolean };

export type PersonAction =
  | { readonly does: 'approve' | 'reject' | 'pause' | 'resume' | 'unpin' }
  | { readonly does: 'retry'; readonly skipPreflight: boolean }
  | { readonly does: 'abort'; readonly how: 'stop' | 'rollback'; readonly now: boolean }
  | { readonly does: 'pin' | 'block' | 'unblock'; readonly image: number }
  | { readonly does: 'setMode'; readonly mode: 'Observe' | 'Shadow' | 'Enforce' };

interface InFlight {
  readonly command: Command;
  readonly result: Result | null;
}

/** What the simulation itself knows, never asked of the code under test. */
interface Oracle {
  /** The mode that people have set. */
  mode: ReleaseSpec['mode'];
  /** Digests and labels that people or measured failures blocked. */
  readonly blocked: Set<string>;
  /** The image that was last written to a target by the release, or was found there as wanted. */
  readonly ours: Map<string, string>;
  /** Targets that run an image which the release has rolled there. */
  readonly forward: Set<string>;
  /** Of the living rollout: who failed as measured, and whether a person asked for a rollback. */
  failed: Set<string>;
  abortedBack: boolean;
  /** Targets whose image was pinned when the living rollout began. */
  pinned: ReadonlySet<string>;
}

/** Plays a story through, driving the decisions as the workflows do. @throws Broken at the first promise that does not hold */
export function simulate(decisions: Decisions, spec: ReleaseSpec, story: readonly Happening[]): Coverage {
  const names = spec.targets.map(targetName);
  const fleet = newFleet(spec);
  const oracle: Oracle = {
    mode: spec.mode,
    blocked: new Set(spec.blocklist),
    ours: new Map(),
    forward: new Set(),
    failed: new Set(),
    abortedBack: false,
    pinned: new Set(),
  };
  const coverage: Coverage = new Map();
  let now = NOW;
  let state: ReleaseState = initialState('hive', spec, now);
  let rollout: RolloutState | null = null;
  const flying = new Map<string, InFlight>();

  function count(what: string): void {
    coverage.set(what, (coverage.get(what) ?? 0) + 1);
  }

  function nameOf(index: number): string {
    return names[index % names.length] ?? '';
  }

  function imageAt(index: number): string {
    return referenceOf(catalogue[index % catalogue.length] ?? catalogue[0]);
  }

  function isBlocked(reference: string): boolean {
    return oracle.blocked.has(imageParts(reference).digest ?? '') || oracle.blocked.has(labelOf(knownOf(reference)));
  }

  /** Everything that is promised about a command is judged when it is issued: from then on it may take effect. */
  function judgeIssue(name: string, command: Command, from: RolloutState): void {
    if (isWrite(command) && oracle.mode !== 'Enforce')
      throw new Broken('a', `${command.do} on ${name} in ${oracle.mode}`);
    const target = from.targets.find((t) => t.item.target === name);
    if (command.do === 'patch') {
      if (oracle.failed.size > 0 && target?.changed === false) {
        throw new Broken('d', `${name} is started although ${[...oracle.failed].join(', ')} failed`);
      }
      if (isBlocked(command.to) && !oracle.pinned.has(name) && target?.changed === false) {
        throw new Broken('b', `${command.to} is rolled on ${name} although it is blocked`);
      }
      const before = oracle.ours.get(name) ?? command.from;
      const allowed = from.spec.targets.find((t) => targetName(t) === name)?.allowMajorChange === true;
      if (majorOf(before) !== majorOf(command.to) && !allowed && !oracle.pinned.has(name)) {
        throw new Broken('c', `${name} crosses from ${before} to ${command.to}`);
      }
    }
    if (command.do === 'rollBack') {
      const undone = from.spec.onFailure === 'undo' && oracle.failed.size > 0;
      if (!oracle.failed.has(name) && !undone && !oracle.abortedBack) {
        throw new Broken('f', `${name} is rolled back although no failure of it was measured`);
      }
    }
  }

  /** What is promised about the fleet itself holds at every moment. */
  function judgeFleet(): void {
    for (const [name, target] of fleet.targets) {
      const { marks } = target;
      if (!oracle.forward.has(name)) continue;
      if (marks.previousImage === null || imageParts(marks.previousImage).digest === null) {
        throw new Broken('e', `${name} was changed to ${target.image}, and nothing on it says what to go back to`);
      }
    }
  }

  function effect(name: string): void {
    const one = flying.get(name);
    if (one === undefined || rollout === null) return;
    const before = fleet.targets.get(name)?.image;
    const result = perform(fleet, rollout, name, one.command);
    flying.set(name, { ...one, result });
    const { command } = one;
    if (command.do === 'patch' || command.do === 'rollBack') {
      const target = fleet.targets.get(name);
      if (target?.image === command.to && before !== command.to) {
        oracle.ours.set(name, command.to);
        if (command.do === 'patch') oracle.forward.add(name);
        else oracle.forward.delete(name);
      }
      if (target?.image === command.to && target.writer === 'holdfast') {
        for (const mark of command.marks.block ?? []) if (mark.cooldownOnly !== true) oracle.blocked.add(mark.image);
      }
    }
    judgeFleet();
  }

  function reply(name: string): void {
    const one = flying.get(name);
    if (one === undefined || one.result === null || rollout === null) return;
    flying.delete(name);
    take(name, one.result);
  }

  function take(name: string, result: Result): void {
    if (rollout === null) return;
    if ('verdict' in result && result.of !== 'preflight' && result.of !== 'watchRecovery') {
      const { verdict } = result;
      const theirs = verdict.kind === 'fail' && ['ImageChanged', 'WorkloadPaused'].includes(verdict.reason);
      if (verdict.kind === 'fail' && !theirs && result.of !== 'restorePlacements') oracle.failed.add(name);
    }
    rollout = decisions.applyResult(rollout, name, result, now);
    const back = rollout.targets.find((t) => t.item.target === name)?.rollbackTo;
    if (result.of === 'preflight' && back !== undefined && back !== null && isBlocked(back.image)) {
      throw new Broken('b', `${name} would go back to ${back.image}, which is blocked`);
    }
    count(`result ${result.of}`);
    finish();
  }

  function finish(): void {
    if (rollout === null || !isFinished(rollout)) return;
    for (const t of rollout.targets) count(`${t.outcome?.phase ?? ''} ${t.outcome?.reason ?? ''}`.trim());
    state = absorbOutcome(state, rollout, now);
    // A verified image that somebody else wrote has become the release's own.
    for (const t of rollout.targets) {
      const image = t.outcome?.phase === 'Current' ? t.item.to : null;
      if (image !== null) oracle.ours.set(t.item.target, image);
    }
    rollout = null;
    flying.clear();
  }

  function issue(name: string): void {
    if (rollout === null || !rollout.targets.some((t) => t.item.target === name)) return;
    const command = decisions.nextCommand(rollout, name, now);
    if (command.do === 'wait' || command.do === 'done') return;
    if (command.do === 'settle') {
      count('settle');
      take(name, { of: 'settle' });
      if (rollout !== null) {
        const again = decisions.nextCommand(rollout, name, now);
        if (again.do === 'settle') throw new Error(`settling ${name} leads nowhere`);
      }
      return;
    }
    judgeIssue(name, command, rollout);
    count(`command ${command.do}`);
    flying.set(name, { command, result: null });
  }

  function step(name: string): void {
    const one = flying.get(name);
    if (one === undefined || rollout === null) return issue(name);
    // A watch is let go as soon as something else is to be done; a write never is.
    if (isWatch(one.command) && decisions.nextCommand(rollout, name, now).do !== one.command.do) {
      flying.delete(name);
      return;
    }
    if (one.result === null) effect(name);
    else reply(name);
  }

  function look(): void {
    if (rollout !== null) return;
    const observation = observeFleet(fleet, state.spec, state.pin?.image ?? null, now);
    state = decisions.evaluate(state, observation, now).state;
    adopt();
    for (const owed of marksOwed(state, observation)) {
      if (oracle.mode !== 'Enforce') throw new Broken('a', `marks of ${owed.target.name} in ${oracle.mode}`);
      const target = fleet.targets.get(owed.target.name);
      if (target !== undefined) writeMarks(target, owed.marks);
    }
    if (!mayStart(state) || state.evaluation === null) return;
    count('rollout');
    oracle.failed = new Set();
    oracle.abortedBack = false;
    oracle.pinned = new Set(
      state.spec.targets.filter((t) => lineFor(state.spec, t, state.pin?.image ?? null).pin !== null).map(targetName),
    );
    rollout = decisions.startRollout({
      release: 'hive',
      id: `hive-${state.rolloutCount + 1}`,
      planHash: state.evaluation.planHash,
      spec: state.spec,
      items: state.evaluation.plan.items,
      state,
      now,
    });
    state = { ...state, rolloutCount: state.rolloutCount + 1 };
    finish();
  }

  /** What was found as wanted counts as the release's own until it writes there: another image is out of band. */
  function adopt(): void {
    if (fleet.registryDown) return;
    for (const view of state.evaluation?.targets ?? []) {
      const target = fleet.targets.get(view.name);
      if (target?.dark !== false || oracle.ours.has(view.name)) continue;
      if (target.image === view.desired) oracle.ours.set(view.name, target.image);
    }
  }

  function speak(asked: PersonAction): void {
    const payload = payloadOf(asked);
    const parsed = parseAction(asked.does, { by: 'ann', ...payload });
    if (!parsed.ok) throw new Error(parsed.message);
    const answer = applyAction(state, parsed.action, now, rollout);
    count(`${asked.does} ${answer.ok ? 'accepted' : 'refused'}`);
    if (!answer.ok) return;
    state = answer.state;
    heed(parsed.action);
    if (!answer.forward || rollout === null) return;
    for (const control of controlsOf(parsed.action, state, answer.decides)) {
      rollout = applyControl(rollout, control, now);
    }
    finish();
  }

  function payloadOf(asked: PersonAction): Record<string, unknown> {
    switch (asked.does) {
      case 'approve':
      case 'reject':
        return { plan: rollout?.planHash ?? state.evaluation?.planHash ?? 'sha256:00000000' };
      case 'retry':
        return { skipPreflight: asked.skipPreflight };
      case 'abort':
        return { how: asked.how, now: asked.now };
      case 'pin':
      case 'block':
      case 'unblock':
        return { image: imageParts(imageAt(asked.image)).digest };
      case 'setMode':
        return { mode: asked.mode };
      case 'pause':
      case 'resume':
      case 'unpin':
        return {};
    }
  }

  function heed(action: ReleaseAction): void {
    if (action.action === 'setMode') oracle.mode = action.mode;
    if (action.action === 'block') oracle.blocked.add(action.image);
    if (action.action === 'unblock') oracle.blocked.delete(action.image);
    if (action.action === 'abort') oracle.abortedBack = action.how === 'rollback';
  }

  function terminate(withRollout: boolean, landed: boolean): void {
    if (withRollout) {
      // An activity that runs may still take effect; nobody hears of it.
      for (const [name, { command }] of flying) if (landed && isWrite(command)) effect(name);
      flying.clear();
      rollout = null;
    }
    state = initialState('hive', spec, now);
    oracle.mode = spec.mode;
    // A living rollout is asked to report; what people set in the release that is gone is gone with it.
    if (rollout !== null) rollout = applyControl(rollout, { kind: 'mode', mode: spec.mode }, now);
    // What was found as wanted is forgotten with the release; what a living rollout was planned on is not.
    for (const [name, { marks }] of fleet.targets) {
      if (rollout?.targets.some((t) => t.item.target === name)) continue;
      if (marks.applied === null) oracle.ours.delete(name);
      else oracle.ours.set(name, marks.applied);
    }
    const marked = new Set([...fleet.targets.values()].flatMap((t) => t.marks.blocked).map((mark) => mark.image));
    for (const image of oracle.blocked)
      if (!marked.has(image) && !spec.blocklist.includes(image)) oracle.blocked.delete(image);
    finish();
  }

  function happen(event: Happening): void {
    const target = 'target' in event ? fleet.targets.get(nameOf(event.target)) : undefined;
    switch (event.kind) {
      case 'step':
        return step(nameOf(event.target));
      case 'run':
        for (let round = 0; round < event.rounds; round += 1) {
          if (rollout === null) look();
          for (const name of names) step(name);
          now += 1_000;
        }
        return;
      case 'look':
        return look();
      case 'repeat':
        if (flying.get(nameOf(event.target))?.result) effect(nameOf(event.target));
        return;
      case 'lose':
        return lose(nameOf(event.target), event.landed);
      case 'time':
        now += event.ms;
        return;
      case 'publish':
        fleet.published = catalogue[event.image % catalogue.length] ?? catalogue[0];
        return;
      case 'edit':
        if (target !== undefined) {
          target.image = imageAt(event.image);
          target.writer = 'kubectl';
          oracle.forward.delete(nameOf(event.target));
        }
        return;
      case 'fault':
        if (event.of === 'registry') fleet.registryDown = event.on;
        if (event.of === 'target' && target !== undefined) target.dark = event.on;
        if (event.of === 'workload-paused' && target !== undefined) target.paused = event.on;
        if (event.of === 'placements' && target !== undefined) target.moves = event.on;
        return;
      case 'incumbent':
        fleet.incumbent = event.state;
        return;
      case 'person':
        return speak(event.action);
      case 'terminate':
        return terminate(event.rollout, event.landed);
    }
  }

  function lose(name: string, landed: boolean): void {
    const one = flying.get(name);
    if (one === undefined || !isWrite(one.command) || one.command.do === 'restorePlacements') return;
    if (landed && one.result === null) effect(name);
    flying.delete(name);
    count('unknown write');
    take(name, { of: one.command.do as 'patch', write: { kind: 'unknown', message: 'no answer' } });
  }

  for (const event of story) happen(event);
  return coverage;
}

/** How often what happened in a story, so that a test can tell that it tests anything. */
export type Coverage = Map<string, number>;
