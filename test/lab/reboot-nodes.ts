import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readProcess } from './lab-process.ts';
import { REBOOT_NODES, type RebootNode } from './parts/control-plane.ts';
import { labFiles } from './paths.ts';
import { isAlive, signalProcess } from './process-identity.ts';

export type { RebootNode } from './parts/control-plane.ts';

/** What goes wrong with a node. Read at the moment that it matters, so that a change holds from the next one on. */
export interface NodeFaults {
  /** How long each boot keeps the node down, in milliseconds [1000]. */
  bootMs: number;
  /** What brings it back after a reboot or a power cut [by-itself]. `never`: not even the power button. */
  returns: 'by-itself' | 'power-button' | 'never';
  /** `systemctl reboot` succeeds and nothing happens [false]. */
  ignoresReboot: boolean;
  /** How long after a boot that was asked for the node reboots once more, in milliseconds [0: not]. */
  rebootsAgainAfterMs: number;
  /** The sentinel survives boots [false]. */
  keepsSentinel: boolean;
}

/** What happened to a node. `at` is ISO; `bootId` is that of the boot that it is about. */
export type NodeEvent =
  | { at: string; event: 'boot'; bootId: string }
  /** A command to reboot or power off reached the node, obeyed or not. */
  | { at: string; event: 'asked'; bootId: string; command: 'reboot' | 'poweroff'; ignored: boolean }
  | { at: string; event: 'down'; bootId: string; why: 'reboot' | 'poweroff' | 'reboots-again' | 'power-cut' }
  | { at: string; event: 'power-button' };

/** The nodes of a lab that can be rebooted, seen from beside them: nothing here goes through Kubernetes. */
export interface RebootNodes {
  readonly names: readonly RebootNode[];
  /** Of the boot that is on, or of the last one while the node is down. */
  bootId(node: RebootNode): string;
  isUp(node: RebootNode): boolean;
  /** From now on these and no others. */
  setFaults(node: RebootNode, faults: Partial<NodeFaults>): void;
  /** Boots a node that is down. One that is up takes no notice. */
  pressPower(node: RebootNode): void;
  /** Everything on the node dies at once. It comes back as its faults say. */
  cutPower(node: RebootNode): void;
  /** Says on a node that is up that a reboot is required, and by which packages; null takes it back. A boot does, too. */
  setSentinel(node: RebootNode, packages: readonly string[] | null): void;
  hasSentinel(node: RebootNode): boolean;
  /**
   * Puts a file on the disk of a node that is up, where it outlives boots: a kernel below `/boot`, or a command in
   * `/usr/local/bin` that answers in place of the machine's.
   *
   * @param path on the node
   * @param mode [0644]
   */
  writeFile(node: RebootNode, path: string, content: string, mode?: number): void;
  /** Everything since the lab began, in its order. */
  events(node: RebootNode): NodeEvent[];
}

const NO_FAULTS: NodeFaults = {
  bootMs: 1_000,
  returns: 'by-itself',
  ignoresReboot: false,
  rebootsAgainAfterMs: 0,
  keepsSentinel: false,
};

/** The nodes of the lab in `dir`, from any process: all state is in files there. */
export function rebootNodesAt(dir: string): RebootNodes {
  const shared = (node: RebootNode, file: string) => join(labFiles(dir).rebootNode(node), 'shared', file);
  const sentinel = (node: RebootNode) => join(labFiles(dir).rebootNode(node), 'run', 'reboot-required');
  const events = (node: RebootNode): NodeEvent[] => {
    const file = shared(node, 'events.jsonl');
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as NodeEvent);
  };
  const signal = (node: RebootNode, which: NodeJS.Signals) => {
    const { id } = readProcess(dir, node);
    if (!id || !signalProcess(id, which))
      throw new Error(`the power supply of ${node} does not run in the lab in ${dir}`);
  };
  return {
    names: REBOOT_NODES,
    bootId: (node) => readFileSync(shared(node, 'boot-id'), 'utf8').trim(),
    isUp: (node) => {
      const { id } = readProcess(dir, node);
      const last = events(node).findLast(({ event }) => event === 'boot' || event === 'down');
      return id !== null && isAlive(id) && last?.event === 'boot';
    },
    setFaults: (node, faults) => {
      const file = shared(node, 'faults.json');
      writeFileSync(`${file}.new`, JSON.stringify({ ...NO_FAULTS, ...faults }));
      renameSync(`${file}.new`, file);
    },
    pressPower: (node) => signal(node, 'SIGUSR2'),
    cutPower: (node) => signal(node, 'SIGUSR1'),
    setSentinel: (node, packages) => {
      const file = sentinel(node);
      rmSync(file, { force: true });
      rmSync(`${file}.pkgs`, { force: true });
      if (packages === null) return;
      writeFileSync(`${file}.pkgs`, packages.map((name) => `${name}\n`).join(''));
      writeFileSync(file, '*** System restart required ***\n');
    },
    hasSentinel: (node) => existsSync(sentinel(node)),
    writeFile: (node, path, content, mode = 0o644) => {
      const pid = firstProcessOf(node, labFiles(dir).rebootNode(node));
      // By way of the node's own view of its files: a link on it must not lead to the machine's.
      const script = 'mkdir -p "$(dirname "$1")" && cat > "$1" && chmod "$2" "$1"';
      const args = ['-t', String(pid), '-m', '--', 'sh', '-c', script, 'sh', path, mode.toString(8)];
      execFileSync('nsenter', args, { input: content, stdio: 'pipe' });
    },
    events,
  };
}

/** As the machine counts processes. @throws Error while it has not yet, or no longer, the node's files as its root */
function firstProcessOf(node: RebootNode, home: string): number {
  const pid = Number(readFileSync(join(home, 'shared', 'pid'), 'utf8'));
  const mounts = existsSync(`/proc/${pid}`) ? readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n') : [];
  const isRoot = (line: string) => line.split(' ')[4] === '/' && line.includes(`upperdir=${join(home, 'disk')},`);
  if (!mounts.some(isRoot)) throw new Error(`${node} is not up: its disk can be written to while it is`);
  return pid;
}
