import { describe, expect, test } from 'vitest';
import { commandList } from '../../../src/starters/command-list.ts';
import { runCli } from './run-cli.ts';
import { runHere } from './run-here.ts';

describe('help', () => {
  test('lists every command and the exit codes', async () => {
    const run = await runCli(['--help']);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    for (const { name } of commandList) expect(run.stdout).toContain(`  ${name} `);
    expect(run.stdout).toContain('Exit codes:');
  });

  test('loads nothing heavy', async () => {
    const trace = `import { registerHooks } from 'node:module';
      registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context); } });`;
    const run = await runCli(['--help'], {
      nodeOptions: ['--import', `data:text/javascript,${encodeURIComponent(trace)}`],
    });
    const loaded = run.stderr.split('\n');
    expect(loaded.some((url) => url.endsWith('/src/starters/main.ts'))).toBe(true);
    expect(loaded.filter((url) => /node_modules/.test(url) && !/commander/.test(url))).toEqual([]);
    expect(loaded.filter((url) => /starters\/commands\//.test(url))).toEqual([]);
  });

  test.each(commandList.map((c) => c.name))('%s --help has examples and names every option', async (name) => {
    const run = await runHere([name, '--help']);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(run.stdout).toContain(`Usage: holdfast ${name}`);
    expect(run.stdout).toContain('Examples:');
    expect(run.stdout).toContain(`  holdfast ${name}`);
  });

  test('every command loads in Node as it is, without a bundler between', async () => {
    const load = `import { commandList } from ${JSON.stringify(new URL('../../../src/starters/command-list.ts', import.meta.url).href)};
      for (const { name, load } of commandList) if ((await load()).name() !== name) throw new Error(name);`;
    const run = await runCli(['--version'], {
      nodeOptions: ['--import', `data:text/javascript,${encodeURIComponent(load)}`],
    });
    expect(run).toMatchObject({ code: 0, stderr: '' });
  });

  test('help COMMAND is COMMAND --help', async () => {
    const [word, option] = [await runHere(['help', 'validate']), await runHere(['validate', '--help'])];
    expect(word).toEqual(option);
  });

  test('a misspelt command is refused with the one that was meant', async () => {
    const run = await runHere(['valdate', 'x.yaml']);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain("unknown command 'valdate'");
    expect(run.stderr).toContain('Did you mean validate?');
  });

  test('a misspelt option is refused with the one that was meant', async () => {
    const run = await runHere(['validate', '--ouput', 'json', 'x.yaml']);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('--output');
    expect(run.stderr).toContain('See: holdfast validate --help');
  });

  test('no command at all shows the help and is no success', async () => {
    const run = await runHere([]);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain('Usage: holdfast COMMAND');
  });
});
