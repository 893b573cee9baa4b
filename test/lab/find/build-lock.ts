import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { identify, isAlive, type ProcessId } from '../process-identity.ts';
import { waitFor } from '../wait.ts';

/**
 * Runs `work` while no other process runs it under the same lock file. A lock whose process has gone is taken over.
 *
 * @param onWait called once, with the holder, when somebody else holds it
 * @param timeoutMs milliseconds to wait for the holder
 */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  onWait: (holder: ProcessId) => void = () => {},
  timeoutMs = 45 * 60_000,
): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  let told = false;
  await waitFor(
    `the lock ${path}`,
    () => {
      if (tryLock(path)) return true;
      const holder = holderOf(path);
      if (holder && isAlive(holder)) {
        if (!told) onWait(holder);
        told = true;
      } else {
        discardStale(path, holder);
      }
      return false;
    },
    timeoutMs,
    500,
  );
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function tryLock(path: string): boolean {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, JSON.stringify(identify(process.pid)));
  try {
    linkSync(own, path); // fails when it exists: the file appears whole or not at all
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

function holderOf(path: string): ProcessId | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ProcessId;
  } catch {
    return null;
  }
}

function discardStale(path: string, seen: ProcessId | null): void {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return; // somebody else was faster
  }
  const moved = holderOf(aside);
  // Between looking and moving, somebody may have taken the lock over: then it is theirs and goes back. What the lock guards
  // is finished by one atomic rename, so the worst of the remaining race is one build too many.
  if (moved && (moved.pid !== seen?.pid || moved.startedAt !== seen.startedAt)) {
    try {
      linkSync(aside, path);
    } catch {
      // a third one holds it by now
    }
  }
  rmSync(aside, { force: true });
}
