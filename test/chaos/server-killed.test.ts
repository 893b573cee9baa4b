import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { rolloutId } from '../../src/workflows/release/messages.ts';
import { attachLab, type Lab } from '../lab/lab.ts';
import { openFleet, type Fleet, type Kind, type Subject } from './fleet.ts';
import { keepHistories, replayKept } from './replay-kept.ts';
import { sampledSoak, soakProgress } from './soak-progress.ts';
import { openStage, type Stage } from './stage.ts';
import { undisturbedRun, workflowIdsOf, type Undisturbed } from './undisturbed.ts';

const env = inject('lab');
let lab: Lab;
let fleet: Fleet;
let stage: Stage;
const calm = new Map<Kind, Undisturbed>();

beforeAll(async () => {
  lab = await attachLab(env.dir);
  fleet = await openFleet(env);
  stage = await openStage(env);
  await stage.startWorker();
  for (const kind of ['good', 'bad'] as const) calm.set(kind, await undisturbedRun(fleet, stage, kind));
});

afterAll(async () => {
  await stage.close();
  await fleet.close();
});

/** SIGKILL, and the same server again on the same port and file. */
async function bounceServer(): Promise<void> {
  await lab.kill('temporal');
  await lab.start('temporal');
}

async function endsAsUndisturbed(subject: Subject): Promise<void> {
  await fleet.settled(subject);
  expect(await fleet.endState(subject)).toEqual(calm.get(subject.kind)?.end);
  await keepHistories(stage.client, workflowIdsOf(subject));
  await replayKept();
  await fleet.remove(subject);
}

test('a soak goes on where it was when the Temporal server is killed and comes back', async () => {
  const subject = await fleet.prepare(stage.client, 'good');
  await fleet.apply(subject, { soak: '10s' });
  const before = await sampledSoak(stage.client, subject.name, 3);
  await bounceServer();
  const after = await soakProgress(stage.client, rolloutId(subject.name));
  expect(after?.samples).toBeGreaterThanOrEqual(before.samples);
  await endsAsUndisturbed(subject);
});

test('an image that turns bad while the Temporal server is down is rolled back once it is up', async () => {
  const subject = await fleet.prepare(stage.client, 'bad');
  const soaks = stage.reaches({ workflowId: rolloutId(subject.name), type: 'watchSoak', nth: 1, moment: 'scheduled' });
  await fleet.apply(subject);
  await soaks;
  await bounceServer();
  await endsAsUndisturbed(subject);
});

test('server and worker killed together in the middle of a write: nothing is repeated', async () => {
  const subject = await fleet.prepare(stage.client, 'bad');
  let images = 0;
  const killed = stage.killAtReply(({ method, path }) => {
    if (method === 'PATCH' && path.endsWith(`/deployments/${subject.targets[0] ?? ''}`)) images += 1;
    // The second one is the way back.
    return images === 2;
  });
  await fleet.apply(subject);
  await killed;
  await bounceServer();
  await stage.startWorker();
  await endsAsUndisturbed(subject);
});
