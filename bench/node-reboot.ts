// What reboots cost: requests to the API server and events of the workflow's history, of one node with ten pods, of a
// campaign in which nothing wants a reboot, and of one that waits a week for its window. Hosts are simulated, all else is real.
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { NodeRebootSpecInput } from '../src/domain/node-reboot/spec.ts';
import { fillNode } from '../test/e2e/pods-of-a-node.ts';
import { beginCosts, costsSince, countEach, type RebootCosts } from '../test/e2e/reboot-costs.ts';
import { openRebootStage, type Campaign } from '../test/e2e/reboot-stage.ts';
import { startLab } from '../test/lab/lab.ts';
import { simulateHosts } from '../test/lab/simulated-hosts.ts';
import { waitFor } from '../test/lab/wait.ts';

const PODS = 10;
/** Looks that a campaign is watched for while it waits. */
const LOOKS = 6;
/** A wait ends by itself every six hours, and begins anew. */
const WAITS_A_WEEK = 28;
/** Looks an hour at the interval that a spec has when it names none. */
const LOOKS_AN_HOUR = 4;
/** A node rests for half an hour after it is uncordoned, and is looked at every five minutes. */
const LOOKS_OF_SETTLING = 7;
/** What was set as the goal for one node. */
const GOAL = { events: 400, requests: 100 + 5 * PODS } as const;

const names = ['n1', 'n2', 'n3'];
const wish = ['linux-image-6.14.0-37-generic'];
/** As a spec has them that names none. */
const gates = {};
/** How many waits are over as soon as they have looked once: a week of them in seconds. */
let shortWaits = 0;

Runtime.install({ logger: new DefaultLogger('ERROR') });
const lab = await startLab({ parts: ['temporal', 'control-plane'], log: () => {} });
const { env } = lab;
const hosts = await simulateHosts(env, names);
const stage = await openRebootStage(lab, names, 'simulated', (shipped) => ({
  ...shipped,
  awaitCampaignChange: (input) => {
    if (shortWaits === 0) return shipped.awaitCampaignChange(input);
    shortWaits -= 1;
    return shipped.awaitCampaignChange({ ...input, until: Date.now() });
  },
}));
const missed: string[] = [];
try {
  await fillNode(env, names, 'n1', PODS);
  await oneNode();
  await idle();
  await closedWindow();
  console.log(`${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown processor'}`);
} finally {
  await hosts.stop();
  await stage.close();
}
for (const miss of missed) console.error(`goal missed: ${miss}`);
if (missed.length > 0) process.exitCode = 1;

/** Of the first of three nodes, from its approval to the offer of the next one: so much each node adds to a campaign. */
async function oneNode(): Promise<void> {
  for (const name of names) hosts.setSentinel(name, wish);
  const campaign = await stage.apply({ gates, interval: '15m' });
  await campaign.until('n1 is offered', (s) => s.waiting?.next.includes('--node n1 ') === true);
  const since = await beginCosts(env, campaign.handle);
  await campaign.approve('n1');
  await campaign.until('n2 is offered', (s) => s.waiting?.next.includes('--node n2 ') === true);
  const costs = await costsSince(env, campaign.handle, since);
  await campaign.end();
  for (const name of names) hosts.setSentinel(name, null);
  console.log(
    `\nOne node of three, with ${PODS} pods of a Deployment, from its approval to the offer of the next one:`,
  );
  printCosts(costs);
  const settling = costs.requests.filter(({ step, what }) => step === 'settle' && !what.endsWith(' configmaps'));
  const looks = settling.filter(({ what }) => what === 'list nodes').length;
  const each = Math.round(settling.length / looks);
  const whole = costs.requests.length + each * (LOOKS_OF_SETTLING - looks);
  console.log(
    `it settled in ${looks} looks of ${each} requests; with the 30m of a spec that names no time ${LOOKS_OF_SETTLING} looks, ${whole} requests`,
  );
  expectAtMost('history events of one node', costs.events.length, GOAL.events - 1);
  expectAtMost(`API requests of one node with ${PODS} pods`, whole, GOAL.requests);
}

async function idle(): Promise<void> {
  const campaign = await stage.apply({ gates });
  await campaign.until('nothing wants a reboot', (s) => s.phase === 'Idle');
  await waitOf(campaign, 'nothing wants a reboot');
}

async function closedWindow(): Promise<void> {
  hosts.setSentinel('n1', wish);
  const campaign = await stage.apply({ gates, approval: 'None', windows: [sixDaysFromNow()] });
  await campaign.until('its window is closed', (s) => s.waiting?.reason === 'OutsideWindow');
  await waitOf(campaign, 'one node waits for its window');
}

/** What a wait costs a look, by some looks, and a week, by the 28 waits that a week has. */
async function waitOf(campaign: Campaign, what: string): Promise<void> {
  const since = await beginCosts(env, campaign.handle);
  const looksOf = ({ requests }: RebootCosts) => requests.filter(({ what: made }) => made === 'get configmaps').length;
  const watched = await waitFor(
    `${LOOKS} looks`,
    async () => {
      await sleep(5_000);
      const costs = await costsSince(env, campaign.handle, since);
      return looksOf(costs) >= LOOKS ? costs : null;
    },
    LOOKS * 20_000,
  );
  // The last look may not have ended.
  const whole = watched.requests.slice(
    0,
    watched.requests.findLastIndex(({ what: made }) => made === 'get configmaps'),
  );
  const each = Math.round(whole.length / (looksOf(watched) - 1));
  console.log(`\nA campaign of ${names.length} nodes, ${what}: ${looksOf(watched)} looks`);
  console.log(
    `${each} requests a look, ${each * LOOKS_AN_HOUR} an hour at the interval of 15m; ${watched.events.length} events`,
  );
  console.log(listed(whole.map(({ what: made }) => made)));
  expectAtMost(`history events of ${looksOf(watched)} looks`, watched.events.length, 0);

  const week = await beginCosts(env, campaign.handle);
  shortWaits = WAITS_A_WEEK;
  await campaign.act('runNow');
  await waitFor('the waits of a week are over', () => shortWaits === 0, 300_000);
  const { events } = await costsSince(env, campaign.handle, week);
  console.log(`a week of it, which is ${WAITS_A_WEEK} waits of six hours: ${events.length} events`);
  await campaign.end();
}

function sixDaysFromNow(): NonNullable<NodeRebootSpecInput['windows']>[number] {
  const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
  const day = days[(new Date().getUTCDay() + 6) % 7] ?? 'Sun';
  return { days: [day], from: '03:00', to: '06:00', timeZone: 'UTC' };
}

function printCosts({ requests, events }: RebootCosts): void {
  const eventsOf = new Map(countEach(events));
  const steps = countEach(requests.map(({ step }) => step));
  for (const [step, count] of steps) {
    const made = requests.filter((request) => request.step === step).map(({ what }) => what);
    console.log(
      `  ${step.padEnd(16)} ${String(count).padStart(3)} requests ${String(eventsOf.get(step) ?? 0).padStart(3)} events  ${listed(made)}`,
    );
  }
  console.log(`${requests.length} requests, ${events.length} events`);
}

function listed(names: readonly string[]): string {
  return countEach(names)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

function expectAtMost(what: string, found: number, most: number): void {
  if (found > most) missed.push(`${what}: ${found}, and at most ${most} were to be`);
}
