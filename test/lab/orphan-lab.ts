import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { PartName } from './lab.ts';
import { readState } from './lab-state.ts';
import { identify, isAlive, signalProcess } from './process-identity.ts';
import { waitFor } from './wait.ts';

/** Starts a lab from a process of its own and kills that process once the lab serves. @returns the lab's folder */
export async function startInAProcessThatDies(parts: readonly PartName[]): Promise<string> {
  const labModule = JSON.stringify(join(import.meta.dirname, 'lab.ts'));
  const script = `const { startLab } = await import(${labModule});
    const lab = await startLab({ parts: ${JSON.stringify(parts)}, log: () => {} });
    console.log(lab.env.dir);
    setInterval(() => {}, 1000);`;
  const launcher = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const id = identify(launcher.pid ?? -1);
  const dir = await new Promise<string>((resolve, reject) => {
    launcher.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
    launcher.once('exit', () => reject(new Error('the launcher ended before its lab was up')));
  });
  if (readState(dir)?.ready !== true) throw new Error(`the lab in ${dir} did not come up`);
  if (id) signalProcess(id, 'SIGKILL');
  await waitFor('the launcher is gone', () => id === null || !isAlive(id));
  return dir;
}
