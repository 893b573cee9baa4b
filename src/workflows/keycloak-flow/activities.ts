import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { KeycloakFlowActivities } from '../../activities/keycloak/port.ts';

/**
 * Time-outs and retries by class of activity. What Keycloak says is in the answers, so that a throw is our fault or the
 * worker's end: then each is tried again until it answers, and reads before it writes.
 */

/** Reads: quick, and nothing worse than a later pass waits for one. */
export const read = proxyActivities<Pick<KeycloakFlowActivities, 'observeRealm'>>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

/**
 * Writes: a dead worker is noticed and the write tried again within seconds, since a rollback may be what is waiting. They
 * are called off between two requests alone: what was sent is awaited and taken in.
 */
export const write = proxyActivities<
  Pick<
    KeycloakFlowActivities,
    'writePolicy' | 'writeRequiredAction' | 'buildCandidate' | 'proveLogin' | 'bindCandidate' | 'rollBack' | 'liftHold'
  >
>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '10s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '15s' },
});
