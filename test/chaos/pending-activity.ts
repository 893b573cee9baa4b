import type { Client } from '@temporalio/client';
import type proto from '@temporalio/proto';

export type PendingActivity = proto.temporal.api.workflow.v1.IPendingActivityInfo;

/** An activity of a type that a workflow waits for, as the server knows it; undefined where there is none. */
export async function pendingActivity(
  client: Client,
  workflowId: string,
  type: string,
): Promise<PendingActivity | undefined> {
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  return (raw.pendingActivities ?? []).find((a) => a.activityType?.name === type);
}
