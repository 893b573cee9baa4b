import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { actionSignal, actionUpdate, releaseId, rolloutId, statusQuery } from '../../src/workflows/release/messages.ts';
import { waitFor } from '../lab/wait.ts';
import type { Boundary, Moment } from './activity-moments.ts';
import { openFleet, type EndState, type Fleet, type Kind, type Subject } from './fleet.ts';
import { openLanes, type Lanes } from './lanes.ts';
import { keepHistories, replayKept } from './replay-kept.ts';
import { sampledSoak } from './soak-progress.ts';
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

/** A phase of a rollout, by the activity that is under way in it: `writeImage 2` is that of the second target, or the way back. */
interface Phase {
  readonly phase: string;
  readonly type: string;
  readonly nth: number;
  readonly moment: Moment;
}

const phases: Record<Kind, readonly Phase[]> = {
  good: [
    { phase: 'Preflight', type: 'preflight', nth: 1, moment: 'started' },
    { phase: 'Patching, before the patch', type: 'writeImage', nth: 1, moment: 'scheduled' },
    { phase: 'Patching, after the patch', type: 'writeImage', nth: 1, moment: 'unreported' },
    { phase: 'Rolling', type: 'watchRollout', nth: 1, moment: 'started' },
    { phase: 'Soaking', type: 'watchSoak', nth: 1, moment: 'started' },
    { phase: 'marking as passed', type: 'writeMarks', nth: 1, moment: 'unreported' },
    { phase: 'Soaking of the second target', type: 'watchSoak', nth: 2, moment: 'started' },
  ],
  bad: [
    { phase: 'Soaking', type: 'watchSoak', nth: 1, moment: 'started' },
    { phase: 'RollingBack, before the patch', type: 'writeImage', nth: 2, moment: 'scheduled' },
    { phase: 'RollingBack, after the patch', type: 'writeImage', nth: 2, moment: 'unreported' },
    { phase: 'Recovering', type: 'watchRollout', nth: 2, moment: 'started' },
  ],
};

async function terminate(stage: Stage, ids: readonly string[]): Promise<void> {
  for (const id of ids) await stage.client.workflow.getHandle(id).terminate('by a test');
}

function boundary(subject: Subject, { type, nth, moment }: Phase): Boundary {
  return { workflowId: rolloutId(subject.name), type, nth, moment };
}

/** What must be equal whatever was lost with the workflows: not the counts and the words that only they had. */
function lasting({ targets, status, writes }: EndState) {
  const { targets: seen, blocked } = status as {
    targets: readonly { name: string; phase: string; current: string; desired: string }[];
    blocked: readonly string[];
  };
  return {
    targets,
    writes,
    blocked,
    phases: seen.map(({ name, phase, current, desired }) => ({ name, phase, current, desired })),
  };
}

describe.each<Kind>(['good', 'bad'])('a %s rollout', { concurrent: true }, (kind) => {
  test.for(phases[kind])(
    'ends as it was to when release and rollout are terminated in $phase and a new run starts',
    async (phase) => {
      await lanes.run(async (stage) => {
        const subject = await fleet.prepare(stage.client, kind);
        const there = stage.reaches(boundary(subject, phase));
        await fleet.apply(subject);
        await there;
        await keepHistories(stage.client, workflowIdsOf(subject));
        await terminate(stage, [releaseId(subject.name), rolloutId(subject.name)]);
        await fleet.apply(subject);
        await fleet.settled(subject);
        const end = await fleet.endState(subject);
        expect(lasting(end)).toEqual(lasting(calm.get(kind)?.end ?? end));
        await keepHistories(stage.client, [releaseId(subject.name)]);
        await fleet.remove(subject);
      });
      await replayKept();
    },
  );
});

test('a rollout outlives its terminated release, and a new one takes it over with all that it has done', async () => {
  await lanes.run(async (stage) => {
    const subject = await fleet.prepare(stage.client, 'good');
    await fleet.apply(subject, { soak: '4s' });
    await sampledSoak(stage.client, subject.name, 2);
    await terminate(stage, [releaseId(subject.name)]);
    await fleet.apply(subject, { soak: '4s' });
    await fleet.settled(subject);
    expect(await fleet.endState(subject)).toEqual(calm.get('good')?.end);
    await fleet.remove(subject);
  });
});

test('a release notices at once that its rollout was terminated, and soaks the image that is there anew', async () => {
  await lanes.run(async (stage) => {
    const subject = await fleet.prepare(stage.client, 'good');
    await fleet.apply(subject, { soak: '4s' });
    await sampledSoak(stage.client, subject.name, 2);
    const rollout = stage.client.workflow.getHandle(rolloutId(subject.name));
    const { runId } = await rollout.describe();
    await terminate(stage, [rolloutId(subject.name)]);
    await waitFor('another rollout', async () => (await rollout.describe()).runId !== runId);
    await fleet.settled(subject);
    expect((await fleet.endState(subject)).writes).toEqual(calm.get('good')?.end.writes);
    await fleet.remove(subject);
  });
});

test('what a person has blocked stays blocked through a terminate', async () => {
  await lanes.run(async (stage) => {
    const subject = await fleet.prepare(stage.client, 'good');
    const handle = await fleet.apply(subject, { pin: '1.0.0' });
    await waitFor('nothing to do', async () => (await handle.query(statusQuery)).phase === 'Current');
    const image = fleet.images.new.digest;
    await handle.executeUpdate(actionUpdate('block'), { args: [{ by: 'ada', reason: 'known bad', image }] });
    await waitFor('the block is marked', async () => {
      const { targets } = await fleet.endOfObjects(subject);
      return targets['NAME-a']?.annotations['holdfast.dev/blocked']?.includes(image);
    });
    await terminate(stage, [releaseId(subject.name)]);
    const again = await fleet.apply(subject);
    const status = await waitFor('the new run has looked', async () => {
      const seen = await again.query(statusQuery);
      return seen.targets.length > 0 && seen.targets.every((t) => t.phase === 'Held') ? seen : null;
    });
    expect(status.blocked.map((b) => b.image)).toEqual([image]);
    expect((await fleet.endState(subject)).writes).toEqual(['NAME-a marks']);
    await fleet.remove(subject);
  });
});

test('what is said to a release before any worker has seen it is heard', async () => {
  await lanes.run(async (stage) => {
    const subject = await fleet.prepare(stage.client, 'good');
    await stage.stopWorker();
    const handle = await fleet.apply(subject);
    await handle.signal(actionSignal('pause'), { by: 'ada', reason: 'not yet' });
    await stage.startWorker();
    const status = await waitFor('it is paused', async () => {
      const seen = await handle.query(statusQuery);
      return seen.paused === null ? null : seen;
    });
    expect(status.paused).toMatchObject({ by: 'ada', reason: 'not yet' });
    await fleet.remove(subject);
  });
});
