import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const SOURCE = path.join(import.meta.dirname, 'spoke');
const run = promisify(execFile);
const building = new Map<string, Promise<Buffer>>();

/** What Go needs to know of a platform such as `linux/arm/v7`. */
export interface GoTarget {
  readonly architecture: string;
  readonly variant?: string;
}

/**
 * The static spoke binary for one architecture, built once for each state of its source and kept in the lab's cache.
 * Rejects with the way out where Go is not installed.
 */
export async function spokeBinary(target: GoTarget): Promise<Buffer> {
  const key = [target.architecture, target.variant].filter((part) => part !== undefined).join('-');
  const known = building.get(key);
  if (known) return known;
  const started = buildOrRead(target, key);
  building.set(key, started);
  // A failed build is tried again by the next caller.
  started.catch(() => building.delete(key));
  return started;
}

/** The name that Go, and so the images, give the architecture of this machine. */
export function hostArchitecture(): string {
  const names: Partial<Record<string, string>> = { x64: 'amd64', ia32: '386' };
  return names[process.arch] ?? process.arch;
}

async function buildOrRead(target: GoTarget, key: string): Promise<Buffer> {
  const go = process.env['HOLDFAST_LAB_GO'] ?? 'go';
  const version = await goVersion(go);
  const folder = path.join(cacheFolder(), `spoke-${await sourceHash(version)}`);
  const file = path.join(folder, `spoke-${key}`);
  if (!existsSync(file)) {
    await mkdir(folder, { recursive: true });
    await build(go, target, file);
  }
  return readFile(file);
}

async function build(go: string, target: GoTarget, file: string): Promise<void> {
  // Another process may build the same: each writes its own file and the rename decides, with the same bytes.
  const unfinished = `${file}.${randomUUID()}`;
  const args = ['build', '-trimpath', '-buildvcs=false', '-ldflags=-s -w -buildid=', '-o', unfinished, '.'];
  const env = {
    ...process.env,
    CGO_ENABLED: '0',
    GOOS: 'linux',
    GOARCH: target.architecture,
    GOTOOLCHAIN: 'local',
    GOFLAGS: '',
    ...goVariant(target),
  };
  try {
    await run(go, args, { cwd: SOURCE, env });
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
}

function goVariant(target: GoTarget): Record<string, string> {
  if (target.architecture === 'arm' && target.variant !== undefined) return { GOARM: target.variant.replace('v', '') };
  if (target.architecture === 'amd64' && target.variant !== undefined) return { GOAMD64: target.variant };
  return {};
}

async function goVersion(go: string): Promise<string> {
  try {
    const { stdout } = await run(go, ['env', 'GOVERSION'], { env: { ...process.env, GOTOOLCHAIN: 'local' } });
    return stdout.trim();
  } catch (cause) {
    const message = `cannot run Go ("${go}"), which builds the lab's test image: install Go, or name it in HOLDFAST_LAB_GO`;
    throw new Error(message, { cause });
  }
}

async function sourceHash(version: string): Promise<string> {
  const hash = createHash('sha256').update(version);
  const names = (await readdir(SOURCE)).filter((name) => name.endsWith('.go') || name === 'go.mod').sort();
  for (const name of names) hash.update(`\0${name}\0`).update(await readFile(path.join(SOURCE, name)));
  return hash.digest('hex').slice(0, 16);
}

function cacheFolder(): string {
  return path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'holdfast', 'lab');
}
