import { spawnSync } from 'node:child_process';

/** The first version number that a program prints when asked for it; null when it prints none. */
export function versionOf(path: string, args: string[] = ['--version']): string | null {
  const result = spawnSync(path, args, { encoding: 'utf8', timeout: 20_000 });
  if (result.status !== 0) return null;
  return /\bv?(\d+\.\d+\.\d+)/.exec(result.stdout + result.stderr)?.[1] ?? null;
}

/** Whether two versions agree in major and minor number: the lab's configuration fits both. */
export function sameMinor(version: string | null, pinned: string): boolean {
  return version !== null && version.split('.').slice(0, 2).join('.') === pinned.split('.').slice(0, 2).join('.');
}
