import type { Client } from '@temporalio/client';
import { MOMENTS, type ActivityRef, type Boundary, type Moment } from './activity-moments.ts';

/** An activity of a recorded history. */
interface Recorded extends ActivityRef {
  readonly activityId: string;
  readonly completed: boolean;
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
      all.push({ workflowId, type, nth, activityId, completed: done.has(String(eventId)) });
    }
  }
  return all;
}

/** Every moment of every activity; one that was still under way has not had its last two. */
export function boundariesOf(activities: readonly Recorded[]): Boundary[] {
  return activities.flatMap(({ completed, workflowId, type, nth }) =>
    MOMENTS.filter((moment) => completed || moment === 'scheduled' || moment === 'started').map((moment) => ({
      workflowId,
      type,
      nth,
      moment,
    })),
  );
}

/**
 * The boundaries that are tried every time: each write of the first target at every moment, and every other activity at
 * one moment, in turn.
 */
export function sampleOf(boundaries: readonly Boundary[]): Boundary[] {
  const activities = [...new Set(boundaries.map(nameOf))];
  return boundaries.filter((boundary) => {
    if (boundary.type.startsWith('write') && boundary.nth === 1) return true;
    return boundary.moment === turn(activities.indexOf(nameOf(boundary)), boundary.type);
  });
}

function turn(index: number, type: string): Moment | undefined {
  return MOMENTS[index % (type === 'awaitChange' ? 2 : MOMENTS.length)];
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
