import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { labFiles } from '../paths.ts';
import { callerKubeconfig, type RebootNode } from './control-plane.ts';
import { cniConfig, containerdConfig, KERNEL_SETTINGS, kubeletConfig } from './node-config.ts';
import type { NodePrograms } from './node.ts';
import { PAUSE_IMAGE } from './pause-image.ts';

/** What is needed to make the disk of one node. */
export interface DiskOf {
  dir: string;
  node: RebootNode;
  programs: NodePrograms & { rebootNode: string };
  /** Of the lab's parts, which the node reaches on its own loopback address. */
  machinePorts: number[];
  kubeletPort: number;
  /** As in `10.90.128.0/24`. */
  podSubnet: string;
  cgroup: string;
}

/** The taint that keeps pods off these nodes unless they tolerate it: a node that reboots is no place for other tests' pods. */
export const REBOOT_TAINT = { key: 'lab.holdfast.dev/reboots', value: 'true', effect: 'NoSchedule' } as const;

/** Where a node's containerd listens, as the machine sees it. */
export function nodeContainerdSocket(dir: string, node: string): string {
  return join(labFiles(dir).rebootNode(node), 'run', 'containerd', 'containerd.sock');
}

/**
 * Makes a node's folders and what lies on its disk before its first boot. `disk` lies over the machine's own files, so that
 * a path below it is that path on the node.
 *
 * @returns the file of settings that the program `reboot-node` wants
 */
export function makeDisk(of: DiskOf): string {
  const home = labFiles(of.dir).rebootNode(of.node);
  for (const folder of ['disk', 'work', 'root', 'containerd', 'kubelet', 'run', 'shared'])
    mkdirSync(join(home, folder), { recursive: true });
  mkdirSync(labFiles(of.dir).registryHosts, { recursive: true });
  writeCommands(join(home, 'disk'), of.programs.rebootNode);
  const etc = join(home, 'disk', 'etc', 'reboot-node');
  mkdirSync(join(etc, 'cni'), { recursive: true });
  writeFileSync(join(home, 'disk', 'etc', 'hostname'), `${of.node}\n`);
  writeFileSync(join(home, 'disk', 'etc', 'machine-id'), `${randomBytes(16).toString('hex')}\n`);
  writeFileSync(join(etc, 'cni', '10-lab.conflist'), JSON.stringify(cniOf(of)));
  writeFileSync(join(etc, 'containerd.toml'), containerdOf(of));
  writeFileSync(join(etc, 'kubelet.yaml'), stringify(kubeletOf(of)));
  writeFileSync(join(etc, 'kubeconfig'), readFileSync(callerKubeconfig(of.dir, of.node)), { mode: 0o600 });
  const file = join(home, 'settings.json');
  writeFileSync(file, JSON.stringify(settingsOf(of, home), null, 2));
  return file;
}

const COMMANDS = ['systemctl', 'reboot', 'poweroff', 'halt', 'shutdown'];
const COMMAND_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Every command that could ask the machine to reboot is the lab's on the node, wherever PATH finds it. */
function writeCommands(disk: string, program: string): void {
  const first = join(disk, 'systemctl');
  copyFileSync(program, first);
  for (const folder of commandFolders()) {
    mkdirSync(join(disk, folder), { recursive: true });
    for (const command of COMMANDS) linkSync(first, join(disk, folder, command));
  }
  rmSync(first);
}

/** Where one is a link to another only the other: a folder in its place would hide what it holds. */
function commandFolders(): string[] {
  return [...new Set(COMMAND_FOLDERS.filter((path) => existsSync(path)).map((path) => realpathSync(path)))];
}

function cniOf({ podSubnet }: DiskOf): object {
  // Addresses are given anew after a boot, as the containers that had them are gone.
  return cniConfig({ bridge: 'pods', subnet: podSubnet, makesBridge: true, dataDir: '/run/cni' });
}

const CONTAINERD_SOCKET = '/run/containerd/containerd.sock';

function containerdOf({ dir, programs }: DiskOf): string {
  return containerdConfig({
    root: '/var/lib/containerd',
    state: '/run/containerd',
    socket: CONTAINERD_SOCKET,
    opt: '/var/lib/containerd-opt',
    cniDir: programs.cniDir,
    cniConfigDir: '/etc/reboot-node/cni',
    registryHosts: labFiles(dir).registryHosts,
  });
}

function kubeletOf({ kubeletPort }: DiskOf): object {
  const ports = { kubelet: kubeletPort, kubeletHealth: 10248 };
  // The node's cgroup namespace has the node's own cgroup as its root.
  return kubeletConfig('/var/lib/reboot-node', CONTAINERD_SOCKET, ports, '');
}

function settingsOf({ dir, node, programs, machinePorts, kubeletPort, cgroup }: DiskOf, home: string): object {
  const kernel = join(home, 'kernel');
  mkdirSync(kernel, { recursive: true });
  const kernelSettings = Object.entries(KERNEL_SETTINGS).map(([name, value]) => {
    const file = join(kernel, name.replaceAll('/', '-'));
    writeFileSync(file, `${value}\n`);
    return [name, file];
  });
  const programFolders = [programs.containerd, programs.runc, programs.kubelet].map((file) => dirname(file));
  // The machine's own commands are on the node as they are, but for the lab's in their place.
  const shown = [...programFolders, programs.cniDir].filter(
    (folder) => !commandFolders().includes(realpathSync(folder)),
  );
  return {
    name: node,
    home,
    cgroup,
    folders: [...new Set([...shown, labFiles(dir).registryHosts])],
    commands: commandFolders().flatMap((folder) => COMMANDS.map((command) => join(folder, command))),
    kernelSettings: Object.fromEntries(kernelSettings) as Record<string, string>,
    toMachine: machinePorts,
    toNode: [kubeletPort],
    units: [
      {
        name: 'containerd',
        command: [programs.containerd, '--config', '/etc/reboot-node/containerd.toml', '--log-level', 'warn'],
      },
      {
        name: 'kubelet',
        after: CONTAINERD_SOCKET,
        command: [
          programs.kubelet,
          '--config=/etc/reboot-node/kubelet.yaml',
          '--kubeconfig=/etc/reboot-node/kubeconfig',
          '--root-dir=/var/lib/kubelet',
          '--cert-dir=/var/lib/kubelet/pki',
          `--hostname-override=${node}`,
          '--node-labels=type=reboot',
          `--register-with-taints=${REBOOT_TAINT.key}=${REBOOT_TAINT.value}:${REBOOT_TAINT.effect}`,
          '--cloud-provider=external',
          `--pod-infra-container-image=${PAUSE_IMAGE}`,
        ],
      },
    ],
  };
}
