import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../../src/activities/node-reboot/run-command.ts';
import { waitFor } from '../../lab/wait.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-command-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** A script with its arguments, from `$1` on. */
function run(script: string, args: readonly string[] = [], timeoutMs = 5_000, signal = new AbortController().signal) {
  return runCommand(['/bin/sh', '-c', script, 'sh', ...args], timeoutMs, signal);
}

describe('a program that reboots a node', () => {
  test('gets its arguments as they are, and nothing of what the worker has in its environment', async () => {
    const file = join(folder, 'got');
    process.env['HOLDFAST_TEST_SECRET'] = 'hunter2';
    const end = await run('printf "%s|" "$@" > "$1"; env >> "$1"', [file, 'a b', '$(id)', '*']);
    delete process.env['HOLDFAST_TEST_SECRET'];
    expect(end).toEqual({ kind: 'ended', code: 0, said: '' });
    const got = readFileSync(file, 'utf8');
    expect(got).toContain('|a b|$(id)|*|');
    expect(got).not.toContain('hunter2');
  });

  test('tells its exit code, and of what it says one line, cut short and without secrets', async () => {
    const long = await run('printf "\\n%0300d\\nmore" 1 >&2; exit 7');
    expect(long).toEqual({ kind: 'ended', code: 7, said: '0'.repeat(200) });
    expect(await run('echo "login failed, password=hunter2"; exit 1')).toEqual({
      kind: 'ended',
      code: 1,
      said: expect.not.stringContaining('hunter2') as string,
    });
    expect(await run('head -c 300000 /dev/zero | tr "\\0" x')).toMatchObject({ code: 0 });
  });

  test('that is not there was never started', async () => {
    const { signal } = new AbortController();
    expect(await runCommand([join(folder, 'none')], 1_000, signal)).toEqual({ kind: 'unstarted', message: 'ENOENT' });
  });

  test('is killed after its time, with all that it has begun', async () => {
    const late = join(folder, 'late');
    expect(await run('(sleep 0.3; touch "$1") & wait', [late], 100)).toEqual({ kind: 'timeout' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(existsSync(late)).toBe(false);
  });

  test('is killed when the worker ends', async () => {
    const [begun, late] = [join(folder, 'begun'), join(folder, 'too-late')];
    const stop = new AbortController();
    const end = run('touch "$1"; sleep 0.3; touch "$2"', [begun, late], 5_000, stop.signal);
    await waitFor('it has begun', () => existsSync(begun));
    stop.abort(new Error('the worker ends'));
    await expect(end).rejects.toThrow('the worker ends');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(existsSync(late)).toBe(false);
  });
});
