import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { releaseId, rolloutId } from '../../src/workflows/release/messages.ts';
import { waitFor } from '../lab/wait.ts';
import { openFleet, type EndState, type Fleet, type Subject } from './fleet.ts';
import { openStage, type Stage } from './stage.ts';

const lab = inject('lab');
let fleet: Fleet;
let stage: Stage;

beforeAll(async () => {
  fleet = await openFleet(lab);
  stage = await openStage(lab);
  await stage.startWorker();
});

afterAll(async () => {
  await stage.close();
  await fleet.close();
});

/**
 * Where a workflow can be reset to: the workflow tasks that it has completed. Those that asked for a write, and every
 * fourth of the others; with HOLDFAST_CHAOS=all every one.
 */
async function resetPoints(workflowId: string): Promise<string[]> {
  const { events } = await stage.client.workflow.getHandle(workflowId).fetchHistory();
  const writing = new Set(
    (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name?.startsWith('write') ? [String(scheduled.workflowTaskCompletedEventId)] : [],
    ),
  );
  return (events ?? [])
    .filter((e) => e.workflowTaskCompletedEventAttributes)
    .map((e) => String(e.eventId))
    .filter((id, index) => process.env['HOLDFAST_CHAOS'] === 'all' || writing.has(id) || index % 4 === 0);
}

/** As `temporal workflow reset --event-id` does: the workflow goes on from there in a new run. */
async function reset(workflowId: string, eventId: string, runId: string): Promise<void> {
  await stage.client.workflowService.resetWorkflowExecution({
    namespace: stage.client.options.namespace,
    workflowExecution: { workflowId, runId },
    reason: 'by a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: Number(eventId) as never,
  });
}

async function settledEnd(subject: Subject): Promise<EndState> {
  const rollout = stage.client.workflow.getHandle(rolloutId(subject.name));
  await waitFor('the rollout has ended', async () => (await rollout.describe()).status.name !== 'RUNNING');
  await fleet.settled(subject);
  return fleet.endState(subject);
}

test.for([
  { what: 'a finished rollout', kind: 'good', id: rolloutId },
  { what: 'a finished rollout that went back', kind: 'bad', id: rolloutId },
  { what: 'the release of a finished rollout', kind: 'good', id: releaseId },
] as const)('$what that is reset to any point of its past repeats no write', async ({ kind, id }) => {
  const subject = await fleet.prepare(stage.client, kind);
  await fleet.apply(subject);
  const before = await settledEnd(subject);
  const workflowId = id(subject.name);
  const { runId } = await stage.client.workflow.getHandle(workflowId).describe();
  const points = await resetPoints(workflowId);
  expect(points.length).toBeGreaterThan(1);
  for (const point of points) {
    await reset(workflowId, point, runId);
    const after = await settledEnd(subject);
    expect({ point, writes: after.writes }).toEqual({ point, writes: before.writes });
    expect({ point, targets: after.targets }).toEqual({ point, targets: before.targets });
  }
  await fleet.remove(subject);
});
