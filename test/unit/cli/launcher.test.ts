import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runCli, stackTraceIn } from './run-cli.ts';

/** Node itself is the same; the launcher only sees another version. */
function asNode(version: string): string[] {
  const change = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
  return ['--import', `data:text/javascript,${encodeURIComponent(change)}`];
}

describe('launcher', () => {
  test.each(['12.22.12', '22.18.0'])('refuses Node %s with one line', async (version) => {
    const run = await runCli(['--version'], { nodeOptions: asNode(version) });
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(run.stderr).toContain('Node 22.19 or newer is needed');
    expect(run.stderr).toContain(`this is ${version} (${process.execPath})`);
    expect(stackTraceIn(run)).toEqual([]);
  });

  test.each(['22.19.0', '23.0.0'])('starts on Node %s', async (version) => {
    const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    const run = await runCli(['--version'], { nodeOptions: asNode(version) });
    expect(run).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });

  test('ends at a signal as process 1 of a container too, where the kernel ends nothing that does not listen', async () => {
    // A command that waits and listens to no signal: something that never answers in Temporal's place.
    const silent = createServer();
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const first = `Object.defineProperty(process, 'pid', { value: 1 })`;
    const launcher = fileURLToPath(new URL('../../../bin/holdfast.js', import.meta.url));
    const asFirst = ['--import', `data:text/javascript,${encodeURIComponent(first)}`, launcher, 'get'];
    const child = spawn(process.execPath, asFirst, {
      env: { PATH: process.env.PATH ?? '', TEMPORAL_ADDRESS: `127.0.0.1:${port}` },
      stdio: 'ignore',
    });
    try {
      await once(silent, 'connection');
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([143, null]);
    } finally {
      child.kill('SIGKILL');
      silent.close();
    }
  });

  test('is written in a syntax that the oldest Node can read as far as the check', () => {
    const source = readFileSync(new URL('../../../bin/holdfast.js', import.meta.url), 'utf8');
    const code = source.replace(/^\s*\/\/.*$/gm, '');
    expect(code).not.toMatch(/\bconst\b|\blet\b|=>|`|\?\?|\?\.|import\.meta|^import |^export /m);
  });
});
