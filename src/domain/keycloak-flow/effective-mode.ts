import { narrower, type Mode } from '../core/mode.ts';
import { command } from './commands.ts';
import { isAskedByPerson, type RunCommand } from './run.ts';
import type { KeycloakFlowState } from './state.ts';

/** The mode that is in force, and why it is lower than the spec's. */
export interface EffectiveMode {
  readonly mode: Mode;
  /** Null where the spec's mode is in force. */
  readonly reason: string | null;
}

/** A paused flow writes nothing, whatever its mode: its passes go on and say what they would do. */
export function effectiveMode({
  name,
  spec,
  paused,
}: Pick<KeycloakFlowState, 'name' | 'spec' | 'paused'>): EffectiveMode {
  if (paused === null) return { mode: spec.mode, reason: null };
  const mode = narrower(spec.mode, 'Shadow');
  const why = paused.reason === '' ? '' : `: ${paused.reason}`;
  return { mode, reason: mode === spec.mode ? null : `paused by ${paused.by}${why}; ${command('resume', name)}` };
}

/**
 * The mode in which a command is sent. What a person asked for outright (a rollback, the lifting of a hold) is carried
 * out while passes are paused; in Shadow it is not.
 */
export function modeOfCommand(
  state: Pick<KeycloakFlowState, 'name' | 'spec' | 'paused'>,
  what: RunCommand['do'],
): Mode {
  return isAskedByPerson({ do: what }) ? state.spec.mode : effectiveMode(state).mode;
}

/** How a result ends where something is left undone for the mode. */
export function wouldDo({ mode, reason }: EffectiveMode, what: string): string {
  if (mode === 'Observe') return '';
  return `; Enforce would ${what}${reason === null ? '' : ` (${reason})`}`;
}
