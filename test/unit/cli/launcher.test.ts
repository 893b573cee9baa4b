import { readFileSync } from 'node:fs';
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

  test('is written in a syntax that the oldest Node can read as far as the check', () => {
    const source = readFileSync(new URL('../../../bin/holdfast.js', import.meta.url), 'utf8');
    const code = source.replace(/^\s*\/\/.*$/gm, '');
    expect(code).not.toMatch(/\bconst\b|\blet\b|=>|`|\?\?|\?\.|import\.meta|^import |^export /m);
  });
});
