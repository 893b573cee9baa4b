import type { NodeRebootStatus } from '../../../../src/domain/node-reboot/status.ts';
import { lockName } from '../../../../src/domain/node-reboot/by-hand.ts';
import { hostPods } from '../../../../src/domain/node-reboot/pod.ts';
import type { CliRun } from '../../../unit/cli/run-cli.ts';
import { readAudit } from '../../access.ts';
import { kube } from '../../kube-api.ts';
import type { RebootNode } from '../../reboot-nodes.ts';
import { waitFor } from '../../wait.ts';
import { claim, runHoldfast } from '../story.ts';
import type { Chapter } from '../tell-story.ts';
import type { Timeline } from '../timeline.ts';
import { shownNodes, type NodesFollower, type ShownNode } from './follow-nodes.ts';
import type { Pager } from './pager.ts';
import { RETURN_SECONDS, type RebootStage } from './reboot-stage.ts';

/** What a chapter works with. */
export interface RebootTeller {
  readonly stage: RebootStage;
  readonly timeline: Timeline;
  readonly follower: NodesFollower;
  /** Aborted when the person leaves. */
  readonly signal: AbortSignal;
}

/** In their order. Each claims what the API server and the machines themselves must bear out. */
export const REBOOT_CHAPTERS: readonly Chapter<RebootTeller>[] = [
  { title: 'Three nodes want a reboot; one is approved, and a gate holds it back and says why', tell: blockedGate },
  { title: 'The gate is lifted: drained, rebooted, proven, back at work', tell: firstNode },
  { title: 'The next one waits for an approval of its own, by the command that status prints', tell: secondNode },
  { title: 'The last one hangs: held, paged, nothing else touched', tell: hangs },
  { title: 'A person presses its power button; what comes back is checked like any other', tell: comesBack },
];

async function blockedGate(teller: RebootTeller): Promise<void> {
  const { stage, timeline, follower } = teller;
  timeline.tell('you', 'an upgrade of libc6 leaves /run/reboot-required on all three nodes');
  for (const name of stage.nodes.names) stage.nodes.setSentinel(name, ['libc6']);
  await setCordon(teller, 'reboot-3', true);
  await holdfast(teller, ['run', '-f', stage.specFile, '--wait'], 4);
  await approve(teller, 'reboot-1', 'upgraded libc6');
  await follower.until('the gates hold it back', ({ waiting }) => waiting?.reason === 'Gates');
  await holdfast(teller, ['status', `nodereboot/${stage.name}`]);
  claim(teller, 'nobody holds the lock', await lock(stage), {});
  claim(teller, 'Holdfast has cordoned none, and told none to reboot', await touched(stage), {
    cordoned: ['reboot-3'],
    told: [0, 0, 0],
  });
}

async function firstNode(teller: RebootTeller): Promise<void> {
  await reboot(teller, 'reboot-1', () => setCordon(teller, 'reboot-3', false));
  const { shop } = teller.stage;
  const on = (await shop.pods()).map(({ node }) => node);
  claim(teller, 'its pods went to other nodes', on.includes('reboot-1'), false);
  claim(teller, 'and one of them was ready all the while', (await shop.fewestReady()) >= 1, true);
  const { granted, refused } = await evictions(teller.stage);
  claim(
    teller,
    `for its budget refused an eviction ${refused} times, until the first pod had its successor`,
    [granted, refused > 0],
    [2, true],
  );
}

function secondNode(teller: RebootTeller): Promise<void> {
  return reboot(teller, 'reboot-2', () => approve(teller, 'reboot-2', 'the first one was well'));
}

async function hangs(teller: RebootTeller): Promise<void> {
  const { stage, timeline, follower } = teller;
  const { nodes, pager } = stage;
  timeline.tell('you', 'from now on reboot-3 stays off until somebody presses its power button');
  nodes.setFaults('reboot-3', { returns: 'power-button' });
  await approve(teller, 'reboot-3', 'the second one was well');
  await follower.until('reboot-3 hangs', ({ phase }) => phase === 'Hung');
  claim(teller, `after ${RETURN_SECONDS} s somebody was paged, once`, pagesOf(pager), ['Hung']);
  const asked = pager.taken
    .filter(({ severity }) => severity === 'warning')
    .map(({ what, text }) => [what, nodeOf(text)]);
  const offered = stage.nodes.names.map((name) => ['AwaitingApproval', name]);
  claim(teller, 'and was told of each node that waited for a yes, once and without a page', asked, offered);
  const { campaign, node, phase } = await lock(stage);
  claim(teller, 'the lock is held for it', [campaign, node, phase], [stage.name, 'reboot-3', 'Returning']);
  const others = (await shownNodes(stage)).filter(({ name }) => name !== 'reboot-3');
  claim(teller, 'both other nodes are at work', others.every(isAtWork), true);
  claim(teller, 'and were told to reboot once, as this one was', (await touched(stage)).told, [1, 1, 1]);
  await holdfast(teller, ['status', `nodereboot/${stage.name}`]);
}

async function comesBack(teller: RebootTeller): Promise<void> {
  const { stage, timeline, follower } = teller;
  const { nodes, pager } = stage;
  const before = (await shownNodes(stage)).find(({ name }) => name === 'reboot-3')?.bootId;
  timeline.tell('you', 'go to the machine and press its power button');
  nodes.setFaults('reboot-3', {});
  nodes.pressPower('reboot-3');
  const { personNext } = await follower.until('all are done', ({ phase }) => phase === 'Idle');
  const after = await shownNodes(stage);
  claim(teller, 'all three nodes are at work', after.every(isAtWork), true);
  claim(teller, 'reboot-3 as another boot', after.find(({ name }) => name === 'reboot-3')?.bootId === before, false);
  claim(teller, 'each was told once', (await touched(stage)).told, [1, 1, 1]);
  claim(teller, 'the lock is free again', await lock(stage), {});
  await waitFor('the pods on hosts are gone', async () => (await podsOnHosts(stage)).length === 0);
  claim(teller, 'nothing that asked a host or rebooted it is left', await podsOnHosts(stage), []);
  claim(teller, 'nobody was paged a second time', pagesOf(pager), ['Hung']);
  claim(teller, 'and a person is asked before another node, whatever the spec says', personNext === null, false);
}

/** The turn of one node, without a hitch. @param lift lets it go */
async function reboot(teller: RebootTeller, name: RebootNode, lift: () => Promise<void>): Promise<void> {
  const { stage, follower } = teller;
  const boots = new Map((await shownNodes(stage)).map((node) => [node.name, node.bootId]));
  await lift();
  await follower.until(`the lock is taken for ${name}`, ({ turn }) => turn?.node === name);
  await follower.until(
    `${name} is done`,
    ({ turn, nodes }) => turn === null && nodes.some(({ node, reboot: is }) => node === name && is === 'done'),
  );
  const after = await shownNodes(stage);
  claim(teller, 'every node is at work', after.every(isAtWork), true);
  const changed = after.filter((node) => node.bootId !== boots.get(node.name)).map((node) => node.name);
  claim(teller, `${name} as another boot, the others as the same`, changed, [name]);
}

/** With the command that status prints, as it prints it. */
async function approve(teller: RebootTeller, name: RebootNode, reason: string): Promise<void> {
  const offers = (status: NodeRebootStatus) => status.waiting?.next.includes(`--node ${name} `) === true;
  const { waiting } = await teller.follower.until(`an offer of ${name}`, offers);
  const [, ...printed] = waiting?.next.split(' ') ?? [];
  await holdfast(teller, [...printed, '--reason', reason]);
}

function holdfast({ stage, timeline, signal }: RebootTeller, args: readonly string[], expected = 0): Promise<CliRun> {
  signal.throwIfAborted();
  const env = { TEMPORAL_ADDRESS: stage.lab.temporalAddress, HOLDFAST_USER: 'ada' };
  return runHoldfast({ timeline, folder: stage.folder, env, inLines: true }, args, expected);
}

async function setCordon({ stage, timeline }: RebootTeller, name: RebootNode, cordoned: boolean): Promise<void> {
  timeline.tell('you', `$ kubectl ${cordoned ? 'cordon' : 'uncordon'} ${name}`);
  const body = { spec: { unschedulable: cordoned ? true : null } };
  await kube(stage.lab, 'PATCH', `/api/v1/nodes/${name}`, { body, contentType: 'application/merge-patch+json' });
}

async function lock({ lab }: RebootStage): Promise<Readonly<Record<string, string>>> {
  const path = `/api/v1/namespaces/${lockName.namespace}/configmaps/${lockName.name}`;
  return (await kube<{ data?: Record<string, string> }>(lab, 'GET', path)).data ?? {};
}

/** How often an eviction from reboot-1 was granted by the API server, and refused for a budget, since the story began. */
async function evictions({ lab, audit }: RebootStage): Promise<{ readonly granted: number; readonly refused: number }> {
  const codes = (await readAudit(lab, audit))
    .filter(({ objectRef }) => objectRef?.subresource === 'eviction')
    .map(({ responseStatus }) => responseStatus?.code);
  return { granted: codes.filter((code) => code === 201).length, refused: codes.filter((code) => code === 429).length };
}

function pagesOf({ taken }: Pager): string[] {
  return taken.filter(({ severity }) => severity === 'page').map(({ what }) => what);
}

function nodeOf(text: string): string | undefined {
  return /, node (\S+) /.exec(text)?.[1];
}

async function podsOnHosts({ lab }: RebootStage): Promise<string[]> {
  const path = `/api/v1/namespaces/${hostPods.namespace}/pods`;
  const { items } = await kube<{ items: { metadata: { name: string } }[] }>(lab, 'GET', path);
  return items.map(({ metadata }) => metadata.name);
}

/** Which nodes are cordoned, and how often each machine was told to reboot since the story began. */
async function touched(stage: RebootStage): Promise<{ readonly cordoned: string[]; readonly told: number[] }> {
  const cordoned = (await shownNodes(stage)).filter((node) => node.cordoned).map(({ name }) => name);
  return { cordoned, told: stage.nodes.names.map((name) => timesTold(stage, name)) };
}

function timesTold({ nodes, since }: RebootStage, name: RebootNode): number {
  return nodes.events(name).filter(({ event, at }) => event === 'asked' && Date.parse(at) >= since).length;
}

function isAtWork({ ready, cordoned }: ShownNode): boolean {
  return ready && !cordoned;
}
