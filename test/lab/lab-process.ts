import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { labFiles } from './paths.ts';
import { identify, isAlive, LAB_MARKER, signalProcess, type ProcessId } from './process-identity.ts';
import { GaveUp, waitFor } from './wait.ts';

const ATTEMPTS = 20;
const PORT_PAUSE_MS = 250;

/** How to see that a process serves. Plain data, since another process may have to start it again. */
export type Readiness =
  | { kind: 'http'; url: string; caFile?: string; tokenFile?: string; contains?: string[] }
  | { kind: 'socket'; path: string }
  | { kind: 'file'; path: string };

/** Everything that is needed to start a process of a lab, and to start it again in the same way. */
export interface ProcessSpec {
  /** Unique within the lab; also the name of its log. */
  name: string;
  command: string;
  args: string[];
  /** Added to a small environment of its own: nothing of the caller's environment (proxies, credentials) is passed on. */
  env?: Record<string, string>;
  ready: Readiness;
  readyTimeoutMs: number;
}

export interface ProcessRecord {
  spec: ProcessSpec;
  /** The last process started for it, alive or not. */
  id: ProcessId | null;
}

/** The processes of the lab in `dir`, as last recorded there. */
export function readProcesses(dir: string): ProcessRecord[] {
  const folder = labFiles(dir).processes;
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as ProcessRecord);
}

/** One process of the lab by name, where `kube-` may be left out. @throws Error that lists the names there are */
export function readProcess(dir: string, name: string): ProcessRecord {
  const all = readProcesses(dir);
  const found = all.find((record) => record.spec.name === name || record.spec.name === `kube-${name}`);
  if (found) return found;
  throw new Error(`no process "${name}" in the lab in ${dir}: there are ${all.map((p) => p.spec.name).join(', ')}`);
}

/**
 * Starts a process, detached and with its output in the lab's log folder, and waits until it serves.
 *
 * @throws Error with the end of its log when it exits or does not serve in time; the process is left for the lab's
 *   teardown to end
 */
export async function startProcess(dir: string, spec: ProcessSpec): Promise<void> {
  const known = readProcesses(dir).find((record) => record.spec.name === spec.name);
  if (known?.id && isAlive(known.id)) throw new Error(`${spec.name} is already running (process ${known.id.pid})`);
  record(dir, { spec, id: null });
  for (let attempt = 1; ; attempt += 1) {
    const ended = await serveOnce(dir, spec);
    if (ended === null) return;
    // The last thread of a killed process lets go of its port a moment after the process itself has gone.
    if (attempt === ATTEMPTS || !ended.message.includes('address already in use')) throw ended;
    await sleep(PORT_PAUSE_MS);
  }
}

/** Starts it once. @returns null once it serves, else why it does not */
async function serveOnce(dir: string, spec: ProcessSpec): Promise<Error | null> {
  const id = await launch(dir, spec);
  record(dir, { spec, id });
  try {
    await waitFor(
      `${spec.name} serves`,
      async () => {
        if (!isAlive(id)) throw new GaveUp(`${spec.name} ended`);
        return isReady(spec.ready);
      },
      spec.readyTimeoutMs,
    );
    return null;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return new Error(`${reason}\n${logTail(dir, spec.name)}`, { cause: error });
  }
}

/**
 * Sends a signal to a process of the lab. Unless the signal only stops or continues it, waits until it has gone.
 *
 * @throws Error when it is not running, or has not gone within 30 s
 */
export async function killProcess(dir: string, name: string, signal: NodeJS.Signals): Promise<void> {
  const { id } = readProcess(dir, name);
  if (!id || !signalProcess(id, signal)) throw new Error(`${name} is not running in the lab in ${dir}`);
  if (signal === 'SIGSTOP' || signal === 'SIGCONT') return;
  await waitFor(`${name} ends on ${signal}`, () => !isAlive(id), 30_000, 20);
}

/** The last lines of a process's log, with the place of the whole. */
export function logTail(dir: string, name: string, lines = 20): string {
  const path = join(labFiles(dir).logs, `${name}.log`);
  if (!existsSync(path)) return `(no log at ${path})`;
  return `${readFileSync(path, 'utf8').trimEnd().split('\n').slice(-lines).join('\n')}\n(log: ${path})`;
}

async function launch(dir: string, spec: ProcessSpec): Promise<ProcessId> {
  const logs = labFiles(dir).logs;
  mkdirSync(logs, { recursive: true });
  const log = openSync(join(logs, `${spec.name}.log`), 'a');
  try {
    const child = spawn(spec.command, spec.args, {
      cwd: dir,
      detached: true,
      stdio: ['ignore', log, log],
      env: { PATH: process.env['PATH'] ?? '', HOME: dir, TMPDIR: dir, LANG: 'C.UTF-8', ...spec.env, [LAB_MARKER]: dir },
    });
    await once(child, 'spawn');
    child.unref();
    const id = child.pid === undefined ? null : identify(child.pid);
    if (!id) throw new Error(`${spec.name} ended at once\n${logTail(dir, spec.name)}`);
    return id;
  } finally {
    closeSync(log);
  }
}

async function isReady(ready: Readiness): Promise<boolean> {
  if (ready.kind === 'file') return existsSync(ready.path);
  if (ready.kind === 'socket') return acceptsConnections(ready.path);
  const agent = new Agent({
    connect: { ...(ready.caFile ? { ca: readFileSync(ready.caFile, 'utf8') } : {}), timeout: 2_000 },
  });
  try {
    const response = await request(ready.url, {
      dispatcher: agent,
      headers: ready.tokenFile ? { authorization: `Bearer ${readFileSync(ready.tokenFile, 'utf8')}` } : {},
      headersTimeout: 5_000,
      bodyTimeout: 5_000,
    });
    const body = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`${ready.url} answers ${response.statusCode}`);
    const missing = (ready.contains ?? []).find((part) => !body.includes(part));
    if (missing !== undefined) throw new Error(`${ready.url} does not know ${missing} yet`);
    return true;
  } finally {
    await agent.destroy();
  }
}

function acceptsConnections(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

function record(dir: string, entry: ProcessRecord): void {
  const folder = labFiles(dir).processes;
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${entry.spec.name}.json`);
  // Written aside and renamed, so that a reader never sees half a record.
  writeFileSync(`${path}.new`, JSON.stringify(entry, null, 2), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
