import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { withLock } from './find/build-lock.ts';
import { ensureCached, findProgram, type Program } from './find/find-program.ts';
import { identify, isAlive, signalProcess } from './process-identity.ts';
import { VERSIONS } from './versions.ts';

let home = '';

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hf-find-'));
  vi.stubEnv('XDG_CACHE_HOME', home);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

function executable(path: string): string {
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, 0o755);
  return path;
}

function program(overrides: Partial<Program> = {}): Program {
  return {
    name: 'some-tool',
    onPath: ['some-tool'],
    accepts: () => true,
    cached: {
      key: 'some-tool-1.0.0',
      build: (into) => {
        executable(join(into, 'some-tool'));
        return Promise.resolve();
      },
    },
    file: 'some-tool',
    ways: ['ask for it'],
    ...overrides,
  };
}

const quiet = () => {};

describe('a program of the lab', () => {
  test('is the one that its variable names, before any other', async () => {
    vi.stubEnv('HOLDFAST_LAB_SOME_TOOL', executable(join(home, 'mine')));
    expect(await findProgram(program(), quiet)).toBe(join(home, 'mine'));
  });

  test('is the one on PATH if its version fits, else the one in the cache', async () => {
    mkdirSync(join(home, 'bin'));
    const onPath = executable(join(home, 'bin', 'some-tool'));
    vi.stubEnv('PATH', join(home, 'bin'));
    expect(await findProgram(program(), quiet)).toBe(onPath);
    const cached = join(home, 'holdfast', 'lab', 'some-tool-1.0.0', 'some-tool');
    expect(await findProgram(program({ accepts: () => false }), quiet)).toBe(cached);
  });

  test('that cannot be had is named with the reason and the ways to get it', async () => {
    const broken = { key: 'broken-1.0.0', build: () => Promise.reject(new Error('no compiler')) };
    const error = await findProgram(program({ cached: broken }), quiet).catch((caught: unknown) => String(caught));
    expect(error).toMatch(/no some-tool: no compiler/);
    expect(error).toMatch(/ask for it/);
    expect(error).toMatch(/HOLDFAST_LAB_SOME_TOOL/);
    expect(existsSync(join(home, 'holdfast', 'lab', 'broken-1.0.0'))).toBe(false);
  });

  test('is built once when two want it at once', async () => {
    let builds = 0;
    const cached = {
      key: 'slow-1.0.0',
      build: async () => {
        builds += 1;
        await new Promise((resolve) => setTimeout(resolve, 300));
      },
    };
    await Promise.all([ensureCached(cached, quiet), ensureCached(cached, quiet)]);
    expect(builds).toBe(1);
  });

  test('is built although a process that was killed while building held the lock', async () => {
    const lock = join(home, 'holdfast', 'lab', 'some-tool-1.0.0.lock');
    mkdirSync(join(home, 'holdfast', 'lab'), { recursive: true });
    writeFileSync(lock, JSON.stringify({ pid: process.pid, startedAt: 'another life of this number' }));
    expect(await findProgram(program({ onPath: [] }), quiet)).toContain('some-tool-1.0.0');
    expect(existsSync(lock)).toBe(false);
  });

  test('waits for a lock whose holder is alive', async () => {
    const lock = join(home, 'held.lock');
    writeFileSync(lock, JSON.stringify(identify(process.pid)));
    await expect(withLock(lock, () => Promise.resolve(), quiet, 700)).rejects.toThrow('not within');
  });
});

describe('process identity', () => {
  test('a process that has another start time is never signalled', async () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    try {
      const id = identify(child.pid ?? -1);
      expect(id && isAlive(id)).toBe(true);
      expect(signalProcess({ pid: child.pid ?? -1, startedAt: 'before' }, 'SIGKILL')).toBe(false);
      expect(id && isAlive(id)).toBe(true);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });
});

test('the Go modules build the versions that are pinned', () => {
  const kubernetes = readFileSync(join(import.meta.dirname, 'go', 'kubernetes', 'go.mod'), 'utf8');
  expect(kubernetes).toContain(`k8s.io/kubernetes v${VERSIONS.kubernetes}\n`);
  expect(kubernetes).toContain(`k8s.io/api v0.${VERSIONS.kubernetes.split('.').slice(1).join('.')}\n`);
  expect(kubernetes).toContain(`go.etcd.io/etcd/server/v3 v${VERSIONS.etcd}\n`);
  const registry = readFileSync(join(import.meta.dirname, 'go', 'registry', 'go.mod'), 'utf8');
  expect(registry).toContain(`github.com/distribution/distribution/v3 v${VERSIONS.registry}\n`);
});
