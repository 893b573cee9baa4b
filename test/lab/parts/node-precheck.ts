import { spawnSync } from 'node:child_process';
import { whichProgram } from '../find/find-program.ts';

/** Why a real node cannot run on this machine, for people; null where it can. */
export function whyNoNode(dirLength: number): string | null {
  if (process.platform !== 'linux') return `a real node needs Linux, and this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'a real node needs root (containers, cgroups, a network bridge)';
  for (const tool of ['ip', 'unshare', 'nsenter', 'mount']) {
    if (!whichProgram(tool)) return `a real node needs the program ${tool}, which is not on PATH`;
  }
  const unshare = spawnSync('unshare', ['--mount', '--propagation', 'private', 'true'], { encoding: 'utf8' });
  if (unshare.status !== 0) return `a real node needs a mount namespace of its own: ${unshare.stderr.trim()}`;
  if (dirLength > LONGEST_DIR) return `a real node needs a shorter folder (${LONGEST_DIR} characters) for its sockets`;
  return null;
}

/** The same for real nodes that reboot, each with every kind of namespace of its own. */
export function whyNoRebootNode(dirLength: number): string | null {
  const why = whyNoNode(dirLength);
  if (why !== null) return why;
  const namespaces = ['--pid', '--fork', '--mount', '--net', '--uts', '--ipc', '--cgroup'];
  const unshare = spawnSync('unshare', [...namespaces, '--propagation', 'private', 'true'], { encoding: 'utf8' });
  if (unshare.status === 0) return null;
  return `a node that reboots needs process, mount, network, host name and cgroup namespaces of its own: ${unshare.stderr.trim()}`;
}

// A unix socket's path has 107 characters at most, and the kubelet's lie deep.
const LONGEST_DIR = 60;
