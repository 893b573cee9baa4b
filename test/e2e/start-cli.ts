import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { GaveUp, waitFor } from '../lab/wait.ts';

/** `holdfast` that goes on running, as in a terminal that somebody else can look at. */
export interface RunningCli {
  readonly pid: number;
  /** Everything it has written so far, both streams in their order of arrival. */
  output(): string;
  /** Waits until it has written this. */
  says(pattern: RegExp): Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** The exit code; null where a signal ended it. */
  readonly exited: Promise<number | null>;
}

const ownLauncher = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));

/**
 * Starts `holdfast` in a process of its own; the caller ends it.
 *
 * @param launcher of another copy of it [the one of this checkout]
 */
export function startCli(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  launcher = ownLauncher,
): RunningCli {
  const child = spawn(process.execPath, [launcher, ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      written += data.toString();
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return {
    pid: child.pid ?? -1,
    output: () => written,
    says: (pattern) =>
      waitFor(`holdfast ${args.join(' ')} to say ${String(pattern)}`, () => {
        const found = pattern.exec(written);
        if (found !== null) return Promise.resolve(found[0]);
        if (child.exitCode !== null) throw new GaveUp(`it has ended with ${child.exitCode}:\n${written}`);
        throw new Error(`it has said:\n${written}`);
      }),
    signal: (name) => child.kill(name),
    exited,
  };
}
