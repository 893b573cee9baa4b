import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { ReleaseActivities } from '../../activities/release/port.ts';
import { RELEASE_WAIT_QUEUE } from './messages.ts';
import { LONGEST_WRITE_RETRY_MS } from './write-outcome.ts';

/**
 * Time-outs and retries by class of activity. None gives up by itself: what an operation does after too long is decided
 * by its own deadlines in src/domain, never by a retry policy.
 */

/**
 * Reads: quick, and tried again until they answer. What the outside says is in the answer, so a throw is our fault or the
 * worker's end. Nothing worse than a later start waits for one.
 */
export const read = proxyActivities<Pick<ReleaseActivities, 'observe' | 'preflight' | 'emitEvents'>>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

/**
 * Writes: safe to repeat, and repeated until their effect is known or the caller's deadline has come; however long that
 * is, the history holds one activity. A dead worker is noticed and the write tried again within seconds, since a rollback
 * may be what is waiting. Should the worker only have been slow, both write, and the precondition in the patch lets one
 * of them through.
 */
export const write = proxyActivities<
  Pick<ReleaseActivities, 'writeImage' | 'writeMarks' | 'restorePlacements' | 'deletePod'>
>({
  startToCloseTimeout: '2m',
  heartbeatTimeout: '5s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: LONGEST_WRITE_RETRY_MS },
});

/** Watches of a rollout: a worker that has died is noticed within seconds, and the next one goes on from the heartbeat. */
export const watch = proxyActivities<Pick<ReleaseActivities, 'watchRollout' | 'watchSoak'>>({
  taskQueue: RELEASE_WAIT_QUEUE,
  startToCloseTimeout: '7d',
  heartbeatTimeout: '5s',
  // They only read, so nobody need wait for one that is no longer wanted.
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' },
});

/**
 * The wait of an idle release: one activity for hours. Each heartbeat is a write to Temporal's database, and there are as
 * many waits as releases, so a worker's death may take a minute to be noticed: a new image is then seen that much later.
 * What people say is heard at once all the same, and a worker that is told to end hands its waits back at once.
 */
export const idle = proxyActivities<Pick<ReleaseActivities, 'awaitChange'>>({
  taskQueue: RELEASE_WAIT_QUEUE,
  startToCloseTimeout: '1d',
  heartbeatTimeout: '60s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});
