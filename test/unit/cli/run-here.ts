import { vi } from 'vitest';
import { runHoldfast } from '../../../src/starters/run-holdfast.ts';
import type { CliRun } from './run-cli.ts';

/**
 * Runs `holdfast` in this process, which saves the start of one for each of many cases. For one run at a time.
 *
 * @param env variables beside those of the test process; Temporal's own are taken away
 */
export async function runHere(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CliRun> {
  for (const name of Object.keys(process.env)) if (/^(TEMPORAL|HOLDFAST)_/.test(name)) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  const before = process.exitCode;
  process.exitCode = 0;
  try {
    await runHoldfast(args);
    return { code: Number(process.exitCode), stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.exitCode = before;
    stdout.restore();
    stderr.restore();
    vi.unstubAllEnvs();
  }
}

function capture(stream: NodeJS.WriteStream): { text: () => string; restore: () => void } {
  const written: string[] = [];
  const spy = vi.spyOn(stream, 'write').mockImplementation((chunk) => {
    written.push(String(chunk));
    return true;
  });
  return { text: () => written.join(''), restore: () => spy.mockRestore() };
}
