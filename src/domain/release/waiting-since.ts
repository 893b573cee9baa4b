import { phaseNow } from './release-phase.ts';
import type { RolloutState } from './rollout.ts';
import type { ReleaseState } from './state.ts';
import { waitingOf } from './waiting.ts';

/**
 * Remembers since when a release waits for what it waits for now. To be called after each change: nothing else tells,
 * since the condition Ready stays False from one wait to the next.
 *
 * @param now epoch milliseconds
 */
export function noteWaiting(state: ReleaseState, rollout: RolloutState | null, now: number): ReleaseState {
  const waiting = waitingOf(state, phaseNow(state, rollout), rollout, null);
  const what = waiting === null ? null : timeless(waiting.for);
  if (what === null) return { ...state, waits: null };
  return state.waits?.for === what ? state : { ...state, waits: { for: what, since: now } };
}

/** A wait stays the same one while only the instant in its message moves, as that of the next attempt does. */
function timeless(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
}
