import { spawn } from 'node:child_process';

export type Log = (line: string) => void;

export interface ToolRun {
  /** What the tool is doing, for people: "building etcd 3.6.4". */
  doing: string;
  command: string;
  args: string[];
  cwd?: string;
  env?: Record<string, string>;
  log: Log;
}

const PROGRESS_EVERY_MS = 10_000;

/**
 * Runs a build tool to its end, with a line of progress every ten seconds.
 *
 * @returns what it printed on standard output
 * @throws Error with the end of what it printed when it cannot be started or exits with anything but 0
 */
export async function runTool({ doing, command, args, cwd, env, log }: ToolRun): Promise<string> {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const progress = setInterval(() => log(`${doing}: ${seconds()} s`), PROGRESS_EVERY_MS);
  try {
    const { code, stdout, tail } = await run(command, args, cwd, env);
    if (code !== 0)
      throw new Error(`${doing} failed: \`${[command, ...args].join(' ')}\` exited with ${code}\n${tail}`);
    if (seconds() >= 1) log(`${doing}: done in ${seconds()} s`);
    return stdout;
  } finally {
    clearInterval(progress);
  }
}

function run(
  command: string,
  args: string[],
  cwd: string | undefined,
  env: Record<string, string> | undefined,
): Promise<{ code: number | null; stdout: string; tail: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      ...(cwd ? { cwd } : {}),
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let all = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      all += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => (all += chunk.toString()));
    child.once('error', (error) => reject(new Error(`${command} cannot be started: ${error.message}`)));
    child.once('close', (code) => resolve({ code, stdout, tail: all.trimEnd().split('\n').slice(-15).join('\n') }));
  });
}
