import { unmeasured, type Unmeasured } from '../core/verdict.ts';
import { own, setOwn } from '../core/own.ts';
import { blockOf } from './block-list.ts';
import { nextCandidate, type Surroundings } from './candidate.ts';
import { lineFor, type Line } from './line.ts';
import type { ResolvedLine } from './observation.ts';
import { targetName, type TargetSpec } from './spec.ts';
import type { Candidate, ReleaseState } from './state.ts';
import type { WantedImage } from './wanted-image.ts';

/** One target with what it follows. */
export interface Follower {
  readonly name: string;
  readonly spec: TargetSpec;
  readonly line: Line;
  /** What the line comes to; unmeasured where the registry did not tell. */
  readonly image: WantedImage | Unmeasured;
}

/** What every followed line comes to. */
export interface Wanted {
  /** In the order of the spec. */
  readonly followers: readonly Follower[];
  /** What the state remembers of candidates from now on. */
  readonly candidates: Readonly<Record<string, Candidate>>;
}

/**
 * The image that the targets of each line are to get: what the line resolves to now, or under a minimum age its frozen
 * candidate. A pin does not age. The candidate of a line that could not be resolved is kept as it is.
 */
export function whatIsWanted(around: Surroundings): Wanted {
  const { state } = around;
  const candidates: Record<string, Candidate> = {};
  const followers = linesWithTargets(state).flatMap(({ line, targets }) => {
    const { image, candidate } = imageOf(line, targets, around);
    if (candidate !== undefined) setOwn(candidates, line.key, candidate);
    return targets.map((spec) => ({ name: targetName(spec), spec, line, image }));
  });
  const order = new Map(state.spec.targets.map((target, index) => [targetName(target), index]));
  const position = ({ name }: Follower): number => order.get(name) ?? 0;
  return { followers: followers.sort((a, b) => position(a) - position(b)), candidates };
}

interface LineWithTargets {
  readonly line: Line;
  readonly targets: TargetSpec[];
}

function linesWithTargets({ spec, pin }: ReleaseState): LineWithTargets[] {
  const lines = new Map<string, LineWithTargets>();
  for (const target of spec.targets) {
    const line = lineFor(spec, target, pin?.image ?? null);
    const known = lines.get(line.key);
    if (known === undefined) lines.set(line.key, { line, targets: [target] });
    else known.targets.push(target);
  }
  return [...lines.values()];
}

function imageOf(
  line: Line,
  targets: readonly TargetSpec[],
  around: Surroundings,
): { readonly image: WantedImage | Unmeasured; readonly candidate: Candidate | undefined } {
  const { state, observation, now } = around;
  const head = own(observation.lines, line.key) ?? notRead(line.key);
  const ages = state.spec.minimumAge > 0 && line.pin === null;
  if (head.kind === 'unmeasured') return { image: head, candidate: ages ? own(state.candidates, line.key) : undefined };
  if (!ages) return { image: wantedImage(line, head.value, null, around), candidate: undefined };
  const candidate = nextCandidate(line, head.value, targets, around);
  const oldEnough = candidate.firstSeen + state.spec.minimumAge;
  return { image: wantedImage(line, candidate.resolved, oldEnough > now ? oldEnough : null, around), candidate };
}

function wantedImage(
  line: Line,
  resolved: ResolvedLine,
  agesAt: number | null,
  { state, now }: Surroundings,
): WantedImage {
  return { line, resolved, block: blockOf(state, resolved, now), agesAt };
}

function notRead(key: string): Unmeasured {
  return unmeasured(key, 'registry', 'missing', `${key} was not read`);
}
