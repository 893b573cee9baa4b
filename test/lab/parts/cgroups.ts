import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../wait.ts';

/** Makes the cgroup below which all pods of a lab run, in every hierarchy that is mounted. */
export function makeCgroup(path: string): void {
  for (const root of hierarchies()) {
    const folder = join(root, path);
    mkdirSync(folder, { recursive: true });
    // In version 1 a new cpuset is empty, and nothing can be put into an empty one.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      if (isCpusetV1(root)) writeFileSync(join(folder, file), readFileSync(join(root, file), 'utf8'));
    }
  }
}

/** Kills every process below the cgroup and removes it. @throws Error when something stays */
export async function removeCgroup(path: string): Promise<void> {
  const folders = () =>
    hierarchies()
      .map((root) => join(root, path))
      .filter((folder) => existsSync(folder));
  await waitFor(
    `the cgroup ${path} is empty and removed`,
    () => {
      for (const folder of folders()) for (const pid of processesBelow(folder)) kill(pid);
      for (const folder of folders()) removeEmpty(folder);
      return folders().length === 0;
    },
    20_000,
    50,
  );
}

function hierarchies(): string[] {
  return readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([, folder, type]) => (folder && (type === 'cgroup' || type === 'cgroup2') ? [folder] : []));
}

function isCpusetV1(root: string): boolean {
  return existsSync(join(root, 'cpuset.cpus')) && !existsSync(join(root, 'cgroup.controllers'));
}

function subfolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(folder, entry.name));
  } catch {
    return []; // gone meanwhile
  }
}

function processesBelow(folder: string): number[] {
  const below = subfolders(folder).flatMap(processesBelow);
  try {
    const own = readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
    return [...own, ...below];
  } catch {
    return below;
  }
}

function removeEmpty(folder: string): void {
  for (const below of subfolders(folder)) removeEmpty(below);
  try {
    rmdirSync(folder);
  } catch {
    // still in use: tried again
  }
}

function kill(pid: number): void {
  try {
    if (pid > 1) process.kill(pid, 'SIGKILL');
  } catch {
    // gone meanwhile
  }
}
