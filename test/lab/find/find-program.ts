import { accessSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { cacheDir } from '../paths.ts';
import { identify } from '../process-identity.ts';
import { withLock } from './build-lock.ts';
import type { Log } from './run-tool.ts';

/** A folder of the cache: its name carries the pinned version, and it exists only when it is complete. */
export interface CachedBuild {
  key: string;
  /** Fills the folder `into`. Throws with the reason when it cannot. */
  build: (into: string, log: Log) => Promise<void>;
}

export interface Program {
  /** As people call it; `HOLDFAST_LAB_<NAME>` is the variable that names a file to use instead. */
  name: string;
  /** Names to look for on PATH. */
  onPath: string[];
  /** Whether a program found on PATH is fit. A program named by the variable is taken as it is. */
  accepts: (path: string) => Promise<boolean> | boolean;
  cached: CachedBuild;
  /** The program's place in the cache's folder. */
  file: string;
  /** Ways for a person to get it, as one sentence each. */
  ways: string[];
}

/**
 * Finds a program: the environment variable, then PATH, then the cache, then it is built into the cache.
 *
 * @returns its absolute path
 * @throws Error that names the program, what went wrong, and the ways to get it
 */
export async function findProgram(program: Program, log: Log): Promise<string> {
  const variable = variableOf(program.name);
  const named = process.env[variable];
  if (named) {
    if (isExecutable(named)) return named;
    throw new Error(`${variable} names ${named}, which is not a file that can be executed`);
  }
  for (const candidate of program.onPath.flatMap(allOnPath)) {
    if (await program.accepts(candidate)) return candidate;
  }
  try {
    return join(await ensureCached(program.cached, log), program.file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const ways = [...program.ways, `set ${variable} to the program's file`].map((way) => `  - ${way}`).join('\n');
    throw new Error(`the lab has no ${program.name}: ${reason}\nWays to get it:\n${ways}`, { cause: error });
  }
}

/** The folder of a build in the cache, built now if it is not there. Two processes that want the same one build it once. */
export async function ensureCached({ key, build }: CachedBuild, log: Log): Promise<string> {
  const folder = join(cacheDir(), key);
  if (existsSync(folder)) return folder;
  return withLock(
    `${folder}.lock`,
    async () => {
      if (existsSync(folder)) return folder;
      removeLeftovers(folder);
      const into = `${folder}.tmp.${process.pid}`;
      mkdirSync(into, { recursive: true });
      try {
        await build(into, log);
        renameSync(into, folder);
      } finally {
        rmSync(into, { recursive: true, force: true });
      }
      return folder;
    },
    (holder) => log(`waiting for ${basename(folder)}, which process ${holder.pid} builds`),
  );
}

/** The first executable of that name on PATH; null when there is none. */
export function whichProgram(name: string): string | null {
  return allOnPath(name)[0] ?? null;
}

function allOnPath(name: string): string[] {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .filter(isExecutable);
}

function variableOf(name: string): string {
  return `HOLDFAST_LAB_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Half-built folders of processes that were killed while building. */
function removeLeftovers(folder: string): void {
  const prefix = `${basename(folder)}.tmp.`;
  for (const name of readdirSync(dirname(folder))) {
    if (name.startsWith(prefix) && !identify(Number(name.slice(prefix.length)))) {
      rmSync(join(dirname(folder), name), { recursive: true, force: true });
    }
  }
}
