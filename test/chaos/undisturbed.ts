import { releaseId, rolloutId } from '../../src/workflows/release/messages.ts';
import type { Boundary } from './activity-moments.ts';
import { boundariesOf, recordedActivities } from './boundaries.ts';
import type { EndState, Fleet, Kind, Subject } from './fleet.ts';
import type { Stage } from './stage.ts';

/** What a kind of rollout comes to when nobody disturbs it, and where it can be disturbed. */
export interface Undisturbed {
  readonly end: EndState;
  /** Of workflows whose release is called NAME. */
  readonly boundaries: readonly Boundary[];
}

/** Runs one rollout in peace. */
export async function undisturbedRun(fleet: Fleet, stage: Stage, kind: Kind): Promise<Undisturbed> {
  const subject = await fleet.prepare(stage.client, kind);
  await fleet.apply(subject);
  await fleet.settled(subject);
  const activities = await recordedActivities(stage.client, workflowIdsOf(subject));
  const end = await fleet.endState(subject);
  await fleet.remove(subject);
  const boundaries = boundariesOf(activities).map((boundary) => ({
    ...boundary,
    workflowId: boundary.workflowId.replace(subject.name, 'NAME'),
  }));
  return { end, boundaries };
}

/** A boundary of an undisturbed run as one of this release. */
export function boundaryIn(subject: Subject, boundary: Boundary): Boundary {
  return { ...boundary, workflowId: boundary.workflowId.replace('NAME', subject.name) };
}

/** Of the release and of its rollout. */
export function workflowIdsOf({ name }: Subject): string[] {
  return [releaseId(name), rolloutId(name)];
}
