import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './find/build-lock.ts';
import type { Log } from './find/run-tool.ts';
import { isAbandoned, listLabs, readState, unregisterLab, type LabState, type NodeTraces } from './lab-state.ts';
import { readProcesses } from './lab-process.ts';
import { removeCgroup } from './parts/cgroups.ts';
import { planNodeTraces, rebootNodesCgroup, removeNodeTraces } from './parts/node-traces.ts';
import { labsDir } from './paths.ts';
import { isAlive, processesOfLab, signalProcess, type ProcessId } from './process-identity.ts';
import { waitFor } from './wait.ts';

/**
 * Ends everything of the lab in `dir` and removes what it left on the machine. Works from the lab's records alone, so it is
 * the same for a lab that is stopped by its launcher, by another command, or found after its launcher was killed.
 * Processes are killed without a good-bye: nothing of a lab outlives it, so there is nothing to save.
 *
 * @throws Error that names what is still there
 */
export async function teardown(dir: string): Promise<void> {
  const state = readStateLeniently(dir);
  await endProcesses(dir);
  const traces = tracesOf(dir, state);
  if (traces) await removeNodeTraces(traces, dir);
  await removeCgroup(rebootNodesCgroup(dir));
  removeFolder(dir, listLabs().find((entry) => entry.dir === dir)?.temporary ?? false);
  unregisterLab(dir);
}

/** Takes down every lab of this user that nobody will come back for. */
export async function takeDownAbandonedLabs(log: Log): Promise<void> {
  if (!listLabs().some(isAbandoned)) return;
  // Two starts at once must not take the same one down.
  await withLock(join(labsDir(), 'clean-up.lock'), async () => {
    for (const entry of listLabs().filter(isAbandoned)) {
      log(`cleaning up the lab in ${entry.dir}, which its launcher left behind`);
      await teardown(entry.dir);
    }
  });
}

async function endProcesses(dir: string): Promise<void> {
  const seen = new Map<number, ProcessId>();
  const alive = () => {
    for (const { id } of readProcesses(dir)) if (id) seen.set(id.pid, id);
    for (const id of processesOfLab(dir)) seen.set(id.pid, id);
    return [...seen.values()].filter(isAlive);
  };
  try {
    // Asked anew each time: what is being ended may start something until it has gone.
    await waitFor(
      'all processes end',
      () => {
        const left = alive();
        for (const id of left) signalProcess(id, 'SIGKILL');
        return left.length === 0;
      },
      20_000,
      50,
    );
  } catch (error) {
    const pids = alive().map((id) => id.pid);
    throw new Error(`the lab in ${dir} could not be ended: still running: ${pids.join(', ')}`, { cause: error });
  }
}

/** A folder that the lab made goes with it; of one that was asked for, the logs stay. */
function removeFolder(dir: string, temporary: boolean): void {
  if (!existsSync(dir)) return;
  if (temporary) {
    rmSync(dir, { recursive: true, force: true });
    return;
  }
  for (const name of readdirSync(dir)) {
    if (name !== 'log') rmSync(join(dir, name), { recursive: true, force: true });
  }
}

/** The record, or what can be told from the folder's name alone when it was removed or broken by hand. */
function tracesOf(dir: string, state: LabState | null): NodeTraces | null {
  if (state) return state.node;
  const traces = { ...planNodeTraces(dir), createdDirs: [] };
  return existsSync(`/sys/class/net/${traces.bridge}`) ? traces : null;
}

function readStateLeniently(dir: string): LabState | null {
  try {
    return readState(dir);
  } catch {
    return null; // one broken record must not keep every later lab from starting
  }
}
