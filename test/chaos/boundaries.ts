import type { Client } from '@temporalio/client';
import { MOMENTS, type ActivityRef, type Boundary, type Moment } from './activity-moments.ts';

/** An activity of a recorded history. */
interface Recorded extends ActivityRef {
  readonly activityId: string;
  readonly completed: boolean;
  /** One without heartbeats is not seen between its start and its end. */
  readonly heartbeats: boolean;
}

/** The activities that workflows have scheduled, in order, as their histories tell. */
export async function recordedActivities(client: Client, workflowIds: readonly string[]): Promise<Recorded[]> {
  const all: Recorded[] = [];
  for (const workflowId of workflowIds) {
    const { events = [] } = await client.workflow.getHandle(workflowId).fetchHistory();
    const done = new Set(events?.map((e) => String(e.activityTaskCompletedEventAttributes?.scheduledEventId)));
    for (const { eventId, activityTaskScheduledEventAttributes: scheduled } of events ?? []) {
      if (!scheduled) continue;
      const type = scheduled.activityType?.name ?? '';
      const nth = all.filter((a) => a.workflowId === workflowId && a.type === type).length + 1;
      const activityId = scheduled.activityId ?? '';
      const heartbeats = Number(scheduled.heartbeatTimeout?.seconds ?? 0) > 0;
      all.push({ workflowId, type, nth, activityId, heartbeats, completed: done.has(String(eventId)) });
    }
  }
  return all;
}

/** Every moment of every activity that can be seen from outside. */
export function boundariesOf(activities: readonly Recorded[]): Boundary[] {
  return activities.flatMap((activity) => {
    const { workflowId, type, nth } = activity;
    return MOMENTS.filter((moment) => isSeen(activity, moment)).map((moment) => ({ workflowId, type, nth, moment }));
  });
}

/** One that was still under way has not had its last two; one that sends no heartbeats is not seen to start. */
function isSeen({ completed, heartbeats }: Recorded, moment: Moment): boolean {
  if (moment === 'scheduled') return true;
  return moment === 'started' ? heartbeats : completed;
}

/**
 * The boundaries that are tried every time: each write of the first target at every moment, and every other activity at
 * one moment, in turn.
 */
export function sampleOf(boundaries: readonly Boundary[]): Boundary[] {
  const activities = [...new Set(boundaries.map(nameOf))];
  return activities.flatMap((name, index) => {
    const own = boundaries.filter((boundary) => nameOf(boundary) === name);
    const [first] = own;
    if (first?.type.startsWith('write') === true && first.nth === 1) return own;
    return own.filter((_, moment) => moment === index % own.length);
  });
}

function nameOf({ workflowId, type, nth }: ActivityRef): string {
  return `${type} ${nth} of ${workflowId}`;
}

/**
 * What Temporal has written about an activity: whether it is scheduled, and whether it is done. While a workflow task is
 * under way, what is done is kept beside the history, and is no longer among what is pending.
 */
export async function recordOf(
  client: Client,
  { workflowId, type, nth }: ActivityRef,
): Promise<'absent' | 'open' | 'done'> {
  const found = (await recordedActivities(client, [workflowId])).find((a) => a.type === type && a.nth === nth);
  if (found === undefined) return 'absent';
  if (found.completed) return 'done';
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  return raw.pendingActivities?.some((a) => a.activityId === found.activityId) === true ? 'open' : 'done';
}
