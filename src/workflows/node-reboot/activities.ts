import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { NotifyActivities } from '../../activities/notify/create.ts';
import type { NodeRebootActivities } from '../../activities/node-reboot/port.ts';
import { NODE_REBOOT_WAIT_QUEUE } from './messages.ts';

/**
 * Time-outs and retries by class of activity. What the outside says is in the answers, so that a throw is our fault or the
 * worker's end: then each is tried again until it answers, and reads before it writes. What is done after too long is decided
 * by the deadlines of src/domain, never by a retry policy.
 */

/** Reads: a host is read by a pod of its own, which may have to be pulled first. */
export const read = proxyActivities<
  Pick<NodeRebootActivities, 'observeCampaign' | 'gatesOfNodes' | 'gatesBefore' | 'lastCheck'>
>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

/** Writes: never interrupted, so that what came of one is known before anything else is done. */
export const write = proxyActivities<
  Pick<
    NodeRebootActivities,
    'takeLock' | 'cordon' | 'rebootNode' | 'uncordon' | 'restoreNode' | 'noteStop' | 'releaseLock'
  >
>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '15s' },
});

/** Long work on one node: a worker that has died is noticed within seconds, and a cancel is heard as soon. */
export const work = proxyActivities<Pick<NodeRebootActivities, 'movePrimaries' | 'drain'>>({
  taskQueue: NODE_REBOOT_WAIT_QUEUE,
  startToCloseTimeout: '1d',
  heartbeatTimeout: '4s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '15s' },
});

/** Watches of one node: they only read, so that nobody need wait for one that is no longer wanted. */
export const watch = proxyActivities<Pick<NodeRebootActivities, 'awaitReturn' | 'checkNode' | 'settle'>>({
  taskQueue: NODE_REBOOT_WAIT_QUEUE,
  startToCloseTimeout: '30d',
  heartbeatTimeout: '20s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '15s' },
});

/** The wait of a campaign that has nothing to do: one activity for hours. */
export const idle = proxyActivities<Pick<NodeRebootActivities, 'awaitCampaignChange'>>({
  taskQueue: NODE_REBOOT_WAIT_QUEUE,
  startToCloseTimeout: '1d',
  heartbeatTimeout: '60s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

/** Pages: tried until a receiver takes one, since nothing goes on before somebody can know. */
export const pages = proxyActivities<Pick<NotifyActivities, 'page'>>({
  startToCloseTimeout: '65s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
});
