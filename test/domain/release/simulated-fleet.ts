import { fail, pass, read, unmeasured, type Unmeasured, type Verdict } from '../../../src/domain/core/verdict.ts';
import { imageParts } from '../../../src/domain/release/deployed-image.ts';
import { linesOf } from '../../../src/domain/release/line.ts';
import { applyMarksPatch, noMarks } from '../../../src/domain/release/marks.ts';
import type { Marks, Observation, ResolvedLine } from '../../../src/domain/release/observation.ts';
import type { Command, MarksPatch, Result, RolloutState, WriteResult } from '../../../src/domain/release/rollout.ts';
import { targetName, type ReleaseSpec } from '../../../src/domain/release/spec.ts';
import { digest, REPOSITORY, resolved, workload, writer } from './world.ts';

/**
 * A fleet of targets that lives in memory: what a cluster, a registry and images do to each other. It knows nothing of
 * decisions. What it answers to a command is what the activities answer.
 */
export interface Fleet {
  readonly targets: Map<string, FleetTarget>;
  /** What the moving tag points to. */
  published: Known;
  registryDown: boolean;
  /** `unreadable` counts as active. */
  incumbent: 'absent' | 'suspended' | 'active' | 'unreadable';
}

export interface FleetTarget {
  image: string;
  marks: Marks;
  writer: string;
  paused: boolean;
  /** Nothing about it can be read. */
  dark: boolean;
  /** Its placements move with the next swap. */
  moves: boolean;
}

/** How an image behaves wherever it runs. */
export type Quality =
  'good' | 'crashes' | 'crashes-after-the-canary' | 'fails-in-soak' | 'cannot-be-pulled' | 'cannot-be-measured';

export interface Known {
  readonly id: string;
  readonly version: string;
  readonly quality: Quality;
}

/** Every image of this world; `v6` but for the last. */
export const catalogue = [
  { id: 'a0', version: '6.0.0', quality: 'good' },
  { id: 'a1', version: '6.0.1', quality: 'good' },
  { id: 'b1', version: '6.1.0', quality: 'crashes' },
  { id: 'c2', version: '6.2.0', quality: 'fails-in-soak' },
  { id: 'd3', version: '6.3.0', quality: 'cannot-be-pulled' },
  { id: 'e4', version: '6.4.0', quality: 'cannot-be-measured' },
  { id: 'a5', version: '6.5.0', quality: 'good' },
  { id: 'b6', version: '6.6.0', quality: 'crashes-after-the-canary' },
  { id: '77', version: '7.0.0', quality: 'good' },
] as const satisfies readonly Known[];

/** `repo:tag@digest` of an image in this world. */
export function referenceOf({ id }: Known): string {
  return `${REPOSITORY}:v6-latest@${digest(id)}`;
}

/** What is known of an image by its reference. @throws Error for one that is not of this world */
export function knownOf(reference: string): Known {
  const found = catalogue.find((known) => imageParts(reference).digest === digest(known.id));
  if (found === undefined) throw new Error(`${reference} is not of this world`);
  return found;
}

export function majorOf(reference: string): string {
  return knownOf(reference).version.split('.')[0] ?? '';
}

export function labelOf({ id }: Known): string {
  return `v6-${id}`;
}

/** A fleet in which every target runs the first image and no release has written anything. */
export function newFleet(spec: ReleaseSpec): Fleet {
  const [first] = catalogue;
  return {
    targets: new Map(
      spec.targets.map((target, index) => [
        targetName(target),
        {
          image: referenceOf(first),
          marks: noMarks,
          writer: 'kubectl',
          paused: false,
          dark: false,
          moves: index === 1,
        },
      ]),
    ),
    published: first,
    registryDown: false,
    incumbent: 'absent',
  };
}

/** What one evaluation reads of the fleet now. */
export function observeFleet(fleet: Fleet, spec: ReleaseSpec, pin: string | null, now: number): Observation {
  return {
    at: now,
    lines: Object.fromEntries(
      linesOf(spec, pin).map((line) => {
        const pinned = catalogue.find((known) => digest(known.id) === line.pin?.digest);
        return [line.key, fleet.registryDown ? dark('registry') : read(lineOf(pinned ?? fleet.published))];
      }),
    ),
    freezes: [],
    images: Object.fromEntries(
      catalogue.map((known) => [
        referenceOf(known),
        read({ version: known.version, label: labelOf(known), revision: known.id }),
      ]),
    ),
    targets: Object.fromEntries(
      [...fleet.targets].map(([name, target]) => [
        name,
        {
          architectures: read(['amd64']),
          workload: target.dark
            ? dark(name)
            : read(
                workload(target.image, {
                  paused: target.paused,
                  marks: target.marks,
                  imageWriter: writer(target.writer),
                }),
              ),
        },
      ]),
    ),
    incumbents: spec.incumbents.map((incumbent) => ({
      name: incumbent.name,
      state: fleet.incumbent === 'unreadable' ? dark('incumbent') : read(fleet.incumbent),
    })),
  };
}

function lineOf(known: Known): ResolvedLine {
  return resolved(known.id, { version: known.version, label: labelOf(known) });
}

function dark(what: string): Unmeasured {
  return unmeasured(what, 'the simulation', 'timeout', `${what} did not answer`);
}

/** True for a command that changes something outside. */
export function isWrite(command: Command): boolean {
  return ['patch', 'rollBack', 'markPassed', 'restorePlacements', 'deletePod'].includes(command.do);
}

export function isWatch(command: Command): boolean {
  return ['watchRollout', 'watchSoak', 'watchRecovery'].includes(command.do);
}

/** Does a command in the fleet, as the activities do, and answers. Safe to repeat. */
export function perform(fleet: Fleet, state: RolloutState, name: string, command: Command): Result {
  const target = fleet.targets.get(name);
  if (target === undefined) throw new Error(`no target ${name}`);
  switch (command.do) {
    case 'preflight':
      return preflight(fleet, state, target, name);
    case 'patch':
      return { of: 'patch', write: writeImage(fleet, target, command, state.spec.incumbents.length > 0) };
    case 'rollBack':
      return { of: 'rollBack', write: writeImage(fleet, target, command, false) };
    case 'markPassed':
      return { of: 'markPassed', write: writeMarks(target, command.marks) };
    case 'watchRollout': {
      const { verdict, block } = gate(target, name, command.image);
      return { of: 'watchRollout', verdict, block, restarts: {}, moved: moved(target, verdict) };
    }
    case 'watchSoak': {
      const seen = gate(target, name, command.image);
      const fails = seen.verdict.kind === 'pass' && knownOf(command.image).quality === 'fails-in-soak';
      const verdict = fails ? fail('HealthFailed', 'it answered 500') : seen.verdict;
      return { of: 'watchSoak', verdict, block: fails || seen.block, samples: 1 };
    }
    case 'watchRecovery': {
      const { verdict } = gate(target, name, command.image);
      return { of: 'watchRecovery', verdict, moved: moved(target, verdict) };
    }
    case 'restorePlacements':
      if (target.dark) return { of: 'restorePlacements', verdict: dark(name), restored: [] };
      target.moves = false;
      return { of: 'restorePlacements', verdict: pass(), restored: ['scout'] };
    case 'deletePod':
      return { of: 'deletePod', write: { kind: 'written', repeated: false } };
    case 'settle':
      return { of: 'settle' };
    case 'wait':
    case 'done':
      throw new Error(`${command.do} is nothing to do`);
  }
}

const scout = { name: 'scout', backend: 'claude', model: 'opus', effort: 'high', paused: false };

function moved(target: FleetTarget, verdict: Verdict) {
  return target.moves && verdict.kind === 'pass' ? [scout] : [];
}

function preflight(fleet: Fleet, state: RolloutState, target: FleetTarget, name: string): Result {
  const rollout = state.targets.find((t) => t.item.target === name);
  if (rollout === undefined) throw new Error(`no target ${name}`);
  const found = {
    runningImage: target.image,
    runningLabel: labelOf(knownOf(target.image)),
    placements: [scout],
    marks: target.marks,
  };
  const answer = (verdict: Verdict, read = true): Result => ({ of: 'preflight', verdict, found: read ? found : null });
  if (target.dark) return answer(dark(name), false);
  if (target.image !== rollout.item.from) return answer(fail('ImageChanged', `it has ${target.image}`), false);
  if (target.paused) return answer(fail('WorkloadPaused', 'it is paused'), false);
  if (isActive(fleet) && state.spec.incumbents.length > 0)
    return answer(fail('Incumbent', 'the incumbent is active'), false);
  if (rollout.skipPreflight) return answer(pass());
  return answer(gate(target, name, target.image).verdict);
}

function isActive({ incumbent }: Fleet): boolean {
  return incumbent === 'active' || incumbent === 'unreadable';
}

function writeImage(
  fleet: Fleet,
  target: FleetTarget,
  { from, to, marks }: { from: string; to: string; marks: MarksPatch },
  heedsIncumbents: boolean,
): WriteResult {
  if (target.dark) return { kind: 'unknown', message: 'the API server does not answer' };
  const after = applyMarksPatch(target.marks, marks);
  if (target.image === to && same(after, target.marks)) return { kind: 'written', repeated: true };
  if (target.image !== from && target.image !== to)
    return { kind: 'refused', reason: 'Changed', message: `it has ${target.image}` };
  if (heedsIncumbents && isActive(fleet))
    return { kind: 'refused', reason: 'Incumbent', message: 'the incumbent is active' };
  target.image = to;
  target.marks = after;
  target.writer = 'holdfast';
  return { kind: 'written', repeated: false };
}

/** Writes marks alone. */
export function writeMarks(target: FleetTarget, marks: MarksPatch): WriteResult {
  if (target.dark) return { kind: 'unknown', message: 'the API server does not answer' };
  target.marks = applyMarksPatch(target.marks, marks);
  return { kind: 'written', repeated: false };
}

function same(a: Marks, b: Marks): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What the gate finds of the image that a target should run. */
function gate(
  target: FleetTarget,
  name: string,
  image: string,
): { readonly verdict: Verdict; readonly block: boolean } {
  if (target.dark) return { verdict: dark('the gate'), block: false };
  if (target.image !== image) return { verdict: fail('ImageChanged', `it has ${target.image}`), block: false };
  if (target.paused) return { verdict: fail('WorkloadPaused', 'it is paused'), block: false };
  switch (knownOf(image).quality) {
    case 'crashes-after-the-canary':
      if (name === 'web-1') return { verdict: pass(), block: false };
      return { verdict: fail('CrashLoopBackOff', 'it crashes'), block: true };
    case 'crashes':
      return { verdict: fail('CrashLoopBackOff', 'it crashes'), block: true };
    case 'cannot-be-pulled':
      return { verdict: fail('ImagePullBackOff', 'it cannot be pulled'), block: false };
    case 'cannot-be-measured':
      return { verdict: dark('health'), block: false };
    case 'fails-in-soak':
    case 'good':
      return { verdict: pass(), block: false };
  }
}
