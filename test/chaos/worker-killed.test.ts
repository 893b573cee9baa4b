import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { inWords, MOMENTS, type Boundary } from './activity-moments.ts';
import { recordOf, sampleOf } from './boundaries.ts';
import { openFleet, type Fleet, type Kind } from './fleet.ts';
import { openLanes, type Lanes } from './lanes.ts';
import { keepHistories, replayKept } from './replay-kept.ts';
import type { Stage } from './stage.ts';
import { boundaryIn, undisturbedRun, workflowIdsOf, type Undisturbed } from './undisturbed.ts';

/** `HOLDFAST_CHAOS=all` tries every boundary, which takes some ten minutes; else the sample of boundaries.ts. */
const all = process.env['HOLDFAST_CHAOS'] === 'all';
const lab = inject('lab');
let fleet: Fleet;
let lanes: Lanes;
const calm = new Map<Kind, Undisturbed>();

beforeAll(async () => {
  fleet = await openFleet(lab);
  lanes = await openLanes(lab, 3);
});

afterAll(async () => {
  await lanes.close();
  await fleet.close();
});

/** Kills the worker at the boundary, starts another one, and gives back what the release comes to. */
async function killedAt(stage: Stage, kind: Kind, boundary: Boundary) {
  const subject = await fleet.prepare(stage.client, kind);
  const there = boundaryIn(subject, boundary);
  const killed = stage.killAt(there);
  await fleet.apply(subject);
  await killed;
  const record = await recordOf(stage.client, there);
  const at = Date.now();
  await stage.startWorker();
  await fleet.settled(subject);
  const took = Date.now() - at;
  const end = await fleet.endState(subject);
  await keepHistories(stage.client, workflowIdsOf(subject));
  await fleet.remove(subject);
  return { end, record, took };
}

describe.each<Kind>(['good', 'bad'])('a %s rollout', (kind) => {
  beforeAll(async () => {
    calm.set(kind, await lanes.run((stage) => undisturbedRun(fleet, stage, kind)));
  });

  test('ends as it was to, undisturbed', () => {
    const { end } = calm.get(kind) ?? {};
    const images = Object.values(end?.targets ?? {}).map((t) => t.image);
    const { old, new: wanted } = fleet.images;
    expect(images).toEqual(kind === 'good' ? [wanted.reference, wanted.reference] : [old.reference, old.reference]);
  });

  test.for(MOMENTS)(
    'ends as if nothing had happened when the worker is killed as an activity is %s',
    { timeout: 1_800_000 },
    async (moment, { annotate }) => {
      const { end, boundaries = [] } = calm.get(kind) ?? {};
      const chosen = (all ? boundaries : sampleOf(boundaries)).filter((b) => b.moment === moment);
      expect(chosen.length).toBeGreaterThan(0);
      const took: number[] = [];
      const failures: string[] = [];
      await lanes.each(chosen, async (stage, boundary) => {
        try {
          const run = await killedAt(stage, kind, boundary);
          expect(run.record).toBe(moment === 'completed' ? 'done' : 'open');
          expect(run.end).toEqual(end);
          took.push(run.took);
        } catch (error) {
          failures.push(`${inWords(boundary)}: ${error instanceof Error ? error.message : String(error)}`);
          await stage.reset();
        }
      });
      took.sort((a, b) => a - b);
      await annotate(`${took.length} of ${chosen.length}; from the new worker to the end ${took.join(' ')} ms`);
      expect(failures).toEqual([]);
      await replayKept();
    },
  );
});
