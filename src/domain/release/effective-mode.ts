import type { Mode } from '../core/mode.ts';
import { narrower } from '../core/mode.ts';
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
  state: Pick<ReleaseState, 'spec' | 'paused'>,
  incumbents: readonly IncumbentReading[],
): EffectiveMode {
  const reasons = [
    ...(state.paused === null ? [] : [pausedBy(state.paused)]),
    ...incumbents.map(incumbentHold).filter((reason) => reason !== null),
  ];
  const unread = state.spec.incumbents.length - incumbents.length;
  if (unread > 0) reasons.push(`${unread} of ${state.spec.incumbents.length} incumbents were not read`);
  const mode = reasons.length === 0 ? state.spec.mode : narrower(state.spec.mode, 'Shadow');
  return { mode, reason: mode === state.spec.mode ? null : reasons.join('; ') };
}

/** Why an incumbent holds Enforce; null where it is absent or suspended. A failed read counts as active. */
export function incumbentHold(incumbent: IncumbentReading): string | null {
  if (incumbent.state.kind === 'unmeasured') {
    return `incumbent ${incumbent.name} could not be read, which counts as active: ${incumbent.state.message}`;
  }
  if (incumbent.state.value !== 'active') return null;
  return `incumbent ${incumbent.name} is active; suspend or delete it`;
}

function pausedBy(paused: NonNullable<ReleaseState['paused']>): string {
  return `paused by ${paused.by}${paused.reason === '' ? '' : `: ${paused.reason}`}; holdfast resume`;
}
