import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { Exec, KubeConfig, type V1Status } from '@kubernetes/client-node';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createNamespace } from './access.ts';
import { pushBusyboxImage } from './busybox-image.ts';
import { pushSpokeImage } from './images.ts';
import { kube } from './kube-api.ts';
import { startLab, type Lab } from './lab.ts';
import { spokeDeployment } from './manifests.ts';
import { podEnded, REBOOT, runningContainer, runPod, startPod, type PodPlace } from './one-shot-pod.ts';
import { startInAProcessThatDies } from './orphan-lab.ts';
import { whyNoRebootNode } from './parts/node-precheck.ts';
import { rebootNodesCgroup } from './parts/node-traces.ts';
import { rebootNodesOf } from './parts/reboot-nodes.ts';
import { isAlive, processesOfLab } from './process-identity.ts';
import { rebootNodesAt, type RebootNode, type RebootNodes } from './reboot-nodes.ts';
import { waitFor } from './wait.ts';

const why = whyNoRebootNode(0);
const quiet = () => {};
const MACHINE_BOOT_ID = '/proc/sys/kernel/random/boot_id';

interface NodeObject {
  status: { nodeInfo: { bootID: string }; conditions: { type: string; status: string }[] };
}

describe.skipIf(why !== null)(`nodes that reboot${why === null ? '' : ` (${why})`}`, () => {
  let lab: Lab;
  let nodes: RebootNodes;
  let place: PodPlace;
  const machineBootId = readFileSync(MACHINE_BOOT_ID, 'utf8').trim();

  beforeAll(async () => {
    lab = await startLab({ parts: ['control-plane', 'registry'], log: quiet });
    nodes = await rebootNodesOf(lab.env, quiet);
    const image = await pushBusyboxImage(lab.env.registry);
    place = { env: lab.env, namespace: await createNamespace(lab), image };
  });

  afterAll(() => lab.stop());

  beforeEach(async () => {
    for (const node of nodes.names) {
      nodes.setFaults(node, {});
      nodes.setSentinel(node, null);
      if (!nodes.isUp(node)) nodes.pressPower(node);
    }
    for (const node of nodes.names) await isBack(node);
  });

  describe('as nodes', () => {
    test('run pods of images from the registry, each with a boot id of its own', async () => {
      const hello = (node: RebootNode) => runPod(place, { node, name: `hello-${node}`, script: 'echo hello' });
      const said = { phase: 'Succeeded', log: 'hello\n' };
      expect(await Promise.all(nodes.names.map(hello))).toEqual([said, said, said]);
      const ids = await Promise.all(nodes.names.map(async (node) => (await nodeObject(node)).status.nodeInfo.bootID));
      expect(ids).toEqual(nodes.names.map((node) => nodes.bootId(node)));
      expect(new Set([...ids, machineBootId]).size).toBe(4);
    });

    test('come back from a reboot with another boot id and their pods, while the others stay as they are', async () => {
      const before = nodes.names.map((node) => nodes.bootId(node));
      const seen = nodes.events('reboot-1').length;
      const spec = { restartPolicy: 'Always' };
      await startPod(place, { node: 'reboot-1', name: 'stays', script: 'sleep 3600', spec });
      const first = await waitFor('the pod runs', () => runningContainer(place, 'stays'));
      await askToReboot('reboot-1', 'reboots');
      await podEnded(place, 'reboots');
      await isBack('reboot-1');
      const second = await waitFor('another container of the pod runs', async () => {
        const container = await runningContainer(place, 'stays');
        return container?.containerID !== first.containerID && container;
      });
      expect(second.restartCount).toBe(1);

      const after = nodes.names.map((node) => nodes.bootId(node));
      expect(after[0]).not.toBe(before[0]);
      expect(after.slice(1)).toEqual(before.slice(1));
      const events = nodes.events('reboot-1').slice(seen);
      expect(events).toMatchObject([
        { event: 'asked', command: 'reboot', bootId: before[0], ignored: false },
        { event: 'down', why: 'reboot', bootId: before[0] },
        { event: 'boot', bootId: after[0] },
      ]);
    });

    test('let a command be run in a container', async () => {
      await startPod(place, { node: 'reboot-2', name: 'idle', script: 'sleep 3600' });
      await waitFor('the pod runs', () => runningContainer(place, 'idle'));
      const config = new KubeConfig();
      config.loadFromFile(lab.env.kubeconfig);
      const output = new PassThrough();
      const command = ['cat', '/proc/sys/kernel/hostname'];
      const status = await new Promise<V1Status>((resolve, reject) => {
        new Exec(config)
          .exec(place.namespace, 'idle', 'main', command, output, null, null, false, resolve)
          .catch(reject);
      });
      expect(status.status).toBe('Success');
      expect(String(output.read())).toBe('idle\n');
    });

    test("reach the lab's parts from a pod in the node's network, at the same addresses, and nothing else", async () => {
      const script = `echo parts && wget -q -O - http://${lab.env.registry}/v2/ && cat /proc/net/route`;
      const spec = { hostNetwork: true };
      const { phase, log } = await runPod(place, { node: 'reboot-1', name: 'asks', script, spec });
      expect(phase).toBe('Succeeded');
      const [, answer, ...routes] = log.trim().split('\n');
      expect(answer).toMatch(/^\{\}/);
      const interfaces = routes.map((route) => route.split('\t')[0]);
      expect(interfaces.filter((name) => name !== 'pods')).toEqual([]);
    });

    test('take a Deployment of spokes, one on each, probed and ready', async () => {
      const image = await pushSpokeImage(lab.env.registry, { repository: 'test/spoke', version: '1.0.0' });
      const topologySpreadConstraints = [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { app: 'spread' } },
        },
      ];
      const { namespace } = place;
      const spec = { namespace, name: 'spread', image: image.reference, replicas: 3, node: 'reboot' as const };
      const body = spokeDeployment({ ...spec, pod: { topologySpreadConstraints } });
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
      await kube(lab.env, 'POST', path, { body });
      await waitFor('all three are ready', async () => {
        const { status } = await kube<{ status: { readyReplicas?: number } }>(lab.env, 'GET', `${path}/spread`);
        return status.readyReplicas === 3;
      });
      await kube(lab.env, 'DELETE', `${path}/spread`);
    });

    test('are NotReady while they are down, and Ready again after the power button', async () => {
      nodes.setFaults('reboot-2', { returns: 'power-button' });
      const before = nodes.bootId('reboot-2');
      await askToReboot('reboot-2', 'asks-and-waits');
      await waitFor('the node is down', () => !nodes.isUp('reboot-2'));
      await waitFor('the node is NotReady', async () => (await readyOf('reboot-2')) === 'Unknown', 120_000);
      expect(await readyOf('reboot-1')).toBe('True');
      expect((await nodeObject('reboot-2')).status.nodeInfo.bootID).toBe(before);
      nodes.pressPower('reboot-2');
      await isBack('reboot-2');
      expect(nodes.bootId('reboot-2')).not.toBe(before);
    });

    test('boot anew when their power supply is killed and started again', async () => {
      const before = nodes.bootId('reboot-3');
      await lab.kill('reboot-3');
      expect(nodes.isUp('reboot-3')).toBe(false);
      await lab.start('reboot-3');
      await isBack('reboot-3');
      expect(nodes.bootId('reboot-3')).not.toBe(before);
    });
  });

  describe('as a test wants them', () => {
    test('take as long to boot as they are told', async () => {
      nodes.setFaults('reboot-1', { bootMs: 4_000 });
      const events = await rebootAndRead('reboot-1', 'slow');
      const at = (event: string) => Date.parse(events.find((one) => one.event === event)?.at ?? '');
      expect(at('boot') - at('down')).toBeGreaterThanOrEqual(4_000);
    });

    test('ignore the command, and say that it was given', async () => {
      nodes.setFaults('reboot-1', { ignoresReboot: true });
      const before = nodes.bootId('reboot-1');
      const seen = nodes.events('reboot-1').length;
      await askToReboot('reboot-1', 'ignored');
      expect(await podEnded(place, 'ignored')).toBe('Succeeded');
      expect(nodes.events('reboot-1').slice(seen)).toMatchObject([{ event: 'asked', ignored: true }]);
      expect(nodes.bootId('reboot-1')).toBe(before);
      expect(nodes.isUp('reboot-1')).toBe(true);
    });

    test('never come back, not even by the power button, until they are mended', async () => {
      nodes.setFaults('reboot-1', { returns: 'never' });
      await askToReboot('reboot-1', 'is-gone');
      await waitFor('the node is down', () => !nodes.isUp('reboot-1'));
      nodes.pressPower('reboot-1');
      await waitFor('the button was pressed', () => nodes.events('reboot-1').at(-1)?.event === 'power-button');
      nodes.setFaults('reboot-1', { returns: 'power-button' });
      nodes.pressPower('reboot-1');
      await isBack('reboot-1');
      const events = nodes.events('reboot-1').map(({ event }) => event);
      expect(events.slice(-4)).toEqual(['down', 'power-button', 'power-button', 'boot']);
    });

    test('reboot twice', async () => {
      nodes.setFaults('reboot-1', { rebootsAgainAfterMs: 500 });
      const seen = nodes.events('reboot-1').length;
      await askToReboot('reboot-1', 'once');
      await waitFor('the node booted twice', () => nodes.events('reboot-1').length === seen + 5);
      await isBack('reboot-1');
      expect(nodes.events('reboot-1').slice(seen)).toMatchObject([
        { event: 'asked' },
        { event: 'down', why: 'reboot' },
        { event: 'boot' },
        { event: 'down', why: 'reboots-again' },
        { event: 'boot' },
      ]);
    });

    test('lose their power without being asked, and stay off when they are told to power off', async () => {
      const seen = nodes.events('reboot-1').length;
      nodes.cutPower('reboot-1');
      await waitFor('the node is up again', () => nodes.events('reboot-1').length === seen + 2);
      expect(nodes.events('reboot-1').slice(seen)).toMatchObject([
        { event: 'down', why: 'power-cut' },
        { event: 'boot' },
      ]);
      await isBack('reboot-1');

      const script = REBOOT.replace('reboot', 'poweroff');
      await startPod(place, { node: 'reboot-1', name: 'off', script, privileged: true });
      await waitFor('the node is down', () => !nodes.isUp('reboot-1'));
      nodes.pressPower('reboot-1');
      await isBack('reboot-1');
      const events = nodes.events('reboot-1').slice(seen + 2);
      expect(events).toMatchObject([
        { event: 'asked', command: 'poweroff' },
        { event: 'down', why: 'poweroff' },
        { event: 'power-button' },
        { event: 'boot' },
      ]);
    });

    test('have a sentinel that a boot removes, or that stays', async () => {
      nodes.setSentinel('reboot-1', ['linux-image-6.13', 'libc6']);
      const script = 'nsenter -t 1 -m -- cat /var/run/reboot-required /var/run/reboot-required.pkgs';
      const { log } = await runPod(place, { node: 'reboot-1', name: 'reads-sentinel', script, privileged: true });
      expect(log).toBe('*** System restart required ***\nlinux-image-6.13\nlibc6\n');
      await rebootAndRead('reboot-1', 'removes-sentinel');
      expect(nodes.hasSentinel('reboot-1')).toBe(false);

      nodes.setSentinel('reboot-1', ['libc6']);
      nodes.setFaults('reboot-1', { keepsSentinel: true });
      await rebootAndRead('reboot-1', 'keeps-sentinel');
      expect(nodes.hasSentinel('reboot-1')).toBe(true);
      expect(nodes.hasSentinel('reboot-2')).toBe(false);
    });

    test('keep what is written to their disks, which is not written to the machine', async () => {
      nodes.writeFile('reboot-1', '/usr/local/bin/busctl', '#!/bin/sh\necho 90\n', 0o755);
      nodes.writeFile('reboot-1', '/boot/vmlinuz-6.13.0-lab', '');
      await rebootAndRead('reboot-1', 'keeps-files');
      const script = 'nsenter -t 1 -m -- sh -c "busctl; ls /boot/vmlinuz-6.13.0-lab"';
      const { log } = await runPod(place, { node: 'reboot-1', name: 'reads-files', script, privileged: true });
      expect(log).toBe('90\n/boot/vmlinuz-6.13.0-lab\n');
      for (const path of ['/usr/local/bin/busctl', '/boot/vmlinuz-6.13.0-lab']) expect(existsSync(path)).toBe(false);

      nodes.setFaults('reboot-1', { returns: 'power-button' });
      nodes.cutPower('reboot-1');
      await waitFor('the node is down', () => !nodes.isUp('reboot-1'));
      expect(() => nodes.writeFile('reboot-1', '/etc/x', '')).toThrow('reboot-1 is not up');
    });

    test('are asked and read from any process that knows the folder of the lab', () => {
      const elsewhere = rebootNodesAt(lab.env.dir);
      expect(elsewhere.events('reboot-2')).toEqual(nodes.events('reboot-2'));
      expect(elsewhere.bootId('reboot-2')).toBe(nodes.bootId('reboot-2'));
    });
  });

  describe('end with their lab', () => {
    test('and leave no process, mount, network or cgroup, also when its launcher was killed', async () => {
      const dir = await startInAProcessThatDies(['reboot-nodes']);
      const processes = processesOfLab(dir);
      const networks = new Set(processes.map(({ pid }) => readlinkSync(`/proc/${pid}/ns/net`)));
      expect(networks.size).toBe(4);
      expect(cgroupsOf(dir)).not.toEqual([]);

      await (await startLab({ parts: ['registry'], log: quiet })).stop();
      expect(processes.filter(isAlive)).toEqual([]);
      networks.delete(readlinkSync('/proc/self/ns/net'));
      expect(seenByAnyProcess('ns/net', (text) => networks.has(text))).toEqual([]);
      expect(seenByAnyProcess('mountinfo', (text) => text.includes(dir))).toEqual([]);
      expect(cgroupsOf(dir)).toEqual([]);
      expect(readdirSync('/sys/class/net')).not.toContain('pods');
    });
  });

  function nodeObject(node: RebootNode): Promise<NodeObject> {
    return kube(lab.env, 'GET', `/api/v1/nodes/${node}`);
  }

  async function readyOf(node: RebootNode): Promise<string | undefined> {
    return (await nodeObject(node)).status.conditions.find(({ type }) => type === 'Ready')?.status;
  }

  function isBack(node: RebootNode): Promise<boolean> {
    return waitFor(`${node} is Ready with its boot id`, async () => {
      const { bootID } = (await nodeObject(node)).status.nodeInfo;
      return nodes.isUp(node) && bootID === nodes.bootId(node) && (await readyOf(node)) === 'True';
    });
  }

  function askToReboot(node: RebootNode, name: string): Promise<void> {
    return startPod(place, { node, name, script: REBOOT, privileged: true });
  }

  async function rebootAndRead(node: RebootNode, name: string) {
    const seen = nodes.events(node).length;
    await askToReboot(node, name);
    await waitFor(`${node} is up again`, () => nodes.events(node).length === seen + 3);
    await isBack(node);
    return nodes.events(node).slice(seen);
  }
});

function cgroupsOf(dir: string): string[] {
  return readdirSync('/sys/fs/cgroup', { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith(rebootNodesCgroup(dir)),
  );
}

/** The processes of this machine, those in namespaces included, of which a file or link below /proc says so. */
function seenByAnyProcess(what: string, says: (text: string) => boolean): string[] {
  const read = (path: string) => (what.startsWith('ns/') ? readlinkSync(path) : readFileSync(path, 'utf8'));
  return readdirSync('/proc').filter((entry) => {
    try {
      return /^\d+$/.test(entry) && says(read(`/proc/${entry}/${what}`));
    } catch {
      return false; // gone meanwhile
    }
  });
}
