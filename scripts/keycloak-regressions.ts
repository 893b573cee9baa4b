// Makes each mistake of keycloak-mutants.ts in a copy of the sources, and sees to it that a test by the given name goes
// red. Prints the list as Markdown; `node scripts/keycloak-regressions.ts R12 R13` makes some of them.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mutants, type Mutant } from './keycloak-mutants.ts';

const copied = ['package.json', 'tsconfig.json', 'vitest.unit.config.ts', 'src/domain', 'test/domain', 'test/unit'];
const tests = 'test/domain/keycloak-flow';
const wanted = process.argv.slice(2);

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly title: string;
      readonly fullName: string;
    }[];
  }[];
}

const root = mkdtempSync(join(tmpdir(), 'holdfast-mutants-'));
const missed: string[] = [];
try {
  for (const path of copied) cpSync(path, join(root, path), { recursive: true });
  symlinkSync(join(process.cwd(), 'node_modules'), join(root, 'node_modules'));
  const unharmed = run([tests], '');
  console.log('| Mistake | Noticed by |\n| --- | --- |');
  for (const mutant of mutants.filter((m) => wanted.length === 0 || wanted.includes(m.id))) tryMutant(mutant, unharmed);
} finally {
  rmSync(root, { recursive: true, force: true });
}
if (missed.length > 0) {
  console.error(`not noticed:\n${missed.join('\n')}`);
  process.exit(1);
}

function tryMutant({ id, what, file, from, to, tests: pattern }: Mutant, unharmed: Report): void {
  const miss = (why: string) => missed.push(`${id}, ${what}: ${why}`);
  const path = join(root, 'src/domain', file);
  const before = readFileSync(path, 'utf8');
  const found = before.split(from).length - 1;
  if (found !== 1) return void miss(`its place is found ${found} times in ${file}`);
  const files = filesWith(pattern, unharmed);
  if (files.length === 0) return void miss(`no test is named like ${pattern}`);
  if (redOf(unharmed, pattern).length > 0) return void miss(`a test named like ${pattern} is red without it`);
  writeFileSync(
    path,
    before.replace(from, () => to),
  );
  const red = redOf(run(files, pattern), pattern);
  writeFileSync(path, before);
  if (red.length === 0) miss(`no test named like ${pattern} went red`);
  const more = red.length > 2 ? ` and ${red.length - 2} more` : '';
  console.log(`| ${id}: ${what} | ${red.length === 0 ? 'nothing' : red.slice(0, 2).join('; ') + more} |`);
}

/** The files whose tests have such names; generated histories, which take long, only where no other file does. */
function filesWith(pattern: string, { testResults }: Report): string[] {
  const named = testResults.filter((file) => file.assertionResults.some((t) => new RegExp(pattern).test(t.fullName)));
  const quick = named.filter((file) => !file.name.includes('properties'));
  return (quick.length > 0 ? quick : named).map((file) => file.name);
}

function redOf({ testResults }: Report, pattern: string): string[] {
  return testResults
    .flatMap((file) => file.assertionResults)
    .filter(({ status, fullName }) => status === 'failed' && new RegExp(pattern).test(fullName))
    .map(({ title }) => title);
}

/** Runs the tests of the given files whose names match, all of them where the pattern is empty. */
function run(files: readonly string[], pattern: string): Report {
  const report = join(root, 'report.json');
  rmSync(report, { force: true });
  const options = ['--config', 'vitest.unit.config.ts', '--reporter=json', `--outputFile=${report}`, '-t', pattern];
  const { error } = spawnSync('vitest', ['run', ...files, ...options], { cwd: root, stdio: 'ignore' });
  if (error) throw error;
  return JSON.parse(readFileSync(report, 'utf8')) as Report;
}
