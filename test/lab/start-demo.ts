import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { GaveUp, waitFor } from './wait.ts';

const main = fileURLToPath(new URL('demo/main.ts', import.meta.url));

/** A machine that is busy with other things needs a minute to set a story up. */
const PATIENCE_MS = 150_000;

/** A demo under way. */
export interface RunningDemo {
  /** Its exit code. */
  readonly ended: Promise<number | null>;
  output(): string;
  /** Ctrl-C. */
  interrupt(): void;
  says(text: string): Promise<unknown>;
}

/** Starts a demo in a running lab, as `npm run demo -- STORY --lab FOLDER` does. @param dir folder of the lab */
export function startDemo(dir: string, ...story: readonly string[]): RunningDemo {
  const child = spawn(process.execPath, [main, ...story, '--lab', dir], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return {
    ended,
    output: () => output,
    interrupt: () => child.kill('SIGINT'),
    says: (text: string) =>
      waitFor(
        `the demo says "${text}"`,
        () => {
          if (child.exitCode !== null) throw new GaveUp(`it has ended with ${child.exitCode}:\n${output}`);
          return output.includes(text);
        },
        PATIENCE_MS,
      ),
  };
}
