import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { searchAttributes } from '../temporal/search-attributes.ts';

export interface TemporalServerOptions {
  /** The Temporal CLI. */
  readonly program: string;
  /** Holds `temporal.db` and `temporal.log`; made where it is missing. */
  readonly folder: string;
  readonly port: number;
  readonly uiPort: number;
  readonly namespace: string;
}

/** A server that runs until it is stopped or this process is gone. */
export interface TemporalServer {
  readonly address: string;
  readonly ui: string;
  /** Settles when the server has ended by itself. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;

/**
 * Ends the server when standard input closes: that is how it is stopped, and what happens by itself when this process is
 * killed, so that no server is ever left behind.
 */
const keeper = `exec 3<&0
"$@" 3<&- </dev/null &
server=$!
(cat <&3 >/dev/null; kill "$server" 2>/dev/null) &
exec 3<&-
wait "$server"`;

/**
 * Starts Temporal's development server with its UI and a SQLite file, and waits until it answers.
 *
 * @throws CliError where a port is taken, or with the end of its log where it does not come up
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  const { folder, port, uiPort } = options;
  await requireFree(port, '--port', 'use the server that runs there instead: holdfast worker');
  await requireFree(uiPort, '--ui-port', 'choose another one');
  mkdirSync(folder, { recursive: true });
  const logFile = join(folder, 'temporal.log');
  const child = spawnServer(options, logFile);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const address = `127.0.0.1:${port}`;
  try {
    await untilAnswering(address, ended);
  } catch (error) {
    await stop(child, ended);
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(
      exitCodes.undetermined,
      `the embedded Temporal server ${reason}; its log, ${logFile}, ends with:\n${endOf(logFile)}`,
    );
  }
  return { address, ui: `http://127.0.0.1:${uiPort}`, ended, stop: () => stop(child, ended) };
}

function spawnServer(options: TemporalServerOptions, logFile: string): ChildProcess {
  const log = openSync(logFile, 'w');
  const args = [
    'server',
    'start-dev',
    '--ip=127.0.0.1',
    `--port=${options.port}`,
    `--ui-port=${options.uiPort}`,
    `--db-filename=${join(options.folder, 'temporal.db')}`,
    `--namespace=${options.namespace}`,
    '--log-level=warn',
    ...Object.entries(searchAttributes).map(([name, type]) => `--search-attribute=${name}=${type}`),
  ];
  // A process group of its own, so that Ctrl-C reaches it only after the worker has handed back its work.
  const child = spawn('/bin/sh', ['-c', keeper, 'sh', options.program, ...args], {
    stdio: ['pipe', log, log],
    detached: true,
  });
  child.stdin?.on('error', () => undefined);
  closeSync(log);
  return child;
}

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.stdin?.destroy();
  const late = new AbortController();
  await Promise.race([ended, sleep(STOP_TIMEOUT_MS, undefined, { signal: late.signal }).catch(() => undefined)]);
  late.abort();
  if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
    process.kill(-child.pid, 'SIGKILL');
}

async function untilAnswering(address: string, ended: Promise<void>): Promise<void> {
  let over = false;
  void ended.then(() => {
    over = true;
  });
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!over && Date.now() < deadline) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: 1_000 });
      await connection.close();
      return;
    } catch {
      await sleep(100);
    }
  }
  throw new Error(over ? 'ended at once' : `did not answer within ${START_TIMEOUT_MS / 1000} s`);
}

async function requireFree(port: number, option: string, otherwise: string): Promise<void> {
  const taken = await new Promise<boolean>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const end = (listens: boolean): void => {
      socket.destroy();
      resolve(listens);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.setTimeout(2_000, () => end(false));
  });
  if (!taken) return;
  throw new CliError(
    exitCodes.invalid,
    `something listens on 127.0.0.1:${port} already; give another port (${option}), or ${otherwise}`,
  );
}

function endOf(file: string): string {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(-5);
  return lines.map((line) => `  ${line}`).join('\n');
}
