// `npm test`: the checks, then every test, with one closing line that counts them all.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const reports = mkdtempSync(join(tmpdir(), 'holdfast-test-'));

function check(): boolean {
  return spawnSync('node', ['scripts/check.ts'], { stdio: 'inherit' }).status === 0;
}

/** Runs one vitest project and counts its tests from its own report; a run without one counts as a failure. */
function suite(name: string): Counts {
  const report = join(reports, `${name}.json`);
  const run = spawnSync(
    'vitest',
    [
      'run',
      '--config',
      `vitest.${name}.config.ts`,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ],
    { stdio: 'inherit' },
  );
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
    if (run.status !== 0 && counts.failed === 0) counts.failed = Math.max(1, result.numFailedTestSuites);
    if (counts.passed + counts.failed === 0) counts.failed = 1;
    return counts;
  } catch {
    console.error(`${name}: no test report was written`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

try {
  const checked = check();
  const all = ['unit', 'lab'].map((name) => suite(name));
  const sum = (key: keyof Counts) => all.reduce((n, c) => n + c[key], 0);
  if (!checked) console.error('the checks failed; see above');
  console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
  process.exitCode = checked && sum('failed') === 0 ? 0 : 1;
} finally {
  rmSync(reports, { recursive: true, force: true });
}
