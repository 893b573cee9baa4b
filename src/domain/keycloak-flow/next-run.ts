import type { KeycloakFlowState } from './state.ts';

/** Somebody waits for it to get in, and Keycloak may be back any moment. */
const soonMs = 30_000;
/** A write that was given up may be in some queue before Keycloak for as long, and would undo the rollback after it. */
const lateMs = 300_000;

/**
 * Milliseconds until a run begins by itself: soon where what a person asked for is still to be carried out, and for some
 * minutes after a rollback.
 *
 * @param now epoch milliseconds
 */
export function nextRunMs(
  { spec, rollback, lift, hold }: Pick<KeycloakFlowState, 'spec' | 'rollback' | 'lift' | 'hold'>,
  now: number,
): number {
  const asked = spec.mode === 'Enforce' && (rollback !== null || lift !== null);
  const fresh = rollback === null && hold !== null && now - hold.at < lateMs;
  return asked || fresh ? Math.min(soonMs, spec.interval) : spec.interval;
}
