import { spawn } from 'node:child_process';
import { redact } from '../../domain/core/redact.ts';

/** What came of a program. */
export type CommandEnd =
  /** `code` is null where a signal ended it. `said` is the first line of what it printed, cut short and scrubbed. */
  | { readonly kind: 'ended'; readonly code: number | null; readonly said: string }
  | { readonly kind: 'timeout' }
  /** It was never started. */
  | { readonly kind: 'unstarted'; readonly message: string };

/** The one variable that it gets: nothing of the worker's own, which has secrets among it. */
const environment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

const longestOutput = 4_000;
const longestLine = 200;
/** For what it printed to arrive after its end. */
const lastWordsMs = 200;

/**
 * Runs a program without a shell, in a process group of its own, and waits for its end. After its time, or when the signal
 * aborts, the whole group is killed; what it had done by then nobody knows.
 *
 * @throws the signal's reason when it aborts
 */
export async function runCommand(
  [program, ...args]: readonly [string, ...string[]],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<CommandEnd> {
  signal.throwIfAborted();
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: false,
    detached: true,
    cwd: '/',
    env: environment,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      if (output.length < longestOutput) output += data.toString('utf8');
    });
  }
  const kill = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  };
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    kill();
  }, timeoutMs);
  signal.addEventListener('abort', kill, { once: true });
  try {
    const end = await new Promise<CommandEnd>((resolve) => {
      child.once('error', (error) => resolve({ kind: 'unstarted', message: codeOf(error) }));
      child.once('close', (code) => resolve({ kind: 'ended', code, said: firstLine(output) }));
      // A process that it has left behind may hold its output open.
      child.once('exit', (code) => {
        setTimeout(() => resolve({ kind: 'ended', code, said: firstLine(output) }), lastWordsMs);
      });
    });
    signal.throwIfAborted();
    return late ? { kind: 'timeout' } : end;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

function firstLine(output: string): string {
  const line = output.split('\n').find((one) => one.trim() !== '') ?? '';
  return redact(line.trim()).slice(0, longestLine);
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
}
