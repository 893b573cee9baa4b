import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { whichProgram, type CachedBuild } from './find-program.ts';
import { runTool, type Log } from './run-tool.ts';

export interface DebianPackagesOptions {
  /** What the packages depend on and this machine lacks is unpacked beside them, for a program that is told where to look. */
  readonly withMissing?: boolean;
  /** What is left to do in the folder when all is unpacked. */
  readonly finish?: (folder: string) => void;
}

/**
 * Debian packages unpacked into the cache: nothing is installed, so no service is started and nothing has to be removed.
 * Most depend on the C library and libseccomp only, which every Debian has.
 *
 * @param name the cache's name for this set
 */
export function debianPackages(
  name: string,
  packages: readonly string[],
  { withMissing = false, finish = () => {} }: DebianPackagesOptions = {},
): CachedBuild {
  return {
    key: `${name}-${distribution()}`,
    build: async (into, log) => {
      if (!whichProgram('apt-get') || !whichProgram('dpkg-deb')) {
        throw new Error(`it is taken from the packages ${packages.join(', ')}, and this is no Debian or Ubuntu`);
      }
      const downloads = join(into, 'packages');
      mkdirSync(downloads);
      await download(packages, withMissing, downloads, log);
      for (const file of readdirSync(downloads)) {
        await runTool({
          doing: `unpacking ${file}`,
          command: 'dpkg-deb',
          args: ['--extract', join(downloads, file), into],
          log,
        });
      }
      rmSync(downloads, { recursive: true });
      finish(into);
    },
  };
}

async function download(packages: readonly string[], withMissing: boolean, cwd: string, log: Log): Promise<void> {
  const get = async () => {
    const all = withMissing ? await missing(packages, log) : packages;
    await runTool({
      doing: `downloading ${packages.join(', ')}`,
      command: 'apt-get',
      args: ['download', '-q', ...all],
      cwd,
      log,
    });
  };
  try {
    await get();
  } catch (error) {
    // A machine that never asked for its package lists knows no package; only root may ask for them.
    if (process.getuid?.() !== 0) throw error;
    await runTool({ doing: 'updating the package lists', command: 'apt-get', args: ['update', '-q'], log });
    await get();
  }
}

/** The packages and what else would come with them on this machine. Asked of a simulation, which needs no rights. */
async function missing(packages: readonly string[], log: Log): Promise<readonly string[]> {
  const plan = await runTool({
    doing: `looking at what ${packages.join(', ')} depends on`,
    command: 'apt-get',
    args: ['install', '--simulate', '--no-install-recommends', ...packages],
    log,
  });
  return plan.split('\n').flatMap((line) => /^Inst (\S+) /.exec(line)?.[1] ?? []);
}

/** The distribution and its release, `debian-12`; packages of another one are another set. */
function distribution(): string {
  const path = '/etc/os-release';
  if (!existsSync(path)) return process.platform;
  const text = readFileSync(path, 'utf8');
  const value = (key: string) => new RegExp(`^${key}="?([^"\n]*)"?$`, 'm').exec(text)?.[1] ?? 'unknown';
  return `${value('ID')}-${value('VERSION_ID')}`;
}
