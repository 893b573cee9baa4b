import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NodeRebootStatus } from '../../src/domain/node-reboot/status.ts';
import { pushBusyboxImage } from '../lab/busybox-image.ts';
import { kube } from '../lab/kube-api.ts';
import { whyNoRebootNode } from '../lab/parts/node-precheck.ts';
import { startLab } from '../lab/lab.ts';
import { rebootNodesAt, type RebootNode, type RebootNodes } from '../lab/reboot-nodes.ts';
import { waitFor } from '../lab/wait.ts';
import { openRebootStage, type RebootStage } from './reboot-stage.ts';

const why = whyNoRebootNode(0);
const wish = ['libc6'];

describe.skipIf(why !== null)(`nodes that really reboot${why === null ? '' : ` (${why})`}`, () => {
  let stage: RebootStage;
  let nodes: RebootNodes;

  beforeAll(async () => {
    const lab = await startLab({ parts: ['temporal', 'registry', 'reboot-nodes'], log: () => {} });
    nodes = rebootNodesAt(lab.env.dir);
    stage = await openRebootStage(lab, nodes.names, await pushBusyboxImage(lab.env.registry));
  });

  afterAll(() => stage.close());

  const node = (name: string) =>
    kube<{ spec: { unschedulable?: boolean }; status: { nodeInfo: { bootID: string } } }>(
      stage.lab.env,
      'GET',
      `/api/v1/nodes/${name}`,
    );

  test('go one after the other, each approved by a person, and come back to work as another boot', async () => {
    const before = nodes.names.map((name) => nodes.bootId(name));
    for (const name of nodes.names) nodes.setSentinel(name, wish);
    const campaign = await stage.apply();
    for (const name of nodes.names) {
      await campaign.approve(name);
      await campaign.until(`${name} is out`, (s) => s.turn?.node === name && s.turn.phase === 'Returning');
      expect(await stage.lock()).toMatchObject({ campaign: campaign.name, node: name });
      const others = nodes.names.filter((other) => other !== name);
      for (const other of others) expect((await node(other)).spec.unschedulable).toBeUndefined();
      await campaign.until(
        `${name} is done`,
        (s) => s.turn === null && s.nodes.find((n) => n.node === name)?.reboot === 'done',
      );
    }
    await campaign.until('nothing to do', (s) => s.phase === 'Idle');
    expect(await stage.lock()).toEqual({});
    await waitFor('no pod on a host is left', async () => (await stage.hostPods()).length === 0);
    for (const [index, name] of nodes.names.entries()) {
      const { spec, status } = await node(name);
      expect(spec.unschedulable).toBeUndefined();
      expect(status.nodeInfo.bootID).toBe(nodes.bootId(name));
      expect(status.nodeInfo.bootID).not.toBe(before[index]);
      expect(nodes.events(name).filter(({ event }) => event === 'asked')).toHaveLength(1);
    }
    expect(stage.told).toEqual([]);
    await campaign.end();
  });

  test('are drained as their disruption budgets let them, which may take a while', async () => {
    const one = 'reboot-1';
    const workload = await stage.workload('slow', { replicas: 2, startsOn: one, readyAfterSeconds: 5 });
    nodes.setSentinel(one, wish);
    const campaign = await stage.apply();
    await campaign.approve(one);
    await campaign.until(`${one} is done`, (s) => s.turn === null && reboot(s, one) === 'done');
    expect((await workload.pods()).map(({ node }) => node)).not.toContain(one);
    expect(await workload.fewestReady()).toBeGreaterThanOrEqual(1);
    await workload.remove();
    await campaign.end();
  });

  test('NR-65 are given back within five seconds when a drain that is blocked is cancelled', async () => {
    const one = 'reboot-1';
    const workload = await stage.workload('stuck', { replicas: 2, onlyOn: one });
    nodes.setSentinel(one, wish);
    const asked = reboots(one);
    const campaign = await stage.apply();
    await campaign.approve(one);
    await campaign.until('the drain', (s) => s.turn?.phase === 'Draining');
    await waitFor('one pod is gone', async () => (await workload.pods()).some(({ node: on }) => on === null));
    const from = Date.now();
    await campaign.act('cancel');
    await campaign.handle.result();
    expect(Date.now() - from).toBeLessThan(5_000);
    expect((await node(one)).spec.unschedulable).toBeUndefined();
    expect(await stage.lock()).toEqual({});
    expect(reboots(one)).toBe(asked);
    nodes.setSentinel(one, null);
    await workload.remove();
  });

  test('NR-52 NR-53 that do not return keep the lock, page a person once, and go on when they come back', async () => {
    const [one, two] = ['reboot-1', 'reboot-2'] as const;
    nodes.setFaults(one, { returns: 'power-button' });
    for (const name of [one, two]) nodes.setSentinel(name, wish);
    const asked = [reboots(one), reboots(two)];
    const campaign = await stage.apply({ returnTimeout: '60s', approval: 'None' });
    await campaign.until('it hangs', (s) => s.phase === 'Hung', 150_000);
    expect(stage.told.map(({ what }) => what)).toEqual(['Hung']);
    expect(await stage.lock()).toMatchObject({ node: one, phase: 'Returning' });
    expect(reboots(two)).toBe(asked[1]);
    nodes.setFaults(one, {});
    nodes.pressPower(one);
    await campaign.until(`${one} is done`, (s) => s.turn === null && reboot(s, one) === 'done', 150_000);
    // A person is asked before the next one, though the spec asks for nobody.
    await campaign.approve(two);
    await campaign.until(`${two} is done`, (s) => s.turn === null && reboot(s, two) === 'done');
    expect([reboots(one), reboots(two)]).toEqual(asked.map((count) => (count ?? 0) + 1));
    expect(stage.told).toHaveLength(1);
    await campaign.end();
  });

  const reboots = (name: RebootNode) => nodes.events(name).filter(({ event }) => event === 'asked').length;
});

const reboot = (status: NodeRebootStatus, name: string) => status.nodes.find(({ node }) => node === name)?.reboot;
