// Plays many more stories of a model than the unit suite does. `-- node-reboot`: two campaigns on one cluster, for
// HOLDFAST_SIM_STEPS steps [1000000]. Without: a fleet and its release, HOLDFAST_SIM_RUNS stories [50000].
import { spawnSync } from 'node:child_process';
import { simulateNodeReboot } from './simulate-node-reboot.ts';

process.exitCode =
  process.argv[2] === 'node-reboot'
    ? simulateNodeReboot(Number(process.env.HOLDFAST_SIM_STEPS ?? 1_000_000))
    : simulateRelease(process.env.HOLDFAST_SIM_RUNS ?? '50000');

function simulateRelease(runs: string): number {
  const started = Date.now();
  const { status } = spawnSync(
    'vitest',
    ['run', '--config', 'vitest.unit.config.ts', '--testTimeout=3600000', 'test/domain/release/simulation.test.ts'],
    { stdio: 'inherit', env: { ...process.env, HOLDFAST_SIM_RUNS: runs } },
  );
  console.log(
    `${runs} stories in ${Math.round((Date.now() - started) / 1000)} s: ${status === 0 ? 'no promise broken' : 'FAILED'}`,
  );
  return status ?? 1;
}
