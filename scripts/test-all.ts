// `npm test`: the checks, then every test, with one closing line that counts them all.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** One run of vitest. What two that run at once print is told apart by their names. */
interface Suite {
  readonly name: string;
  readonly config: string;
  readonly files: readonly string[];
}

const unit: Suite = { name: 'unit', config: 'vitest.unit.config.ts', files: [] };
/**
 * The tests with real parts mostly wait, so two runs go at once, each with a lab of its own. The second takes all that the
 * first leaves, so that no folder is forgotten.
 */
const lab: readonly Suite[] = [
  { name: 'e2e', config: 'vitest.lab.config.ts', files: ['test/e2e/'] },
  { name: 'lab', config: 'vitest.lab.config.ts', files: ['--exclude', 'test/e2e/**'] },
];

const running = new Set<ChildProcess>();
let interrupted = false;
const reports = mkdtempSync(join(tmpdir(), 'holdfast-test-'));

function check(): boolean {
  return spawnSync('node', ['scripts/check.ts'], { stdio: 'inherit' }).status === 0;
}

/** Runs a suite and counts its tests from its own report; a run without one counts as a failure. */
async function run({ name, config, files }: Suite): Promise<Counts> {
  const report = join(reports, `${name}.json`);
  const args = ['run', '--config', config, ...files];
  const outputs = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const child = spawn('vitest', [...args, ...outputs], { stdio: ['inherit', 'pipe', 'pipe'] });
  running.add(child);
  const printed = [forward(child.stdout, process.stdout, name), forward(child.stderr, process.stderr, name)];
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  running.delete(child);
  await Promise.all(printed);
  return countsIn(report, name, status);
}

/** Both at once, but one after the other where they share a lab that was started before. */
async function runLab(): Promise<Counts[]> {
  if (process.env['HOLDFAST_LAB_DIR'] === undefined) return Promise.all(lab.map(run));
  const counts: Counts[] = [];
  for (const suite of lab) if (!interrupted) counts.push(await run(suite));
  return counts;
}

async function forward(from: Readable, to: Writable, name: string): Promise<void> {
  for await (const line of createInterface({ input: from })) to.write(`${name}: ${line}\n`);
}

function countsIn(report: string, name: string, status: number | null): Counts {
  try {
    const result = JSON.parse(readFileSync(report, 'utf8')) as {
      numPassedTests: number;
      numFailedTests: number;
      numPendingTests: number;
      numTodoTests: number;
      numFailedTestSuites: number;
    };
    const counts = {
      passed: result.numPassedTests,
      failed: result.numFailedTests,
      skipped: result.numPendingTests + result.numTodoTests,
    };
    // A file that could not even be loaded has no failed test, but the run has failed.
    if (status !== 0 && counts.failed === 0) counts.failed = Math.max(1, result.numFailedTestSuites);
    if (counts.passed + counts.failed === 0) counts.failed = 1;
    return counts;
  } catch {
    console.error(`${name}: no test report was written`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

/** Ctrl-C ends the suites, which take their labs down, and are waited for. */
function handOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      interrupted = true;
      // A terminal sends it to the suites as well.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) for (const child of running) child.kill(signal);
    });
  }
}

try {
  const checked = check();
  handOnSignals();
  const all = [await run(unit)];
  if (!interrupted) all.push(...(await runLab()));
  const sum = (key: keyof Counts) => all.reduce((n, c) => n + c[key], 0);
  if (!checked) console.error('the checks failed; see above');
  console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
  process.exitCode = checked && !interrupted && sum('failed') === 0 ? 0 : 1;
} finally {
  rmSync(reports, { recursive: true, force: true });
}
