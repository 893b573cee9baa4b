import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from '../find/build-lock.ts';
import { findProgram } from '../find/find-program.ts';
import { REBOOT_NODE } from '../find/programs.ts';
import type { Log } from '../find/run-tool.ts';
import { readProcesses, startProcess, type ProcessSpec } from '../lab-process.ts';
import { readState, writeState, type LabState } from '../lab-state.ts';
import { labFiles } from '../paths.ts';
import { isAlive } from '../process-identity.ts';
import { rebootNodesAt, type RebootNodes } from '../reboot-nodes.ts';
import { waitFor } from '../wait.ts';
import { admitNode } from './admit-node.ts';
import { makeCgroup } from './cgroups.ts';
import { REBOOT_NODES, type RebootNode } from './control-plane.ts';
import { whyNoRebootNode } from './node-precheck.ts';
import { rebootNodesCgroup } from './node-traces.ts';
import { findNode, type NodePrograms } from './node.ts';
import { importPauseImage } from './pause-image.ts';
import { makeDisk, nodeContainerdSocket, REBOOT_TAINT } from './reboot-node-disk.ts';

export type RebootNodePrograms = NodePrograms & { rebootNode: string };

/** @throws Error that says why this machine cannot have such nodes */
export async function findRebootNodes(dirLength: number, log: Log): Promise<RebootNodePrograms> {
  const why = whyNoRebootNode(dirLength);
  if (why !== null) throw new Error(why);
  const programs = await findNode(log);
  if (typeof programs === 'string') throw new Error(programs);
  return { ...programs, rebootNode: await findProgram(REBOOT_NODE, log) };
}

/**
 * Three real nodes of a lab that can be rebooted, which join it now if they have not yet. They end with the lab. Each has
 * process, mount, network, host name and cgroup namespaces of its own, a boot id of its own, and no right to reboot anything
 * else. Pods need a toleration of {@link REBOOT_TAINT} to be scheduled there (label `type: reboot`), or name the node.
 *
 * @param lab its folder, as in `inject('lab')`
 * @throws Error when this machine cannot have them, or they do not start
 */
export async function rebootNodesOf(
  lab: { readonly dir: string },
  log: Log = (line) => process.stderr.write(`lab: ${line}\n`),
): Promise<RebootNodes> {
  const { dir } = lab;
  return withLock(join(dir, 'reboot-nodes.lock'), async () => {
    const state = readState(dir);
    if (!state) throw new Error(`there is no lab in ${dir}`);
    if (state.env.apiServer === '') throw new Error(`the lab in ${dir} has no control plane for nodes to join`);
    if (!state.parts.includes('reboot-nodes')) {
      await startRebootNodes(state, await findRebootNodes(dir.length, log), log);
      writeState(dir, { ...state, parts: [...state.parts, 'reboot-nodes'] });
    }
    return rebootNodesAt(dir);
  });
}

/** Boots all of them side by side. @returns when they are Ready for pods */
export async function startRebootNodes(state: LabState, programs: RebootNodePrograms, log: Log): Promise<void> {
  log('starting the nodes that reboot');
  const results = await Promise.allSettled(REBOOT_NODES.map((node) => startRebootNode(state, node, programs)));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason as Error;
}

async function startRebootNode(state: LabState, node: RebootNode, programs: RebootNodePrograms): Promise<void> {
  const { env } = state;
  const known = readProcesses(env.dir).find(({ spec }) => spec.name === node);
  // It runs already where an earlier start failed half-way.
  if (!known?.id || !isAlive(known.id)) await switchOn(state, node, programs);
  await importWhenServing(env.dir, node, programs);
  await admitNode(env, node, [REBOOT_TAINT]);
}

async function switchOn(state: LabState, node: RebootNode, programs: RebootNodePrograms): Promise<void> {
  const { env, ports, rebootNodePorts, podNetwork } = state;
  const { dir } = env;
  const kubelets = new Set(Object.values(rebootNodePorts));
  rmSync(labFiles(dir).rebootNode(node), { recursive: true, force: true });
  const cgroup = join(rebootNodesCgroup(dir), node);
  makeCgroup(rebootNodesCgroup(dir));
  makeCgroup(cgroup);
  const settings = makeDisk({
    dir,
    node,
    programs,
    machinePorts: ports.filter((port) => !kubelets.has(port)),
    kubeletPort: rebootNodePorts[node],
    podSubnet: `10.${podNetwork}.${128 + REBOOT_NODES.indexOf(node)}.0/24`,
    cgroup,
  });
  rebootNodesAt(dir).setFaults(node, {});
  await startProcess(dir, powerProcess(dir, node, programs, settings));
}

/**
 * The node's power supply, which takes the node with it when it is killed. Its log is the node's console, with what containerd
 * and the kubelet say.
 */
function powerProcess(dir: string, node: string, programs: RebootNodePrograms, settings: string): ProcessSpec {
  const folders = [programs.containerd, programs.runc].map((file) => file.slice(0, file.lastIndexOf('/')));
  return {
    name: node,
    command: programs.rebootNode,
    args: ['power', settings],
    // The lab's folder is not there on the node.
    env: { PATH: [...folders, process.env['PATH'] ?? ''].join(':'), HOME: '/root', TMPDIR: '/tmp' },
    ready: { kind: 'socket', path: join(labFiles(dir).rebootNode(node), 'run', 'reboot-node.sock') },
    readyTimeoutMs: 30_000,
  };
}

async function importWhenServing(dir: string, node: string, programs: RebootNodePrograms): Promise<void> {
  const archive = join(labFiles(dir).rebootNode(node), 'pause.tar');
  await waitFor(`containerd of ${node} takes the image of pods' sandboxes`, () => {
    importPauseImage(programs, nodeContainerdSocket(dir, node), archive);
    return true;
  });
}
