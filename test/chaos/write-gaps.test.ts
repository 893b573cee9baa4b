import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { actionUpdate, releaseId } from '../../src/workflows/release/messages.ts';
import { waitFor } from '../lab/wait.ts';
import type { ApiWrite, HeldWrite } from './api-proxy.ts';
import { openFleet, type Fleet, type Kind, type Subject } from './fleet.ts';
import { openLanes, type Lanes } from './lanes.ts';
import { keepHistories, replayKept } from './replay-kept.ts';
import type { Stage } from './stage.ts';
import { undisturbedRun, workflowIdsOf, type Undisturbed } from './undisturbed.ts';

const lab = inject('lab');
let fleet: Fleet;
let lanes: Lanes;
const calm = new Map<Kind, Undisturbed>();

beforeAll(async () => {
  fleet = await openFleet(lab);
  lanes = await openLanes(lab, 3);
  for (const kind of ['good', 'bad'] as const) {
    calm.set(kind, await lanes.run((stage) => undisturbedRun(fleet, stage, kind)));
  }
});

afterAll(async () => {
  await lanes.close();
  await fleet.close();
});

/** Picks the nth write to the release's own workloads, events about them, or both. */
function nth(subject: Subject, number: number, of: 'workload' | 'event'): (write: ApiWrite) => boolean {
  let seen = 0;
  return (write) => {
    const isOne = of === 'workload' ? isWorkloadWrite(subject, write) : isEventAbout(subject, write);
    if (isOne) seen += 1;
    return isOne && seen === number;
  };
}

function isWorkloadWrite({ targets }: Subject, { method, path }: ApiWrite): boolean {
  return method === 'PATCH' && targets.some((target) => path.endsWith(`/deployments/${target}`));
}

function isEventAbout({ targets }: Subject, { method, path, body }: ApiWrite): boolean {
  const { regarding } = body as { regarding?: { name?: string } };
  return method === 'POST' && path.endsWith('/events') && targets.includes(regarding?.name ?? '');
}

/** The worker dies with the write done and its reply on the way. */
async function killedBeforeTheReply(stage: Stage, kind: Kind, number: number, of: 'workload' | 'event'): Promise<void> {
  const subject = await fleet.prepare(stage.client, kind);
  const killed = stage.killAtReply(nth(subject, number, of));
  await fleet.apply(subject);
  await killed;
  await stage.startWorker();
  await fleet.settled(subject);
  expect(await fleet.endState(subject)).toEqual(calm.get(kind)?.end);
  await keepHistories(stage.client, workflowIdsOf(subject));
  await fleet.remove(subject);
}

test.for<Kind>(['good', 'bad'])(
  'no write of a %s rollout is repeated when the worker dies between its effect and its reply',
  async (kind) => {
    const writes = calm.get(kind)?.end.writes.map((_, index) => index + 1) ?? [];
    expect(writes).toHaveLength(kind === 'good' ? 4 : 2);
    await lanes.each(writes, (stage, number) => killedBeforeTheReply(stage, kind, number, 'workload'));
    await replayKept();
  },
);

test.for<Kind>(['good', 'bad'])(
  'no event of a %s rollout is told twice when the worker dies between its effect and its reply',
  async (kind) => {
    const events = calm.get(kind)?.end.events.map((_, index) => index + 1) ?? [];
    expect(events.length).toBeGreaterThan(3);
    await lanes.each([events[0] ?? 1, events.length], (stage, number) =>
      killedBeforeTheReply(stage, kind, number, 'event'),
    );
    await replayKept();
  },
);

test.for<readonly [Kind, number]>([
  ['good', 1],
  ['good', 4],
  ['bad', 1],
  ['bad', 2],
])('a write of a dead worker that arrives late changes nothing (%s rollout, write %i)', async ([kind, number]) => {
  await lanes.run(async (stage) => {
    const subject = await fleet.prepare(stage.client, kind);
    let late: HeldWrite | null = null;
    const killed = stage.killAtRequest(nth(subject, number, 'workload'), (held) => {
      late = held;
    });
    await fleet.apply(subject);
    await killed;
    await stage.startWorker();
    await fleet.settled(subject);
    expect(await (late as HeldWrite | null)?.letGo()).toBe(409);
    expect(await fleet.endState(subject)).toEqual(calm.get(kind)?.end);
    await fleet.remove(subject);
  });
});

test('a block by a person is marked once when the worker dies between its effect and its reply', async () => {
  await lanes.run(async (stage) => {
    const subject = await fleet.prepare(stage.client, 'good');
    const handle = await fleet.apply(subject);
    await fleet.settled(subject);
    const killed = stage.killAtReply(nth(subject, 1, 'workload'));
    const image = `sha256:${'b'.repeat(64)}`;
    await handle.executeUpdate(actionUpdate('block'), { args: [{ by: 'ada', reason: 'known bad', image }] });
    await killed;
    await stage.startWorker();
    await fleet.settled(subject);
    const { writes, targets } = await fleet.endState(subject);
    expect(writes.slice(4)).toEqual(['NAME-a marks']);
    expect(targets['NAME-a']?.annotations['holdfast.dev/blocked']).toContain(image);
    await fleet.remove(subject);
  });
});

test('ownership is handed back once on each target when the worker dies between effect and reply', async () => {
  await lanes.run(async (stage) => {
    const subject = await fleet.prepare(stage.client, 'good');
    const handle = await fleet.apply(subject);
    await fleet.settled(subject);
    const killed = stage.killAtReply(nth(subject, 1, 'workload'));
    await handle.executeUpdate(actionUpdate('releaseOwnership'), { args: [{ by: 'ada', reason: 'moving on' }] });
    await killed;
    await stage.startWorker();
    await waitFor(
      `${releaseId(subject.name)} has ended`,
      async () => (await handle.describe()).status.name === 'COMPLETED',
    );
    const { writes, targets } = await fleet.endOfObjects(subject);
    expect(writes.slice(4)).toEqual(['NAME-a marks', 'NAME-b marks']);
    for (const target of Object.values(targets)) expect(target.annotations).toEqual({});
    await fleet.remove(subject);
  });
});
