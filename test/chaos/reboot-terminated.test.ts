import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { waitFor } from '../lab/wait.ts';
import { doByHand } from './by-hand.ts';
import { openRebootStage, type Campaign, type RebootStage } from './reboot-stage.ts';

/**
 * The workflow is terminated in each phase, which gives it no chance to act: what is left is lock and node. Either a new campaign
 * of that name goes on from there, or a person does by the commands in the lock. `HOLDFAST_CHAOS=all` tries every phase.
 */
const all = process.env['HOLDFAST_CHAOS'] === 'all';
let stage: RebootStage;

beforeAll(async () => {
  stage = await openRebootStage();
});

afterAll(() => stage.close());

const undisturbed = { lock: {}, nodes: [1, 2, 3].map(() => ({ unschedulable: false, mark: null })) };
const beforeReboot = ['Locking', 'Gating', 'Cordoning', 'Moving', 'Draining', 'LastCheck'];
/** From here on the node was told. */
const afterReboot = ['Returning', 'Checking', 'Uncordoning', 'Settling'];
const some = (phases: readonly string[], ...sample: readonly string[]) => (all ? phases : sample);

beforeEach(() => {
  stage.wish();
  stage.hosts.setSentinel('n2', null);
});

const start = (name?: string) => stage.start({ nodes: ['n1'], returnTimeout: '8s' }, name);

/** A campaign whose worker dies as the lock says the phase, and before that is done for which the phase is. */
async function terminatedIn(phase: string): Promise<Campaign> {
  const campaign = await start();
  const dead = campaign.dies({ write: `lock ${phase} of n1`, when: 'reply' });
  await stage.stage.startWorker();
  await dead;
  await campaign.handle.terminate('by a test');
  expect(await stage.lock()).toMatchObject({ campaign: campaign.name, node: 'n1', phase });
  return campaign;
}

async function done(campaign: Campaign): Promise<void> {
  await campaign.until('n1 is done', ({ phase, nodes }) => phase === 'Idle' && nodes[0]?.reboot === 'done');
}

async function end(campaign: Campaign): Promise<void> {
  await campaign.act('cancel');
  await campaign.handle.result();
  await stage.stage.reset();
}

describe('NR-66 NR-89 a campaign that is terminated is gone on with by a new one of its name', () => {
  test.for(some(beforeReboot, 'Draining'))(
    'in %s, which gives the node back, and asks a person from then on',
    async (phase) => {
      const { name } = await terminatedIn(phase);
      await stage.stage.startWorker();
      const again = await start(name);
      await again.until('a person is asked', ({ turn, personNext }) => turn === null && personNext !== null);
      expect(await stage.endState()).toEqual({ ...undisturbed, told: [0, 0, 0], boots: [0, 0, 0] });
      await end(again);
    },
  );

  test.for(some(['Rebooting'], 'Rebooting'))('in %s, which waits for a boot and tells none', async (phase) => {
    const { name } = await terminatedIn(phase);
    await stage.stage.startWorker();
    const again = await start(name);
    await again.until('it says so', ({ stopped }) => stopped?.reason === 'RebootDidNothing');
    expect(await stage.node('n1')).toMatchObject({ unschedulable: true });
    expect(await stage.lock()).toMatchObject({ node: 'n1', phase: 'Returning' });
    // A person reboots it by hand, and says so.
    await bootByHand();
    await again.act('retry');
    await done(again);
    expect(await stage.endState()).toEqual({ ...undisturbed, told: [0, 0, 0], boots: [1, 0, 0] });
    await end(again);
  });

  test.for(some(afterReboot))('in %s, which finishes the node and tells it nothing', async (phase) => {
    const { name } = await terminatedIn(phase);
    await stage.stage.startWorker();
    const again = await start(name);
    await waitFor('the lock is free', async () => Object.keys(await stage.lock()).length === 0);
    expect(await stage.endState()).toEqual({ ...undisturbed, told: [1, 0, 0], boots: [1, 0, 0] });
    await end(again);
  });
});

async function bootByHand(): Promise<void> {
  const { bootId } = await stage.node('n1');
  stage.hosts.cutPower('n1');
  stage.hosts.pressPower('n1');
  await waitFor('another boot', async () => (await stage.node('n1')).bootId !== bootId);
}

describe('NR-66 a person goes on by the commands in the lock of a campaign that is terminated', () => {
  const phases = [...beforeReboot, 'Rebooting', ...afterReboot];
  test.for(some(phases, 'Returning'))('in %s, and the next campaign finds all as it was', async (phase) => {
    const { name } = await terminatedIn(phase);
    if (phase === 'Rebooting') await bootByHand();
    await waitFor('n1 is up', () => stage.hosts.isUp('n1'));
    await doByHand(stage.lab.env, (await stage.lock())['undo'] ?? '');
    expect(await stage.lock()).toEqual({});
    expect(await stage.node('n1')).toMatchObject({ unschedulable: false, mark: null });
    // Whatever it is that the node wants now, a new campaign does it.
    stage.hosts.setSentinel('n1', ['libc6']);
    await stage.stage.startWorker();
    const again = await start(name);
    await done(again);
    expect(await stage.endState()).toMatchObject(undisturbed);
    await end(again);
  });
});
