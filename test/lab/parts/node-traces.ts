import { execFileSync } from 'node:child_process';
import { existsSync, rmdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { labId, listLabs, readState, type NodeTraces } from '../lab-state.ts';
import { removeCgroup } from './cgroups.ts';

/**
 * Paths outside a lab's folder that the kubelet, containerd and the network plugins write to whatever they are told. The node
 * gets its own mount namespace, in which each shows a folder of the lab; on the machine only empty folders appear.
 */
export const HOST_DIRS = ['/var/lib/kubelet', '/var/lib/cni', '/var/log/containers', '/run/containerd', '/run/netns'];

/** What a node will leave on the machine, to be written down before it is made. */
export function planNodeTraces(dir: string): NodeTraces {
  const id = labId(dir);
  const madeByOthers = nodesOfOtherLabs(dir).flatMap((traces) => traces.createdDirs);
  return {
    bridge: `hf${id}`,
    cgroup: `hf-${id}`,
    createdDirs: [...new Set([...HOST_DIRS.flatMap(missingPart), ...madeByOthers])],
  };
}

/**
 * The cgroup of the nodes that reboot, the only thing that they leave: their mounts and networks go with their processes, and
 * what they write to their disks lies in the lab's folder.
 */
export function rebootNodesCgroup(dir: string): string {
  return `hf-${labId(dir)}-reboot`;
}

/** Ends the containers that are left and removes cgroup, bridge and empty folders. The mounts went with their namespace. */
export async function removeNodeTraces(traces: NodeTraces, dir: string): Promise<void> {
  await removeCgroup(traces.cgroup);
  if (existsSync(`/sys/class/net/${traces.bridge}`)) execFileSync('ip', ['link', 'delete', traces.bridge]);
  // Another lab's mounts lie on these folders: the last one removes them.
  if (nodesOfOtherLabs(dir).length > 0) return;
  for (const folder of traces.createdDirs.toSorted((a, b) => b.length - a.length)) removeIfEmpty(folder);
}

function nodesOfOtherLabs(dir: string): NodeTraces[] {
  return listLabs()
    .filter((entry) => entry.dir !== dir)
    .flatMap((entry) => readState(entry.dir)?.node ?? []);
}

function missingPart(folder: string): string[] {
  return existsSync(folder) ? [] : [folder, ...missingPart(dirname(folder))];
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // not empty, or not there: not ours to remove
  }
}
