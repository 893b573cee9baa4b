import { narrower, type Mode } from '../core/mode.ts';
import { command } from './commands.ts';
import { incumbentHolds } from './incumbents.ts';
import type { IncumbentReading } from './observation.ts';
import type { ReleaseState } from './state.ts';

/** The mode that is in force, and why it is lower than the spec's. */
export interface EffectiveMode {
  readonly mode: Mode;
  /** Null where the spec's mode is in force. */
  readonly reason: string | null;
}

/**
 * Enforce is held down to Shadow while an incumbent writer of the same image is active or cannot be read, and while a
 * person has paused the release.
 */
export function effectiveMode(
  state: Pick<ReleaseState, 'name' | 'spec' | 'paused'>,
  incumbents: readonly IncumbentReading[],
): EffectiveMode {
  const { name, spec, paused } = state;
  const reasons = [
    ...(paused === null ? [] : [pausedBy(name, paused)]),
    ...incumbentHolds(incumbents, spec.incumbents.length),
  ];
  const mode = reasons.length === 0 ? spec.mode : narrower(spec.mode, 'Shadow');
  return { mode, reason: mode === spec.mode ? null : reasons.join('; ') };
}

function pausedBy(release: string, paused: NonNullable<ReleaseState['paused']>): string {
  return `paused by ${paused.by}${paused.reason === '' ? '' : `: ${paused.reason}`}; ${command('resume', release)}`;
}
