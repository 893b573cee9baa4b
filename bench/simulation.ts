// Plays many more stories of the simulated fleet than the unit suite does: HOLDFAST_SIM_RUNS of them [50000].
import { spawnSync } from 'node:child_process';

const runs = process.env.HOLDFAST_SIM_RUNS ?? '50000';
const started = Date.now();
const { status } = spawnSync(
  'vitest',
  ['run', '--config', 'vitest.unit.config.ts', '--testTimeout=3600000', 'test/domain/release/simulation.test.ts'],
  { stdio: 'inherit', env: { ...process.env, HOLDFAST_SIM_RUNS: runs } },
);
console.log(
  `${runs} stories in ${Math.round((Date.now() - started) / 1000)} s: ${status === 0 ? 'no promise broken' : 'FAILED'}`,
);
process.exitCode = status ?? 1;
