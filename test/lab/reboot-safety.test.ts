import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNamespace } from './access.ts';
import { pushBusyboxImage } from './busybox-image.ts';
import { kube } from './kube-api.ts';
import { startLab, type Lab } from './lab.ts';
import { readProcess } from './lab-process.ts';
import { podsPath, runPod, type PodPlace } from './one-shot-pod.ts';
import { whyNoRebootNode } from './parts/node-precheck.ts';

const why = whyNoRebootNode(0);

describe.skipIf(why !== null)(
  `a node that reboots can never reboot the machine${why === null ? '' : ` (${why})`}`,
  () => {
    let lab: Lab;
    let place: PodPlace;

    beforeAll(async () => {
      lab = await startLab({ parts: ['reboot-nodes', 'registry'], log: () => {} });
      const image = await pushBusyboxImage(lab.env.registry);
      place = { env: lab.env, namespace: await createNamespace(lab), image };
    });

    afterAll(() => lab.stop());

    test('a privileged pod there has no right to reboot, and no process, disk or watchdog of the machine', async () => {
      const script = [
        'grep CapBnd /proc/self/status',
        'cat /proc/1/comm',
        'ls /dev | grep -E "^(vd|sd|nvme|mem|watchdog|kvm)" || echo no-devices',
        'nsenter -t 1 -m -u -i -n -p -- grep CapEff /proc/1/status',
      ].join('; ');
      const { log } = await runPod(place, { node: 'reboot-1', name: 'looks-around', script, privileged: true });
      const [bounding, first, devices, ofFirst] = log
        .trim()
        .split('\n')
        .map((line) => line.split(/\s+/).at(-1) ?? '');
      for (const set of [bounding, ofFirst]) {
        const rights = BigInt(`0x${set}`);
        // CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_SYS_BOOT, CAP_SYS_TIME
        for (const taken of [16n, 17n, 22n, 25n]) expect((rights >> taken) & 1n).toBe(0n);
        // CAP_SYS_ADMIN: it is privileged all the same.
        expect((rights >> 21n) & 1n).toBe(1n);
      }
      expect(first).toBe('reboot-node');
      expect(devices).toBe('no-devices');
    });

    test("every command to reboot is the lab's own there", async () => {
      const files = ['systemctl', 'reboot', 'poweroff', 'halt', 'shutdown'].flatMap((name) =>
        ['/bin', '/sbin', '/usr/bin', '/usr/sbin'].map((folder) => `${folder}/${name}`),
      );
      const compare = `for f in ${files.join(' ')}; do cmp $f /proc/1/exe || exit 1; done`;
      const script = `nsenter -t 1 -m -p -- /bin/sh -c '${compare}'`;
      const { phase, log } = await runPod(place, { node: 'reboot-1', name: 'compares', script, privileged: true });
      expect(log).toBe('');
      expect(phase).toBe('Succeeded');
    });

    test('the command refuses where process 1 is not that of a node', () => {
      for (const name of ['systemctl', 'reboot']) {
        const { status, stderr } = spawnSync(program(), ['reboot'], { argv0: name, encoding: 'utf8' });
        expect(status).toBe(1);
        expect(stderr).toContain('refused: process 1 is not the first process of a node of the lab');
      }
    });

    test('the first process refuses outside of a process namespace, and with the right to reboot', () => {
      const settings = join(lab.env.dir, 'reboot-1', 'settings.json');
      // In a view of its own of everything but the processes: one that did not refuse must not harm the machine here.
      const shielded = ['--mount', '--net', '--uts', '--ipc', '--propagation', 'private', program()];
      for (const mode of ['enter', 'init']) {
        const args = [...shielded, mode, settings];
        const { status, stderr } = spawnSync('unshare', args, {
          encoding: 'utf8',
          timeout: 10_000,
          killSignal: 'SIGKILL',
        });
        expect(status).toBe(1);
        expect(stderr).toContain('refused: a node boots only in a process namespace of its own');
      }
      const own = ['--pid', '--fork', '--mount', '--propagation', 'private', program(), 'init', settings];
      const { status, stderr } = spawnSync('unshare', own, { encoding: 'utf8' });
      expect(status).toBe(1);
      expect(stderr).toMatch(/refused: the node still has CAP_SYS_/);
    });

    test.each([
      ['sees all processes', { hostPID: true }, {}, false],
      ['is privileged', {}, { securityContext: { privileged: true } }, false],
      ['names the node real-1', { hostPID: true, nodeName: 'real-1' }, {}, false],
      [
        'is privileged as an init container',
        { initContainers: [{ name: 'i', image: 'x', securityContext: { privileged: true } }] },
        {},
        false,
      ],
      ['is neither', {}, {}, true],
      ['names another node', { hostPID: true, nodeName: 'reboot-1' }, {}, true],
      ['asks for nodes that reboot', { hostPID: true, nodeSelector: { type: 'reboot' } }, {}, true],
      ["is a DaemonSet's of another node", { hostPID: true, affinity: affinityTo('amd64-1') }, {}, true],
      ["is a DaemonSet's of the node real-1", { hostPID: true, affinity: affinityTo('real-1') }, {}, false],
    ])('a pod that %s: %j %j is let in: %s', async (_what, spec, container, isLetIn) => {
      const containers = [{ name: 'main', image: 'x', ...container }];
      const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'dry-run' }, spec: { containers, ...spec } };
      const answer = kube(lab.env, 'POST', `${podsPath(place)}?dryRun=All`, { body });
      if (isLetIn) await answer;
      else await expect(answer).rejects.toThrow('could reboot the machine: name a node other than real-1');
    });

    function program(): string {
      return readProcess(lab.env.dir, 'reboot-1').spec.command;
    }
  },
);

/** As the DaemonSet controller binds a pod to its node. */
function affinityTo(node: string): object {
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] };
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } };
}
