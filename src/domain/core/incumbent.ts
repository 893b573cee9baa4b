import { narrower } from './mode.ts';
import type { Mode } from './mode.ts';
import type { Reading } from './verdict.ts';

/** The writer that a capability replaces, as it was found. */
export interface Incumbent {
  /** How people name it, such as `CronJob ops/nightly-images`. */
  readonly ref: string;
  /** What was read of it. Only a 404 may be read as `exists: false`: denied is not absent. */
  readonly state: Reading<{ readonly exists: boolean; readonly suspended: boolean }>;
}

/** What an incumbent counts as. `unknown` holds writing back as `active` does. */
export type IncumbentStanding = 'gone' | 'suspended' | 'active' | 'unknown';

/** The mode that is in force, and who holds it down. */
export interface IncumbentGate {
  readonly mode: Mode;
  /** One sentence for each incumbent that holds the mode down; empty where none does. */
  readonly reasons: readonly string[];
}

/** What one incumbent counts as. A resource that could not be read is never gone, whatever kept it from being read. */
export function standingOf(incumbent: Incumbent): IncumbentStanding {
  if (incumbent.state.kind === 'unmeasured') return incumbent.state.why === 'missing' ? 'gone' : 'unknown';
  const { exists, suspended } = incumbent.state.value;
  if (!exists) return 'gone';
  return suspended ? 'suspended' : 'active';
}

/**
 * The gate that keeps two writers of one thing from being active at once: Enforce becomes Shadow while an incumbent is
 * active or could not be read. Ask it again right before the first write: somebody may have resumed the incumbent since.
 *
 * @param wanted the mode of the spec
 * @param incumbents a reading for each incumbent that the spec names
 * @param expected how many the spec names; one that nobody read counts as active
 */
export function incumbentGate(wanted: Mode, incumbents: readonly Incumbent[], expected: number): IncumbentGate {
  const reasons = incumbents.map(holdOf).filter((reason) => reason !== undefined);
  const unread = expected - incumbents.length;
  if (unread > 0) reasons.push(`${unread} of ${expected} incumbents were not read, which counts as active`);
  return { mode: reasons.length === 0 ? wanted : narrower(wanted, 'Shadow'), reasons };
}

function holdOf(incumbent: Incumbent): string | undefined {
  const standing = standingOf(incumbent);
  if (standing === 'active') return `incumbent ${incumbent.ref} is active; suspend or delete it`;
  if (standing !== 'unknown' || incumbent.state.kind === 'read') return undefined;
  const { why, message } = incumbent.state;
  switch (why) {
    case 'denied':
      return `incumbent ${incumbent.ref} may not be read, which counts as active; grant get on it: ${message}`;
    case 'not-served':
      return `incumbent ${incumbent.ref} is of a kind that the cluster does not serve, which counts as active; correct its apiVersion and kind, or remove it from the spec: ${message}`;
    default:
      return `incumbent ${incumbent.ref} could not be read, which counts as active: ${message}`;
  }
}
