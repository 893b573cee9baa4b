import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockName } from '../../src/domain/node-reboot/by-hand.ts';
import { pushBusyboxImage } from '../lab/busybox-image.ts';
import { kube } from '../lab/kube-api.ts';
import { whyNoRebootNode } from '../lab/parts/node-precheck.ts';
import { readProcesses } from '../lab/lab-process.ts';
import { startLab, type Lab } from '../lab/lab.ts';
import { isAlive } from '../lab/process-identity.ts';
import { rebootNodesAt, type RebootNode, type RebootNodes } from '../lab/reboot-nodes.ts';
import { startDemo } from '../lab/start-demo.ts';
import { waitFor } from '../lab/wait.ts';
import { openRebootStage, type RebootStage } from './reboot-stage.ts';

const why = whyNoRebootNode(0);
const wish = ['libc6'];

describe.skipIf(why !== null)(`nodes that really reboot${why === null ? '' : ` (${why})`}`, () => {
  let lab: Lab;
  let stage: RebootStage | null = null;
  let nodes: RebootNodes;

  beforeAll(async () => {
    lab = await startLab({ parts: ['temporal', 'registry', 'reboot-nodes'], log: () => {} });
    nodes = rebootNodesAt(lab.env.dir);
  });

  afterAll(() => stage?.close() ?? lab.stop());

  const node = (name: string) => kube<{ spec: { unschedulable?: boolean } }>(lab.env, 'GET', `/api/v1/nodes/${name}`);

  /** What of the demo is still in the lab. */
  async function leftOvers(): Promise<string[]> {
    const { items } = await kube<{ items: { metadata: { name: string } }[] }>(lab.env, 'GET', '/api/v1/namespaces');
    const namespaces = items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith(lockName.namespace));
    const worker = readProcesses(lab.env.dir).filter(
      ({ spec, id }) => /^worker-/.test(spec.name) && id !== null && isAlive(id),
    );
    const folders = readdirSync(lab.env.dir).filter((name) => name.startsWith('demo-'));
    const cordoned: string[] = [];
    for (const name of nodes.names) if ((await node(name)).spec.unschedulable === true) cordoned.push(name);
    const wishing = nodes.names.filter((name) => nodes.hasSentinel(name));
    return [...namespaces, ...worker.map(({ spec }) => spec.name), ...folders, ...cordoned, ...wishing];
  }

  test('the demo takes everything down when it is left with Ctrl-C in the middle', async () => {
    const demo = startDemo(lab.env.dir, 'reboot');
    await demo.says('ok: nobody holds the lock');
    demo.interrupt();
    expect(await demo.ended).toBe(130);
    expect(demo.output()).not.toContain('DID NOT HAPPEN');
    expect(await leftOvers()).toEqual([]);
  });

  test('NR-4 NR-52 the demo shows a gate that blocks, approvals, proven reboots and a node that hangs, and leaves nothing', async () => {
    const before = nodes.names.map((name) => reboots(name));
    const demo = startDemo(lab.env.dir, 'reboot');
    const code = await demo.ended;
    const output = demo.output();
    expect(code, output).toBe(0);
    expect(output.match(/^ {2}seen .*$/gm)).toHaveLength(5);
    for (const voice of ['you', 'holdfast', 'cluster', 'machine', 'pager', 'check']) {
      expect(output).toMatch(new RegExp(`^ +\\d+\\.\\ds {2}${voice} +\\S`, 'm'));
    }
    expect(output).toMatch(/reboot-1 +wanted .*node reboot-3 is cordoned by somebody/);
    expect(output).toContain('node reboot-3 hangs: ');
    expect(output).not.toContain('\u001b');
    expect(nodes.names.map((name) => reboots(name))).toEqual(before.map((count) => count + 1));
    expect(await leftOvers()).toEqual([]);
  }, 400_000);

  test('NR-65 are given back within five seconds when a drain that is blocked is cancelled', async () => {
    const one = 'reboot-1';
    // After the demo, whose worker polls the same queues.
    stage = await openRebootStage(lab, nodes.names, await pushBusyboxImage(lab.env.registry));
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

  const reboots = (name: RebootNode) => nodes.events(name).filter(({ event }) => event === 'asked').length;
});
