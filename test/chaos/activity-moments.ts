import proto from '@temporalio/proto';
import type { TemporalCall, TemporalTap } from './temporal-proxy.ts';

const messages = proto.temporal.api.workflowservice.v1;

/**
 * Moments in the life of an activity at which a worker may die, as Temporal's own messages mark them:
 * - `scheduled`: the server has written that it is to be done; the worker never hears so
 * - `started`: its first heartbeat is on the way, and never arrives
 * - `unreported`: it has had all its effects; the server never hears so
 * - `completed`: the server has written that it is done; the worker never hears so
 */
export const MOMENTS = ['scheduled', 'started', 'unreported', 'completed'] as const;
export type Moment = (typeof MOMENTS)[number];

/** The nth activity [1] of a type that a workflow schedules. */
export interface ActivityRef {
  readonly workflowId: string;
  readonly type: string;
  readonly nth: number;
}

export interface Boundary extends ActivityRef {
  readonly moment: Moment;
}

export interface ActivityMoments {
  readonly tap: TemporalTap;
  /** Calls `then` at the boundary, once, within the same tick, and keeps the message that makes it. */
  at(boundary: Boundary, then: () => void): void;
  /** Drops what was asked for and has not come. */
  forget(): void;
}

/** In words, for messages. */
export function inWords({ workflowId, type, nth, moment }: Boundary): string {
  return `${type} ${nth} of ${workflowId} ${moment}`;
}

/** Tells from the calls of a worker where each of its activities is. */
export function activityMoments(): ActivityMoments {
  /** By task token. */
  const workflows = new Map<string, string>();
  const activities = new Map<string, ActivityRef>();
  /** By workflow id, then activity id. */
  const scheduled = new Map<string, Map<string, ActivityRef>>();
  const wanted = new Set<{ readonly boundary: Boundary; readonly then: () => void }>();

  function reached(moment: Moment, activity: ActivityRef | undefined): boolean {
    if (activity === undefined) return false;
    for (const wish of wanted) {
      if (wish.boundary.moment !== moment || !isSame(wish.boundary, activity)) continue;
      wanted.delete(wish);
      wish.then();
      return true;
    }
    return false;
  }

  function took(task: {
    taskToken?: Uint8Array | null;
    workflowExecution?: { workflowId?: string | null } | null;
    activityId?: string | null;
  }): void {
    const ref = scheduled.get(task.workflowExecution?.workflowId ?? '')?.get(task.activityId ?? '');
    if (ref !== undefined) activities.set(key(task.taskToken), ref);
  }

  function schedule(workflowId: string, activityId: string, type: string): ActivityRef {
    const known = scheduled.get(workflowId) ?? new Map<string, ActivityRef>();
    scheduled.set(workflowId, known);
    const nth = [...known.values()].filter((a) => a.type === type).length + 1;
    const ref = { workflowId, type, nth };
    known.set(activityId, ref);
    return ref;
  }

  function tap({ method, request }: TemporalCall, reply: Uint8Array | null): boolean {
    switch (method) {
      case 'PollWorkflowTaskQueue': {
        if (reply === null) return false;
        const task = messages.PollWorkflowTaskQueueResponse.decode(reply);
        workflows.set(key(task.taskToken), task.workflowExecution?.workflowId ?? '');
        return false;
      }
      case 'RespondWorkflowTaskCompleted': {
        if (reply === null) return false;
        const { taskToken, commands } = messages.RespondWorkflowTaskCompletedRequest.decode(request);
        const { workflowTask, activityTasks } = messages.RespondWorkflowTaskCompletedResponse.decode(reply);
        const workflowId = workflows.get(key(taskToken)) ?? '';
        const added = commands.flatMap(({ scheduleActivityTaskCommandAttributes: a }) =>
          a ? [schedule(workflowId, a.activityId ?? '', a.activityType?.name ?? '')] : [],
        );
        if (workflowTask) workflows.set(key(workflowTask.taskToken), workflowId);
        for (const task of activityTasks) took(task);
        return added.some((activity) => reached('scheduled', activity));
      }
      case 'PollActivityTaskQueue':
        if (reply !== null) took(messages.PollActivityTaskQueueResponse.decode(reply));
        return false;
      case 'RecordActivityTaskHeartbeat': {
        if (reply !== null) return false;
        return reached(
          'started',
          activities.get(key(messages.RecordActivityTaskHeartbeatRequest.decode(request).taskToken)),
        );
      }
      case 'RespondActivityTaskCompleted': {
        const { taskToken } = messages.RespondActivityTaskCompletedRequest.decode(request);
        return reached(reply === null ? 'unreported' : 'completed', activities.get(key(taskToken)));
      }
      default:
        return false;
    }
  }

  return {
    tap,
    at(boundary, then) {
      wanted.add({ boundary, then });
    },
    forget: () => wanted.clear(),
  };
}

function isSame(a: ActivityRef, b: ActivityRef): boolean {
  return a.workflowId === b.workflowId && a.type === b.type && a.nth === b.nth;
}

function key(token: Uint8Array | null | undefined): string {
  return Buffer.from(token ?? []).toString('base64');
}
