// Everything that can be checked without running the product: types, lint, import rules, dead code, formatting.
import { spawnSync } from 'node:child_process';

const checks: readonly (readonly [string, ...string[]])[] = [
  ['tsc', '--project', '.'],
  ['eslint', '.', '--max-warnings', '0'],
  ['depcruise', '--config', '.dependency-cruiser.cjs', 'src', 'test', 'bench', 'scripts'],
  ['knip'],
  ['prettier', '--check', '--log-level', 'warn', '.'],
];

const failed: string[] = [];
for (const [command, ...args] of checks) {
  const started = Date.now();
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${command} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  if (status !== 0) failed.push(command);
}
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`);
  process.exit(1);
}
