import { proxyActivities } from '@temporalio/workflow';
import type { ApprovalActivities } from '../activities/approval/verify-signature.ts';
import type { NotifyActivities } from '../activities/notify/create.ts';

/** Time-outs and retries of the activities that every capability has. */

/** Verifies signatures. Nothing is asked from outside, so that only a worker's death makes it take longer. */
export const approvals = proxyActivities<ApprovalActivities>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' },
});

/** Tells people: once more where its worker died, and then no more. What is told waits for it a minute or two at most. */
export const tell = proxyActivities<NotifyActivities>({
  startToCloseTimeout: '65s',
  scheduleToCloseTimeout: '2m',
  retry: { initialInterval: '1s', maximumAttempts: 2 },
});
