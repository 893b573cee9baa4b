import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/**
 * A process that can be told from a later one with the same number: process ids are used again, start times are not.
 * `startedAt` is opaque: only compare it.
 */
export interface ProcessId {
  readonly pid: number;
  readonly startedAt: string;
}

/** Set in the environment of everything a lab starts, and inherited by what those start: its value is the lab's folder. */
export const LAB_MARKER = 'HOLDFAST_LAB_PROCESS_OF';

/** The identity of a running process; null when there is none with this number (one that only waits to be reaped is none). */
export function identify(pid: number): ProcessId | null {
  const startedAt = process.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
  return startedAt === null ? null : { pid, startedAt };
}

/** Whether this very process still runs. */
export function isAlive(id: ProcessId): boolean {
  return identify(id.pid)?.startedAt === id.startedAt;
}

/** Sends a signal to this very process and to no other; false when it has gone. */
export function signalProcess(id: ProcessId, signal: NodeJS.Signals): boolean {
  if (!isAlive(id)) return false;
  try {
    return process.kill(id.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/**
 * All processes that carry the mark of the lab in `dir`, whoever their parent is by now: also those that detached
 * themselves (containerd's shims) and those whose start was not recorded because the launcher was killed right then.
 * Linux only; elsewhere the recorded processes are all there are.
 */
export function processesOfLab(dir: string): ProcessId[] {
  if (process.platform !== 'linux') return [];
  const wanted = `${LAB_MARKER}=${dir}`;
  const found: ProcessId[] = [];
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const environment = readOrNull(`/proc/${pid}/environ`);
    if (environment === null || !environment.split('\0').includes(wanted)) continue;
    const id = identify(pid);
    if (id) found.push(id);
  }
  return found;
}

function startTimeFromProc(pid: number): string | null {
  const stat = readOrNull(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The second field is the program's name in brackets and may hold anything, brackets and spaces included.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  if (state === 'Z' || state === 'X') return null;
  return fields[19] ?? null;
}

function startTimeFromPs(pid: number): string | null {
  try {
    const [state, ...start] = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .split(/\s+/);
    return !state || state.startsWith('Z') ? null : start.join(' ');
  } catch {
    return null;
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
