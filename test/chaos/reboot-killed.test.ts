import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitFor } from '../lab/wait.ts';
import { MOMENTS } from './activity-moments.ts';
import type { HeldWrite } from './api-proxy.ts';
import { deathInWords, openRebootStage, type Campaign, type Death, type RebootStage } from './reboot-stage.ts';
import { rebootWrite } from './reboot-writes.ts';
import { keepHistories, replayKept } from './replay-kept.ts';

/**
 * A worker in a process of its own is killed by SIGKILL while it reboots two nodes, one after the other. `HOLDFAST_CHAOS=all`
 * kills it at every boundary of every activity and on both sides of every write, which takes some forty minutes; else one campaign
 * meets a few of each. The observer of the stage sees the whole time that no second node is touched.
 */
const all = process.env['HOLDFAST_CHAOS'] === 'all';
let stage: RebootStage;

beforeAll(async () => {
  stage = await openRebootStage();
});

afterAll(() => stage.close());

/** Of the turn of a node, in their order. */
const activities = [
  ...['takeLock', 'gatesBefore', 'cordon', 'movePrimaries', 'drain', 'lastCheck', 'rebootNode', 'awaitReturn'],
  ...['checkNode', 'uncordon', 'settle', 'releaseLock'],
];
const writes = (node: string) => [
  ...['Locking', 'Gating', 'Cordoning'].map((phase) => `lock ${phase} of ${node}`),
  `cordon ${node}`,
  ...['Moving', 'Draining'].map((phase) => `lock ${phase} of ${node}`),
  'evict',
  ...['LastCheck', 'Rebooting'].map((phase) => `lock ${phase} of ${node}`),
  `reboot ${node}`,
  ...['Returning', 'Checking', 'Uncordoning'].map((phase) => `lock ${phase} of ${node}`),
  `uncordon ${node}`,
  `lock Settling of ${node}`,
  'release',
];
const turns = [
  { node: 'n1', nth: 1 },
  { node: 'n2', nth: 2 },
];

/** One campaign for each kind of death, with as many deaths as it has boundaries of that kind. */
const each: readonly { readonly what: string; readonly deaths: readonly Death[] }[] = [
  ...MOMENTS.map((moment) => ({
    what: `at every activity as it is ${moment}`,
    deaths: turns.flatMap(({ nth }) => activities.map((activity): Death => ({ activity, nth, moment }))),
  })),
  ...(['before', 'reply'] as const).map((when) => ({
    what: when === 'before' ? 'before every write' : 'between the effect of every write and its reply',
    deaths: turns.flatMap(({ node }) => writes(node).map((write): Death => ({ write, when }))),
  })),
];
const sample: typeof each = [
  {
    what: 'at some activities, and around some writes',
    deaths: [
      { activity: 'rebootNode', nth: 1, moment: 'unreported' },
      { write: 'cordon n2', when: 'reply' },
      { write: 'reboot n2', when: 'before' },
      { write: 'release', when: 'reply' },
    ],
  },
];

const asUndisturbed = {
  lock: {},
  nodes: [1, 2, 3].map(() => ({ unschedulable: false, mark: null })),
  told: [1, 1, 0],
  boots: [1, 1, 0],
};

/** Kills the worker at each of the deaths, in order, and lets one live at the end. @returns what never arrived */
async function killEach(campaign: Campaign, deaths: readonly Death[]): Promise<HeldWrite[]> {
  const late: HeldWrite[] = [];
  for (const death of deaths) {
    const dead = campaign.dies(death, (held) => late.push(held));
    await stage.stage.startWorker();
    try {
      await dead;
    } catch (error) {
      throw new Error(`${deathInWords(death)}: ${String(error)}`, { cause: error });
    }
  }
  await stage.stage.startWorker();
  return late;
}

/**
 * What a dead worker had sent arrives after all, and each of it is refused; but a pod that reboots, whose own turn is over, is
 * made and finds another boot on its host.
 */
async function arrivesLate(late: readonly HeldWrite[]): Promise<void> {
  let made = 0;
  for (const held of late) {
    const { write } = held;
    const status = await held.letGo();
    if (status === 201 && rebootWrite(write)?.startsWith('reboot ') === true) made += 1;
    // The pod of a late eviction is gone.
    else expect({ write, status }).toMatchObject({ status: rebootWrite(write) === 'evict' ? 404 : 409 });
  }
  const told = async () => (await stage.endState()).told.reduce((sum, count) => sum + count, 0);
  await waitFor('each pod that came late has compared boots', async () => (await told()) === 2 + made);
  const { told: _, ...end } = await stage.endState();
  expect(asUndisturbed).toMatchObject(end);
}

/** How often the lock was given back, as the observer saw it. */
function releases({ name }: Campaign): number {
  const lock = stage.observer.story().filter((fact) => fact.kind === 'lock');
  return lock.filter((fact, index) => fact.lock === null && lock[index - 1]?.lock?.campaign === name).length;
}

async function endsAsUndisturbed(campaign: Campaign): Promise<void> {
  await campaign.done();
  expect(await stage.endState()).toEqual(asUndisturbed);
  expect(releases(campaign)).toBe(2);
  await keepHistories(stage.stage.client, [campaign.handle.workflowId]);
  await campaign.act('cancel');
  await campaign.handle.result();
  await stage.stage.reset();
}

describe('NR-16 NR-47 NR-48 NR-50 NR-67 two nodes are each told once, one after the other, and replay, when the worker is killed', () => {
  test.for(all ? each : sample)('$what', { timeout: 1_800_000 }, async ({ deaths }) => {
    stage.wish();
    const campaign = await stage.start();
    const late = await killEach(campaign, deaths);
    await endsAsUndisturbed(campaign);
    await arrivesLate(late);
    await replayKept();
  });
});

/** SIGKILL, and the same server again on the same port and file. */
async function bounceTemporal(): Promise<void> {
  await stage.lab.kill('temporal');
  await stage.lab.start('temporal');
}

test('two nodes are each told to reboot once when the Temporal server is killed as they are', async () => {
  stage.wish();
  await stage.stage.startWorker();
  const campaign = await stage.start();
  const deaths = all ? activities : ['rebootNode'];
  for (const type of deaths) {
    await stage.stage.reaches({ workflowId: campaign.handle.workflowId, type, nth: 1, moment: 'unreported' });
    await bounceTemporal();
  }
  await endsAsUndisturbed(campaign);
  await replayKept();
});

/** Longer than a request may take, and a node to return; a silent watch counts as dead after three minutes. */
const awayMs = all ? 200_000 : 16_000;

test(
  'NR-55 an API server that is away across the boot, for longer than every time-out, is not taken for a node that is down',
  { timeout: 900_000 },
  async () => {
    stage.wish();
    const disturbed = all ? ['n1', 'n2'] : ['n2'];
    for (const name of disturbed) stage.hosts.setFaults(name, { returns: 'power-button' });
    await stage.stage.startWorker();
    const campaign = await stage.start({ returnTimeout: '10s' });
    const away = async (name: string) => {
      await campaign.until(`${name} is out`, ({ turn }) => turn?.node === name && turn.phase === 'Returning');
      await waitFor(`${name} is down`, () => !stage.hosts.isUp(name));
      await stage.lab.kill('kube-apiserver');
      await sleep(awayMs);
    };
    if (all) {
      await away('n1');
      stage.hosts.pressPower('n1');
      await waitFor('n1 is up', () => stage.hosts.isUp('n1'));
      await stage.lab.start('kube-apiserver');
    }
    // This one takes longer than the API server, and past its deadline.
    await away('n2');
    await stage.lab.start('kube-apiserver');
    await sleep(3_000);
    stage.hosts.pressPower('n2');
    const { personNext } = await campaign.done();
    // Nobody was told that a node hangs, or had done nothing.
    expect(personNext).toBeNull();
    for (const name of disturbed) stage.hosts.setFaults(name, {});
    await endsAsUndisturbed(campaign);
    await replayKept();
  },
);
