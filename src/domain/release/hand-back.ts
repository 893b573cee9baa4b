import { appendEvidence } from '../core/evidence.ts';
import { redact } from '../core/redact.ts';
import { command } from './commands.ts';
import type { WriteResult } from './rollout.ts';
import type { ReleaseState } from './state.ts';

/** How long marks are taken off targets when ownership is released, all of them together, milliseconds. */
export const HAND_BACK_MS = 10 * 60_000;

/** True where marks may be taken off: what is not in Enforce writes nothing, not even that. */
export function mayHandBack({ spec, evaluation }: Pick<ReleaseState, 'spec' | 'evaluation'>): boolean {
  return spec.mode === 'Enforce' && (evaluation === null || evaluation.effectiveMode === 'Enforce');
}

/** What releasing ownership comes to, as a sentence that goes on from who. */
export function handBackRecord(state: ReleaseState): string {
  if (mayHandBack(state)) {
    return `hands every target back as it is and ends; what cannot be written within 10 minutes keeps its marks, and holdfast history release/${state.name} names it`;
  }
  const mode = state.evaluation === null ? state.spec.mode : state.evaluation.effectiveMode;
  return `ends without a write, since ${mode} writes nothing: marks stay on the targets, and no other release takes those over; to remove them first: ${command('set-mode', state.name, 'Enforce')}, or by hand: kubectl -n NAMESPACE annotate KIND/NAME holdfast.dev/managed-by-`;
}

/** Why a target keeps its marks; null where it has none of ours any more. */
export function whyKept(write: WriteResult): string | null {
  if (write.kind === 'written') return null;
  if (write.kind === 'unknown') return write.message;
  // It is gone, or somebody else's.
  return write.reason === 'Missing' || write.reason === 'Changed' ? null : write.message;
}

/** Keeps on which targets marks were left, and why. */
export function recordKeptMarks(state: ReleaseState, kept: readonly string[], now: number): ReleaseState {
  if (kept.length === 0) return state;
  const message = redact(`marks stay on ${kept.length} targets: ${kept.join('; ')}`);
  const details = { what: `release/${state.name}`, outcome: 'not handed back' };
  return { ...state, evidence: appendEvidence(state.evidence, now, 'decision', message, details) };
}
