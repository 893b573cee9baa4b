import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rebootPodName } from '../../src/activities/node-reboot/reboot.ts';
import { lockName, releaseLockByHand } from '../../src/domain/node-reboot/by-hand.ts';
import type { NodeRebootSpecInput } from '../../src/domain/node-reboot/spec.ts';
import type { NodeRebootStatus } from '../../src/domain/node-reboot/status.ts';
import { kube } from '../lab/kube-api.ts';
import { startLab } from '../lab/lab.ts';
import { simulateHosts, type SimulatedHosts } from '../lab/simulated-hosts.ts';
import { waitFor } from '../lab/wait.ts';
import { shippedYaml } from '../unit/shipped/manifests.ts';
import { fillNode } from './pods-of-a-node.ts';
import { beginCosts, costsSince } from './reboot-costs.ts';
import { openRebootStage, type Campaign, type RebootStage } from './reboot-stage.ts';

/** What real nodes cannot be made to do at will, on hosts that are played; everything else is real. */
const names = ['n1', 'n2', 'n3'];
const oldKernel = '6.13.5-1';
const newKernel = '6.14.0-37-generic';
const wish = [`linux-image-${newKernel}`];

let hosts: SimulatedHosts;
let stage: RebootStage;
let campaign: Campaign | null = null;

beforeAll(async () => {
  const lab = await startLab({ parts: ['temporal', 'control-plane'], log: () => {} });
  hosts = await simulateHosts(lab.env, names, oldKernel);
  stage = await openRebootStage(lab, names, 'simulated');
});

afterAll(async () => {
  await hosts.stop();
  await stage.close();
});

beforeEach(() => {
  stage.told.length = 0;
  stage.deaf(false);
});

/** Nothing of a test is left to the next one, as a person would put it right. */
afterEach(async () => {
  await campaign?.handle.terminate('the test is over').catch(() => undefined);
  campaign = null;
  for (const name of names) {
    hosts.reset(name);
    await waitFor(`${name} is up`, () => hosts.isUp(name));
    await patch(name, {
      metadata: { annotations: { 'holdfast.dev/cordoned-by': null } },
      spec: { unschedulable: null },
    });
  }
  await stage.writeLock({});
});

const node = (name: string) =>
  kube<{
    metadata: { annotations?: Record<string, string> };
    spec: { unschedulable?: boolean };
    status: { nodeInfo: { bootID: string; kernelVersion: string } };
  }>(stage.lab.env, 'GET', `/api/v1/nodes/${name}`);
const patch = (name: string, body: object) =>
  kube(stage.lab.env, 'PATCH', `/api/v1/nodes/${name}`, { body, contentType: 'application/merge-patch+json' });
const reboot = (status: NodeRebootStatus, name: string) => status.nodes.find((one) => one.node === name)?.reboot;
const cordoned = async (name: string) => (await node(name)).spec.unschedulable === true;

/** A person was told of this, and of nothing else. */
async function paged(what: string): Promise<void> {
  await waitFor('a page', () => stage.told.length > 0);
  expect(stage.told.map((said) => said.what)).toEqual([what]);
}

async function apply(...spec: Parameters<RebootStage['apply']>): Promise<Campaign> {
  campaign = await stage.apply(...spec);
  return campaign;
}

describe('a node that comes back otherwise than it was to', () => {
  const out = async (what: string, readyHold = '2s') => {
    const at = await apply({ nodes: ['n1', 'n2'], approval: 'None', kernelFloor: '6.13', readyHold });
    hosts.setSentinel('n2', wish);
    const status = await at.until(`a stop for ${what}`, (s) => s.stopped !== null);
    expect(status.stopped?.reason).toBe(what);
    await paged(what);
    expect(await cordoned('n1')).toBe(true);
    expect(await stage.lock()).toMatchObject({ node: 'n1' });
    expect(hosts.asked('n2')).toBe(0);
    await waitFor('the lock says why', async () => (await stage.lock())['reason']?.startsWith(what) === true);
    const { undo } = await stage.lock();
    expect(undo).toContain(releaseLockByHand);
    expect(undo).toContain(what);
    return at;
  };
  const told = (name: string) => hosts.asked(name);

  test('NR-56 with a kernel below the floor stays cordoned, and the lock is held', async () => {
    hosts.setSentinel('n1', wish);
    hosts.setFaults('n1', { kernel: '6.12.48-amd64' });
    await out('KernelBelowFloor');
  });

  test('NR-58 with another kernel than was intended stays cordoned', async () => {
    hosts.setSentinel('n1', wish);
    hosts.setFaults('n1', { kernel: '6.13.9-1' });
    await out('WrongKernel');
  });

  test('NR-57 with a sixth of its memory stays cordoned', async () => {
    hosts.setSentinel('n1', wish);
    hosts.setFaults('n1', { memoryMi: 2_662 });
    await out('MemoryLost');
  });

  test('that wants the same reboot again is stopped, and not rebooted a second time', async () => {
    hosts.setSentinel('n1', wish);
    hosts.setFaults('n1', { keepsSentinel: true });
    const before = told('n1');
    await out('SentinelStays');
    expect(told('n1')).toBe(before + 1);
  });

  test('that reboots once more by itself is stopped', async () => {
    hosts.setSentinel('n1', wish);
    hosts.setFaults('n1', { rebootsAgainAfterMs: 5_000 });
    await out('RebootedAgain', '15s');
  });
});

test('NR-54 a reboot that does nothing is told, and not repeated', async () => {
  hosts.setSentinel('n1', wish);
  hosts.setFaults('n1', { ignoresReboot: true });
  const before = hosts.asked('n1');
  const at = await apply({ approval: 'None', returnTimeout: '5s' });
  await at.until('a stop', (s) => s.stopped?.reason === 'RebootDidNothing');
  expect(hosts.asked('n1')).toBe(before + 1);
  // As long as this boot runs, what told it to end shows that it was told.
  expect(await stage.hostPods()).toContain(rebootPodName('n1', hosts.bootId('n1')));
  expect(await cordoned('n1')).toBe(true);
  // A person reboots it by hand, and says so.
  hosts.cutPower('n1');
  hosts.pressPower('n1');
  await at.act('retry');
  await at.until('n1 is done', (s) => reboot(s, 'n1') === 'done' && s.turn === null);
  expect(hosts.asked('n1')).toBe(before + 1);
  await waitFor('no pod on a host is left', async () => (await stage.hostPods()).length === 0);
});

test('H-D04 NR-46 a node that a person had cordoned stays cordoned after its reboot', async () => {
  await patch('n1', { spec: { unschedulable: true } });
  hosts.setSentinel('n1', wish);
  const at = await apply({ approval: 'None', nodes: ['n1'] });
  await at.until('n1 is done', (s) => reboot(s, 'n1') === 'done' && s.turn === null);
  const { metadata, spec } = await node('n1');
  expect(spec.unschedulable).toBe(true);
  expect(metadata.annotations?.['holdfast.dev/cordoned-by']).toBeUndefined();
});

test('NR-30 NR-31 another node that is cordoned or not Ready keeps every node up, and says which', async () => {
  hosts.setSentinel('n1', wish);
  await patch('n3', { spec: { unschedulable: true } });
  const at = await apply({ approval: 'None' });
  const blocked = await at.until('a gate', (s) => s.waiting?.for.includes('node n3 is cordoned') === true);
  expect(blocked.turn).toBeNull();
  await patch('n3', { spec: { unschedulable: null } });
  hosts.setFaults('n2', { notReady: true });
  await at.act('runNow');
  await at.until('another gate', (s) => s.waiting?.for.includes('node n2 is not Ready') === true);
  expect(await cordoned('n1')).toBe(false);
  expect(await stage.lock()).toEqual({});
  hosts.setFaults('n2', {});
  await at.until('n1 is done', (s) => reboot(s, 'n1') === 'done' && s.turn === null);
});

test('NR-17 a lock that somebody takes away stops the campaign, and nothing more is done to the node', async () => {
  hosts.setSentinel('n1', wish);
  hosts.setFaults('n1', { returns: 'power-button' });
  const at = await apply({ approval: 'None' });
  await at.until('it is out', (s) => s.turn?.phase === 'Returning');
  await waitFor('it is down', () => !hosts.isUp('n1'));
  await stage.writeLock({});
  hosts.pressPower('n1');
  await at.until('a stop', (s) => s.stopped?.reason === 'LockLost');
  await paged('LockLost');
  expect(await cordoned('n1')).toBe(true);
});

test('NR-66 NR-89 a campaign that is terminated leaves lock and cordon, and a new one goes on from there', async () => {
  hosts.setSentinel('n1', wish);
  hosts.setFaults('n1', { returns: 'power-button' });
  const before = hosts.asked('n1');
  const first = await apply({ approval: 'None' });
  await first.until('it is out', (s) => s.turn?.phase === 'Returning');
  await waitFor('it is down', () => !hosts.isUp('n1'));
  await waitFor('the lock says so', async () => (await stage.lock())['phase'] === 'Returning');
  await first.handle.terminate('by mistake');
  expect(await stage.lock()).toMatchObject({ campaign: first.name, node: 'n1', phase: 'Returning' });
  expect(await cordoned('n1')).toBe(true);
  // Another campaign refuses.
  hosts.setSentinel('n2', wish);
  const other = await stage.apply({ approval: 'None', nodes: ['n2', 'n3'] });
  await other.until('the lock', (s) => s.waiting?.for.includes(first.name) === true);
  await other.handle.terminate('the test is over');
  // One of the same name takes it over, and tells the node nothing.
  campaign = await stage.apply({ approval: 'None' }, first.name);
  await campaign.until('it is taken over', (s) => s.turn?.phase === 'Returning');
  hosts.pressPower('n1');
  await campaign.until('n1 is done', (s) => reboot(s, 'n1') === 'done' && s.turn === null);
  expect(hosts.asked('n1')).toBe(before + 1);
  expect(await cordoned('n1')).toBe(false);
});

test('NR-70 a node that hangs is watched on while nobody takes its page, and goes no further before somebody has', async () => {
  hosts.setSentinel('n1', wish);
  hosts.setFaults('n1', { returns: 'power-button' });
  stage.deaf(true);
  const at = await apply({ approval: 'None', nodes: ['n1'], returnTimeout: '3s' });
  const hung = await at.until('it hangs', (s) => s.phase === 'Hung');
  expect(hung.waiting?.next).toContain('Nobody has taken the page Hung yet');
  await waitFor('the lock says so', async () => (await stage.lock())['reason']?.includes('hangs') === true);
  hosts.pressPower('n1');
  await at.until('its return is seen', (s) => s.turn?.phase === 'Checking' && s.waiting?.reason === 'PageUndelivered');
  expect(await cordoned('n1')).toBe(true);
  stage.deaf(false);
  await at.until('n1 is done', (s) => reboot(s, 'n1') === 'done' && s.turn === null);
  expect(stage.told.map((said) => said.what)).toEqual(['Hung']);
});

test('a kernel goes from host to host: each is proven to run it, and the next one goes after another yes', async () => {
  for (const name of names) hosts.setSentinel(name, wish);
  const before = names.map((name) => hosts.asked(name));
  const told = () => names.map((name, index) => hosts.asked(name) - (before[index] ?? 0));
  const example = shippedYaml<{ spec: NodeRebootSpecInput }>('examples/node-reboot/kernel-campaign.yaml').spec;
  const { approval, kernelFloor, gates } = example;
  const kernels = { approval, gates: { ...gates, dns: false as const } };
  const at = await apply({ ...kernels, ...(kernelFloor === undefined ? {} : { kernelFloor }), neverFirst: ['n1'] });
  await at.until(
    'n2 is offered, since n1 may not be the first',
    (s) => s.waiting?.next.includes('--node n2 ') === true,
  );
  expect(told()).toEqual([0, 0, 0]);
  await at.approve('n2');
  await at.until('n2 is done', (s) => reboot(s, 'n2') === 'done' && s.turn === null);
  expect((await node('n2')).status.nodeInfo.kernelVersion).toBe(newKernel);
  await at.until('n1 is offered', (s) => s.waiting?.next.includes('--node n1 ') === true);
  expect(told()).toEqual([0, 1, 0]);
  // A host that boots the old kernel again is the last one that was touched.
  hosts.setFaults('n1', { kernel: oldKernel });
  await at.approve('n1');
  await at.until('a stop', (s) => s.stopped?.reason === 'KernelBelowFloor');
  expect(await cordoned('n1')).toBe(true);
  expect(told()).toEqual([1, 1, 0]);
});

test('NR-53 a node that returns late goes on, and a person is asked before the next one, though the spec asks nobody', async () => {
  for (const name of ['n1', 'n2']) hosts.setSentinel(name, wish);
  hosts.setFaults('n1', { returns: 'power-button' });
  const before = hosts.asked('n2');
  const at = await apply({ approval: 'None', returnTimeout: '3s' });
  await at.until('it hangs', (s) => s.phase === 'Hung');
  await paged('Hung');
  expect(await stage.lock()).toMatchObject({ node: 'n1', phase: 'Returning' });
  hosts.setFaults('n1', {});
  hosts.pressPower('n1');
  await at.until('an offer of n2', (s) => s.waiting?.next.includes('--node n2 ') === true);
  expect(hosts.asked('n2')).toBe(before);
  await at.approve('n2');
  await at.until('n2 is done', (s) => reboot(s, 'n2') === 'done' && s.turn === null);
  expect(stage.told).toHaveLength(1);
});

test('NR-12 a lock that is missing is no free one', async () => {
  const path = `/api/v1/namespaces/${lockName.namespace}/configmaps/${lockName.name}`;
  await kube(stage.lab.env, 'DELETE', path);
  hosts.setSentinel('n1', wish);
  const at = await apply({ approval: 'None' });
  await at.until('the lock', (s) => s.waiting?.for.includes('is missing') === true);
  expect(await cordoned('n1')).toBe(false);
  await kube(stage.lab.env, 'POST', path.slice(0, path.lastIndexOf('/')), {
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: lockName.name } },
  });
  await at.until('n1 is done', (s) => reboot(s, 'n1') === 'done' && s.turn === null);
});

// Half an hour of rest, as a spec has it that names none, has five more looks of four requests each: bench/node-reboot.ts.
test('a reboot of a node with ten pods costs at most 150 requests and 400 events of history', async () => {
  const { env } = stage.lab;
  await fillNode(env, names, 'n1', 10);
  for (const name of ['n1', 'n2']) hosts.setSentinel(name, wish);
  const at = await apply({ gates: {}, interval: '15m' });
  await at.until('n1 is offered', (s) => s.waiting?.next.includes('--node n1 ') === true);
  const since = await beginCosts(env, at.handle);
  await at.approve('n1');
  await at.until('n2 is offered', (s) => s.waiting?.next.includes('--node n2 ') === true);
  const { requests, events } = await costsSince(env, at.handle, since);
  expect(requests.filter(({ what }) => what === 'create pods/eviction')).toHaveLength(10);
  const steps = requests.map(({ step, what }) => `${step}: ${what}`).join('\n');
  // It rests for no time here, and waits longer for pods where the machine is busy: the benchmark counts both.
  expect(requests.length, steps).toBeLessThanOrEqual(150);
  expect(events.length).toBeLessThan(400);
});
