import { randomUUID } from 'node:crypto';
import { hostPods } from '../../src/domain/node-reboot/pod.ts';
import { kube, KubeApiError } from './kube-api.ts';
import type { LabEnv } from './lab.ts';
import { waitFor } from './wait.ts';

/*
 * Hosts without machines: nodes of a real API server whose kubelet and host are played here, in the process of the test. They
 * do what real ones cannot be made to do at will: boot in no time or in hours, come back with an old kernel or less memory.
 * Pods on them run nothing; the one-shot pods of Holdfast are answered as the host would answer.
 */

/** What goes wrong with a host. Read at the moment that it matters, so that a change holds from the next one on. */
export interface HostFaults {
  /** How long a boot takes, milliseconds [200]. */
  readonly bootMs: number;
  /** What brings it back [by-itself]. */
  readonly returns: 'by-itself' | 'power-button';
  /** It is told to reboot, and goes on. */
  readonly ignoresReboot: boolean;
  /** So long after a boot it reboots once more, milliseconds [0: it does not]. */
  readonly rebootsAgainAfterMs: number;
  /** The kernel that it comes back with [the one that its sentinel names]. */
  readonly kernel: string | null;
  /** The memory that it comes back with, in MiB [as before]. */
  readonly memoryMi: number | null;
  readonly keepsSentinel: boolean;
  /** Its kubelet tells that it is not Ready, though the host is up. */
  readonly notReady: boolean;
}

const noFaults: HostFaults = {
  bootMs: 200,
  returns: 'by-itself',
  ignoresReboot: false,
  rebootsAgainAfterMs: 0,
  kernel: null,
  memoryMi: null,
  keepsSentinel: false,
  notReady: false,
};

interface Host {
  readonly name: string;
  bootId: string;
  up: boolean;
  /** It is on its way up. */
  booting: boolean;
  kernel: string;
  memoryMi: number;
  sentinel: readonly string[] | null;
  faults: HostFaults;
  /** How often it was told to reboot, obeyed or not. */
  asked: number;
  boots: number;
}

export interface SimulatedHosts {
  readonly names: readonly string[];
  bootId(name: string): string;
  isUp(name: string): boolean;
  /** How often it was told to reboot. */
  asked(name: string): number;
  boots(name: string): number;
  setFaults(name: string, faults: Partial<HostFaults>): void;
  setSentinel(name: string, packages: readonly string[] | null): void;
  /** Tells a boot of it to end from elsewhere, as a BMC or SSH does: another boot takes no notice. */
  tell(name: string, bootId: string): void;
  /** Everything on the host ends at once. */
  cutPower(name: string): void;
  pressPower(name: string): void;
  /** As it was at the beginning, but for its boot: no faults, no sentinel, the first kernel and memory, up. */
  reset(name: string): void;
  /** Ends the play; the nodes stay. */
  stop(): Promise<void>;
}

interface PodObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly name: string; readonly command?: readonly string[] }[];
  };
  readonly status: { readonly phase?: string };
}

const pollMs = 100;
const heartbeatMs = 2_000;
const status = { contentType: 'application/merge-patch+json' };

/** Creates the nodes, and plays them until it is stopped. @returns when all are Ready */
export async function simulateHosts(
  env: LabEnv,
  names: readonly string[],
  kernel = '6.13.5-1',
): Promise<SimulatedHosts> {
  const hosts = new Map<string, Host>();
  for (const name of names) {
    hosts.set(name, {
      ...{ name, bootId: randomUUID(), up: true, booting: false, kernel, memoryMi: 16_384 },
      ...{ sentinel: null, faults: noFaults, asked: 0, boots: 1 },
    });
    await kube(env, 'POST', '/api/v1/nodes', { body: nodeObject(name) });
  }
  let stopped = false;
  let lastBeat = 0;

  async function beat(host: Host): Promise<void> {
    const ready = host.up && !host.faults.notReady;
    // The kubelet of a host that is off says nothing, and the control plane would take most of a minute to notice.
    const now = new Date().toISOString();
    const condition = {
      type: 'Ready',
      status: host.up ? (ready ? 'True' : 'False') : 'Unknown',
      reason: host.up ? 'KubeletReady' : 'NodeStatusUnknown',
      message: '',
      ...(host.up ? { lastHeartbeatTime: now } : {}),
      lastTransitionTime: now,
    };
    const size = { cpu: '8', memory: `${host.memoryMi}Mi`, pods: '110' };
    const nodeInfo = { ...emptyNodeInfo, bootID: host.bootId, kernelVersion: host.kernel };
    const told = host.up ? { capacity: size, allocatable: size, nodeInfo } : {};
    const body = { status: { conditions: [condition], ...told } };
    await kube(env, 'PATCH', `/api/v1/nodes/${host.name}/status`, {
      body,
      contentType: 'application/strategic-merge-patch+json',
    });
  }

  async function round(): Promise<void> {
    if (Date.now() - lastBeat >= heartbeatMs) {
      lastBeat = Date.now();
      await Promise.all([...hosts.values()].map(beat));
    }
    const { items } = await kube<{ items: PodObject[] }>(env, 'GET', '/api/v1/pods');
    for (const pod of items) {
      const host = hosts.get(pod.spec.nodeName ?? '');
      if (host?.up === true) await playPod(host, pod);
    }
  }

  async function playPod(host: Host, pod: PodObject): Promise<void> {
    const { namespace, name, deletionTimestamp, labels = {} } = pod.metadata;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    if (deletionTimestamp !== undefined) {
      await kube(env, 'DELETE', path, { body: { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 } });
      return;
    }
    if (pod.status.phase !== 'Pending') return;
    const container = pod.spec.containers[0];
    if (container === undefined) return;
    if (labels[hostPods.label] !== hostPods.value || namespace !== hostPods.namespace) {
      const state = { running: { startedAt: new Date().toISOString() } };
      await patchPod(path, 'Running', container.name, state, true);
      return;
    }
    const script = container.command?.at(-1) ?? '';
    const answer = script.includes('systemctl reboot') ? tell(host, script) : report(host);
    const state = { terminated: { exitCode: answer.exitCode, message: answer.message, reason: 'Completed' } };
    await patchPod(path, answer.exitCode === 0 ? 'Succeeded' : 'Failed', container.name, state, false);
    if (answer.reboots) void reboot(host);
  }

  async function patchPod(path: string, phase: string, name: string, state: object, ready: boolean): Promise<void> {
    const containerStatuses = [{ name, image: 'simulated', imageID: '', restartCount: 0, ready, state }];
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
    await kube(env, 'PATCH', `${path}/status`, {
      body: { status: { phase, containerStatuses, conditions } },
      ...status,
    });
  }

  /** What the script that ends a boot does on a host: it compares the boot first. */
  function tell(host: Host, script: string): { exitCode: number; message: string; reboots: boolean } {
    host.asked += 1;
    if (!script.includes(`'${host.bootId}'`)) return { exitCode: 3, message: 'another boot', reboots: false };
    return { exitCode: 0, message: '', reboots: !host.faults.ignoresReboot };
  }

  async function reboot(host: Host): Promise<void> {
    await down(host);
    if (host.faults.returns === 'by-itself') await boot(host);
  }

  async function down(host: Host): Promise<void> {
    host.up = false;
    await quietly(() => beat(host));
  }

  async function boot(host: Host): Promise<void> {
    // A second press of the button would be a second boot, some time after the first.
    if (host.booting) return;
    host.booting = true;
    const wanted = host.sentinel?.find((name) => name.startsWith('linux-image-'))?.slice('linux-image-'.length);
    // What is wished for from now on is not what this boot is for.
    if (!host.faults.keepsSentinel) host.sentinel = null;
    await new Promise((resolve) => setTimeout(resolve, host.faults.bootMs));
    const { kernel: other, memoryMi, rebootsAgainAfterMs } = host.faults;
    host.kernel = other ?? wanted ?? host.kernel;
    host.memoryMi = memoryMi ?? host.memoryMi;
    host.bootId = randomUUID();
    host.boots += 1;
    host.up = true;
    host.booting = false;
    await quietly(() => beat(host));
    if (rebootsAgainAfterMs === 0) return;
    host.faults = { ...host.faults, rebootsAgainAfterMs: 0 };
    setTimeout(() => void reboot(host), rebootsAgainAfterMs);
  }

  /** An API server that is away for a moment is asked again at the next round. */
  async function quietly(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof KubeApiError && ![404, 409].includes(error.status)) throw error;
    }
  }

  const playing = (async () => {
    while (!stopped) {
      await quietly(round);
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  })();

  const host = (name: string): Host => {
    const found = hosts.get(name);
    if (found === undefined) throw new Error(`no host ${name} is simulated`);
    return found;
  };
  await waitFor('the simulated hosts are Ready', async () => {
    const { items } = await kube<{ items: NodeObject[] }>(env, 'GET', '/api/v1/nodes');
    const inPlay = items.filter(({ metadata }) => hosts.has(metadata.name));
    return inPlay.length === names.length && inPlay.every(isSchedulable);
  });
  return {
    names,
    bootId: (name) => host(name).bootId,
    isUp: (name) => host(name).up,
    asked: (name) => host(name).asked,
    boots: (name) => host(name).boots,
    setFaults: (name, faults) => {
      host(name).faults = { ...noFaults, ...faults };
      lastBeat = 0;
    },
    setSentinel: (name, packages) => {
      host(name).sentinel = packages;
    },
    tell: (name, bootId) => {
      const told = host(name);
      told.asked += 1;
      if (told.up && told.bootId === bootId && !told.faults.ignoresReboot) void reboot(told);
    },
    cutPower: (name) => void down(host(name)),
    pressPower: (name) => {
      if (!host(name).up) void boot(host(name));
    },
    reset: (name) => {
      Object.assign(host(name), { kernel, memoryMi: 16_384, sentinel: null, faults: noFaults });
      if (!host(name).up) void boot(host(name));
      lastBeat = 0;
    },
    async stop() {
      stopped = true;
      await playing;
    },
  };
}

interface NodeObject {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly taints?: readonly unknown[] };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

function isSchedulable({ spec, status: { conditions = [] } }: NodeObject): boolean {
  return (
    (spec.taints ?? []).length === 0 && conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True')
  );
}

/** What the script that asks a host prints (src/domain/node-reboot/host-readiness.ts), for a host where all is well. */
function report(host: Host): { exitCode: number; message: string; reboots: boolean } {
  const inhibitors = JSON.stringify({ data: [[['shutdown', 'kubelet', 'pods', 'delay', 0, 812]]] });
  const wanted = host.sentinel?.find((name) => name.startsWith('linux-image-'))?.slice('linux-image-'.length);
  const sections: [string, string][] = [
    ['begin', ''],
    ['inhibitors', inhibitors],
    ['delay', 't 90000000'],
    ['locks', ''],
    ['grace', '[Login]\nInhibitDelayMaxSec=90'],
    ['kernels', `vmlinuz-${wanted ?? host.kernel}`],
    ['boot', host.bootId],
    ['running', host.kernel],
    ...(host.sentinel === null
      ? []
      : ([
          ['sentinel', ''],
          ['packages', host.sentinel.join('\n')],
        ] as [string, string][])),
    ['end', ''],
  ];
  const message = sections.map(([name, text]) => `--holdfast-- ${name}\n${text === '' ? '' : `${text}\n`}`).join('');
  return { exitCode: 0, message, reboots: false };
}

const emptyNodeInfo = {
  ...{ architecture: 'amd64', operatingSystem: 'linux', containerRuntimeVersion: '', kubeProxyVersion: '' },
  ...{ kubeletVersion: '', machineID: '', osImage: '', systemUUID: '' },
};

function nodeObject(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', type: 'simulated' } },
  };
}
