import type { Unmeasured } from '../core/verdict.ts';
import { unmeasured } from '../core/verdict.ts';
import { blockOf } from './block-list.ts';
import { nextCandidate, type Surroundings } from './candidate.ts';
import { lineFor, type Line } from './line.ts';
import { targetName, type TargetSpec } from './spec.ts';
import type { Candidate } from './state.ts';
import type { WantedImage } from './wanted-image.ts';

/** What every followed line comes to. */
export interface Wanted {
  /** By target name. */
  readonly lines: ReadonlyMap<string, Line>;
  /** By line key; unmeasured where the registry did not tell. */
  readonly images: ReadonlyMap<string, WantedImage | Unmeasured>;
  /** What the state remembers of candidates from now on. */
  readonly candidates: Readonly<Record<string, Candidate>>;
}

/**
 * The image that the targets of each line are to get: what the line resolves to now, or under a minimum age its frozen
 * candidate. A pin does not age. The candidate of a line that could not be resolved is kept as it is.
 */
export function whatIsWanted(around: Surroundings): Wanted {
  const { state, observation, now } = around;
  const lines = new Map<string, Line>();
  const followers = new Map<string, { readonly line: Line; readonly targets: TargetSpec[] }>();
  for (const target of state.spec.targets) {
    const line = lineFor(state.spec, target, state.pin?.image ?? null);
    lines.set(targetName(target), line);
    const known = followers.get(line.key);
    if (known === undefined) followers.set(line.key, { line, targets: [target] });
    else known.targets.push(target);
  }

  const images = new Map<string, WantedImage | Unmeasured>();
  const candidates: Record<string, Candidate> = {};
  for (const [key, { line, targets }] of followers) {
    const head = observation.lines[key] ?? notRead(key);
    const before = state.candidates[key];
    const ages = state.spec.minimumAge > 0 && line.pin === null;
    if (head.kind === 'unmeasured') {
      if (ages && before !== undefined) candidates[key] = before;
      images.set(key, head);
      continue;
    }
    if (!ages) {
      images.set(key, { line, resolved: head.value, block: blockOf(state, head.value, now), agesAt: null });
      continue;
    }
    const candidate = nextCandidate(line, head.value, targets, around);
    candidates[key] = candidate;
    const oldEnough = candidate.firstSeen + state.spec.minimumAge;
    images.set(key, {
      line,
      resolved: candidate.resolved,
      block: blockOf(state, candidate.resolved, now),
      agesAt: oldEnough > now ? oldEnough : null,
    });
  }
  return { lines, images, candidates };
}

function notRead(key: string): Unmeasured {
  return unmeasured(key, 'registry', 'missing', `${key} was not read`);
}
