import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What a run of the command line came to. */
export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** Options of Node itself, before the launcher. */
  readonly nodeOptions?: readonly string[];
  readonly cwd?: string;
}

const launcher = fileURLToPath(new URL('../../../bin/holdfast.js', import.meta.url));

/** Runs `holdfast` as people do, in a process of its own that inherits no settings of Temporal, Kubernetes or colour. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  const child = spawn(process.execPath, [...(options.nodeOptions ?? []), launcher, ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  // A command that does not read its input may be gone before it is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.stdin ?? '');
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, stdout: stdout(), stderr: stderr() };
}

/** The lines that look like a stack trace, which people must never see. */
export function stackTraceIn(run: CliRun): readonly string[] {
  return `${run.stdout}\n${run.stderr}`.split('\n').filter((line) => /^\s+at .+[:(]/.test(line));
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}
