import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kube } from '../lab/kube-api.ts';
import { whyNoRebootNode } from '../lab/parts/node-precheck.ts';
import { startRebootStage, type RebootStage } from './reboot-stage.ts';

const why = whyNoRebootNode(0);
const wish = ['libc6'];

describe.skipIf(why !== null)(`nodes that really reboot${why === null ? '' : ` (${why})`}`, () => {
  let stage: RebootStage;

  beforeAll(async () => {
    stage = await startRebootStage();
  });

  afterAll(() => stage.close());

  const node = (name: string) =>
    kube<{ spec: { unschedulable?: boolean }; status: { nodeInfo: { bootID: string } } }>(
      stage.lab.env,
      'GET',
      `/api/v1/nodes/${name}`,
    );

  test('go one after the other, each approved by a person, and come back to work as another boot', async () => {
    const { nodes } = stage;
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
    for (const [index, name] of nodes.names.entries()) {
      const { spec, status } = await node(name);
      expect(spec.unschedulable).toBeUndefined();
      expect(status.nodeInfo.bootID).toBe(nodes.bootId(name));
      expect(status.nodeInfo.bootID).not.toBe(before[index]);
      expect(nodes.events(name).filter(({ event }) => event === 'asked')).toHaveLength(1);
    }
    expect(stage.told).toEqual([]);
    await campaign.act('cancel');
    await campaign.handle.result();
  });
});
