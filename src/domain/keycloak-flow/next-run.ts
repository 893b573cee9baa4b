import type { KeycloakFlowState } from './state.ts';

/** Somebody waits for it to get in, and Keycloak may be back any moment. */
const askedAgainMs = 30_000;

/** Milliseconds until a run begins by itself: soon where what a person asked for is still to be carried out. */
export function nextRunMs({ spec, rollback, lift }: Pick<KeycloakFlowState, 'spec' | 'rollback' | 'lift'>): number {
  const asked = spec.mode === 'Enforce' && (rollback !== null || lift !== null);
  return asked ? Math.min(askedAgainMs, spec.interval) : spec.interval;
}
