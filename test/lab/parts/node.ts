import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { findProgram, whichProgram } from '../find/find-program.ts';
import { BUSYBOX, CNI_BRIDGE, CONTAINERD, KUBELET, RUNC } from '../find/programs.ts';
import type { Log } from '../find/run-tool.ts';
import type { LabEnv } from '../lab.ts';
import { readProcess, startProcess, type ProcessSpec } from '../lab-process.ts';
import type { NodeTraces } from '../lab-state.ts';
import { labFiles } from '../paths.ts';
import { admitNode } from './admit-node.ts';
import { makeCgroup } from './cgroups.ts';
import { callerKubeconfig, REAL_NODE } from './control-plane.ts';
import { cniConfig, containerdConfig, KERNEL_SETTINGS, kubeletConfig, type ContainerdPaths } from './node-config.ts';
import { HOST_DIRS } from './node-traces.ts';
import { importPauseImage, PAUSE_IMAGE } from './pause-image.ts';

export const NODE_PORTS = ['kubelet', 'kubeletHealth'] as const;

export interface NodePrograms {
  kubelet: string;
  containerd: string;
  runc: string;
  cniDir: string;
  busybox: string;
}

/** @returns the programs, or why this machine cannot have them */
export async function findNode(log: Log): Promise<NodePrograms | string> {
  try {
    return {
      containerd: await findProgram(CONTAINERD, log),
      runc: await findProgram(RUNC, log),
      cniDir: dirname(await findProgram(CNI_BRIDGE, log)),
      busybox: await findProgram(BUSYBOX, log),
      kubelet: await findProgram(KUBELET, log),
    };
  } catch (error) {
    // Where packages and compilers are, a failure is one; elsewhere the machine just has no containers.
    if (whichProgram('apt-get') && whichProgram('go')) throw error;
    return error instanceof Error ? error.message : String(error);
  }
}

export interface NodeStart {
  dir: string;
  programs: NodePrograms;
  ports: Record<(typeof NODE_PORTS)[number], number>;
  network: number;
  traces: NodeTraces;
  log: Log;
}

/** Containers: what does not need the control plane, so that it starts beside it. */
export async function startContainerd(start: NodeStart): Promise<void> {
  const { dir, programs, network, traces } = start;
  const home = join(dir, 'node');
  mkdirSync(join(home, 'cni'), { recursive: true });
  mkdirSync(labFiles(dir).registryHosts, { recursive: true });
  const pods = { bridge: traces.bridge, subnet: `10.${network}.0.0/17`, makesBridge: false };
  const cni = cniConfig({ ...pods, dataDir: join(home, 'cni-data') });
  writeFileSync(join(home, 'cni', '10-lab.conflist'), JSON.stringify(cni));
  writeFileSync(join(home, 'containerd.toml'), containerdConfig(containerdPaths(dir, home, programs)));
  makeBridge(traces.bridge, network);
  makeCgroup(traces.cgroup);

  await startProcess(dir, mountNamespaceProcess(home));
  await startProcess(dir, containerdProcess(dir, home, programs));
  importPauseImage(programs, containerdSocket(home), join(home, 'pause.tar'));
}

/** The kubelet, once the API server serves. @returns when the node is Ready for pods */
export async function startKubelet(start: NodeStart, env: LabEnv): Promise<void> {
  const { dir, ports, traces, log } = start;
  const home = join(dir, 'node');
  log('starting the real node');
  writeFileSync(
    join(home, 'kubelet.yaml'),
    stringify(kubeletConfig(home, containerdSocket(home), ports, traces.cgroup)),
  );
  await startProcess(dir, kubeletProcess(start, home));
  await admitNode(env, REAL_NODE);
}

/**
 * Holds the mount namespace of the node: everything that containers mount is seen only there and goes with its last process,
 * and the kernel settings that a kubelet changes on start are files of the lab there.
 */
function mountNamespaceProcess(home: string): ProcessSpec {
  const quiet = (folder: string) => join(home, 'host', folder.replaceAll('/', '-').slice(1));
  const lines = ['set -e', 'mount --make-rshared /'];
  for (const folder of HOST_DIRS) {
    mkdirSync(quiet(folder), { recursive: true });
    lines.push(`mkdir -p ${folder}`, `mount --bind '${quiet(folder)}' ${folder}`);
  }
  for (const [setting, value] of Object.entries(KERNEL_SETTINGS)) {
    const file = quiet(`/${setting}`);
    writeFileSync(file, `${value}\n`);
    lines.push(`mount --bind '${file}' /proc/sys/${setting}`);
  }
  const ready = join(home, 'mounts-ready');
  lines.push(`touch '${ready}'`, 'exec sleep infinity');
  return {
    name: 'node-mounts',
    command: 'unshare',
    args: ['--mount', '--propagation', 'private', 'sh', '-c', lines.join('\n')],
    ready: { kind: 'file', path: ready },
    readyTimeoutMs: 20_000,
  };
}

function inMountNamespace(dir: string, command: string, args: string[]): Pick<ProcessSpec, 'command' | 'args'> {
  const holder = readProcess(dir, 'node-mounts').id;
  if (!holder) throw new Error('the mount namespace of the real node was not made');
  return { command: 'nsenter', args: [`--mount=/proc/${holder.pid}/ns/mnt`, '--', command, ...args] };
}

function containerdProcess(dir: string, home: string, programs: NodePrograms): ProcessSpec {
  const folders = [dirname(programs.containerd), dirname(programs.runc), process.env['PATH'] ?? ''];
  return {
    name: 'containerd',
    ...inMountNamespace(dir, programs.containerd, ['--config', join(home, 'containerd.toml'), '--log-level', 'warn']),
    env: { PATH: folders.join(':') },
    ready: { kind: 'socket', path: containerdSocket(home) },
    readyTimeoutMs: 60_000,
  };
}

function kubeletProcess({ dir, programs, ports }: NodeStart, home: string): ProcessSpec {
  return {
    name: 'kubelet',
    ...inMountNamespace(dir, programs.kubelet, [
      `--config=${join(home, 'kubelet.yaml')}`,
      `--kubeconfig=${callerKubeconfig(dir, 'kubelet')}`,
      `--root-dir=${join(home, 'kubelet')}`,
      `--cert-dir=${join(home, 'pki')}`,
      `--hostname-override=${REAL_NODE}`,
      '--node-labels=type=real',
      '--cloud-provider=external',
      `--pod-infra-container-image=${PAUSE_IMAGE}`,
    ]),
    ready: { kind: 'http', url: `http://127.0.0.1:${ports.kubeletHealth}/healthz` },
    readyTimeoutMs: 90_000,
  };
}

function containerdPaths(dir: string, home: string, { cniDir }: NodePrograms): ContainerdPaths {
  return {
    root: join(home, 'containerd'),
    state: join(home, 'containerd-state'),
    socket: containerdSocket(home),
    opt: join(home, 'opt'),
    cniDir,
    cniConfigDir: join(home, 'cni'),
    registryHosts: labFiles(dir).registryHosts,
  };
}

function containerdSocket(home: string): string {
  return join(home, 'containerd.sock');
}

/** The machine's own end of the pods' network. Made here and not by the plugin, which would also switch on forwarding. */
function makeBridge(name: string, network: number): void {
  const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });
  ip('link', 'add', name, 'type', 'bridge');
  ip('address', 'add', `10.${network}.0.1/17`, 'dev', name);
  ip('link', 'set', name, 'up');
}
