import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findTemporalCli } from '../../../src/starters/dev/find-temporal-cli.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-find-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(...path: string[]): string {
  const file = join(folder, ...path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o755);
  return file;
}

describe('the Temporal CLI for dev', () => {
  test('is what HOLDFAST_TEMPORAL_CLI names, before PATH', () => {
    const named = program('named', 'temporal-1.9');
    program('bin', 'temporal');
    expect(findTemporalCli({ HOLDFAST_TEMPORAL_CLI: named, PATH: join(folder, 'bin') })).toBe(named);
  });

  test('a name that is no program is refused rather than passed over', () => {
    program('bin', 'temporal');
    const env = { HOLDFAST_TEMPORAL_CLI: join(folder, 'none'), PATH: join(folder, 'bin') };
    expect(() => findTemporalCli(env)).toThrow('is no program that can be run');
  });

  test('is on PATH, before the cache', () => {
    const onPath = program('bin', 'temporal');
    program('cache', 'holdfast', 'lab', 'temporal-1.9.1', 'temporal');
    expect(findTemporalCli({ PATH: join(folder, 'bin'), XDG_CACHE_HOME: join(folder, 'cache') })).toBe(onPath);
  });

  test('is the newest in the cache', () => {
    program('cache', 'holdfast', 'lab', 'temporal-1.9.1', 'temporal');
    const newest = program('cache', 'holdfast', 'lab', 'temporal-1.10.0', 'temporal');
    expect(findTemporalCli({ PATH: '', XDG_CACHE_HOME: join(folder, 'cache') })).toBe(newest);
  });

  test('where there is none the ways to get it are named', () => {
    expect(() => findTemporalCli({ PATH: '', HOME: folder })).toThrow(/brew install temporal[\s\S]*holdfast worker/);
  });
});
