import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { redact } from '../../../src/domain/core/redact.ts';
import { ConfigError, readSecret, readWorkerConfig } from '../../../src/worker/config.ts';

const dir = mkdtempSync(join(tmpdir(), 'holdfast-config-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function written(content: string | Uint8Array): string {
  const file = join(dir, 'worker.yaml');
  writeFileSync(file, content);
  return file;
}

/** What is wrong with a configuration, without the name of its file. */
async function faultsOf(content: string | Uint8Array): Promise<string[]> {
  const file = written(content);
  const error: unknown = await readWorkerConfig(file).then(
    () => new Error('it was taken'),
    (e: unknown) => e,
  );
  if (!(error instanceof ConfigError)) throw error;
  return error.message.split('\n').map((line) => {
    expect(line.startsWith(`${file}:`)).toBe(true);
    return line.slice(file.length + 1);
  });
}

describe("the worker's configuration", () => {
  test('is the current kubeconfig context where there is none, or nothing in it', async () => {
    const none = await readWorkerConfig(undefined);
    expect(none).toMatchObject({ clusters: {}, registries: {}, notify: [], freeze: [] });
    expect(await readWorkerConfig(written('# nothing yet\n'))).toEqual(none);
    expect(await readWorkerConfig(written(''))).toEqual(none);
  });

  test('freezes all releases', async () => {
    const freeze = { from: '2026-12-20T00:00:00+01:00', until: '2027-01-04T00:00:00+01:00', reason: 'year end' };
    const { freeze: read } = await readWorkerConfig(written(JSON.stringify({ freeze: [freeze] })));
    expect(read).toEqual([freeze]);
  });

  test('that is wrong is refused with line, column and path, all findings at once', async () => {
    const text = [
      'registres: {}',
      'freeze:',
      '  - from: 2026-12-20',
      '    until: 2027-01-04T00:00:00Z',
      '    reason: x',
      '',
    ];
    expect(await faultsOf(text.join('\n'))).toEqual([
      expect.stringMatching(/^1:1: .*registres.*registries/),
      expect.stringMatching(/^3:11: .*freeze\[0\]\.from: expected an instant with its offset/),
    ]);
  });

  test.each([
    ['keycloak.default.clientSecret', '{ env: NAME }, { file: PATH } or { secret: { namespace, name, key } }'],
    ['secrets.map.secret', '{ namespace, name, key }'],
    ['secrets.probe', '{ env: NAME }, { file: PATH } or { secret: { namespace, name, key } }'],
    ['registries["r:5000"].password', '{ env: NAME } or { file: PATH }'],
    ['prometheus.bearer', '{ env: NAME } or { file: PATH }'],
    ['notify[0].webhook', '{ env: NAME } or { file: PATH }'],
    ['codec.keys[0].key', '{ env: NAME } or { file: PATH }'],
  ])('says the forms of %s, and never the secret that stands there by mistake', async (path, forms) => {
    const secret = 'hunter2-hunter2';
    const config = {
      keycloak: { default: { url: 'https://kc', clientId: { env: 'ID' }, clientSecret: secret } },
      secrets: { probe: 20261130, map: { secret } },
      registries: { 'r:5000': { password: secret } },
      prometheus: { url: 'https://p', bearer: secret },
      notify: [{ webhook: secret }],
      codec: { keys: [{ id: 'a', key: secret }] },
    };
    const faults = await faultsOf(JSON.stringify(config));
    const told = redact(faults.join('\n'));
    expect(told).toContain(`: ${path}: expected where the value stands, ${forms}, got something else`);
    expect(told).not.toContain(secret);
    expect(told).not.toContain('20261130');
  });

  test.each<[string, string | Uint8Array, RegExp]>([
    ['a tab', 'clusters:\n\tdefault: {}\n', /^2:1: /],
    ['a duplicate', 'listen: a\nlisten: b\n', /^2:1: .*listen/],
    [
      'a reboot command that is found by its name alone',
      'nodeReboot: { hostImage: x, commands: { bmc: { run: [ssh, "{node}"] } } }\n',
      /nodeReboot\.commands\.bmc\.run\[0\]: expected the absolute path of a program/,
    ],
    [
      'a reboot command that wants what nobody knows',
      'nodeReboot: { hostImage: x, commands: { bmc: { run: [/usr/bin/ssh, "{host}"] } } }\n',
      /nodeReboot\.commands\.bmc\.run\[1\]: nothing is filled in for \{host\}; there are \{node\}, \{address\}, \{bootId\}/,
    ],
    ...['{boot_id}', '{node-name}', '{ node }'].map((written): [string, string, RegExp] => [
      `a reboot command with ${written}, mistyped`,
      `nodeReboot: { hostImage: x, commands: { bmc: { run: [/usr/bin/ssh, "${written}"] } } }\n`,
      /nodeReboot\.commands\.bmc\.run\[1\]: nothing is filled in for \{/,
    ]),
    ['a second document', 'listen: 127.0.0.1:0\n---\nlisten: 127.0.0.1:1\n', /^3:1: .*expected one document/],
    ['a list', '- a\n', /^1:1: /],
    ['bytes that are no text', Uint8Array.of(0x61, 0xff), /^1:2: .*expected UTF-8/],
  ])('with %s is refused', async (_, content, fault) => {
    expect((await faultsOf(content))[0]).toMatch(fault);
  });

  test('that is given as an example is valid, with everything in it that is commented out', async () => {
    const example = readFileSync(new URL('../../../examples/worker.yaml', import.meta.url), 'utf8');
    await readWorkerConfig(written(example));
    // Comments that are configuration begin with a key or a list item; those for people are sentences.
    const all = example
      .replaceAll(/^(\s*)# ( *(?:- |[a-z]\S*: ?|\w+: \{))/gmu, '$1$2')
      .replace('registries: {}', 'registries:');
    const config = await readWorkerConfig(written(all));
    expect(config).toMatchObject({ freeze: [{ reason: 'year end' }], codec: {}, notify: [{ format: 'slack' }] });
  });

  test('that is not there is named', async () => {
    const file = join(dir, 'absent.yaml');
    await expect(readWorkerConfig(file)).rejects.toThrow(`${file}: cannot be read (ENOENT)`);
  });
});

describe('a secret', () => {
  test('is read anew each time, without the white space at its end', async () => {
    const file = join(dir, 'secret');
    writeFileSync(file, 'first\n');
    expect(await readSecret({ file })).toBe('first');
    writeFileSync(file, 'second\n');
    expect(await readSecret({ file })).toBe('second');
  });

  test('that is missing or empty is named, and its value never is', async () => {
    await expect(readSecret({ env: 'HOLDFAST_TEST_ABSENT' })).rejects.toThrow('HOLDFAST_TEST_ABSENT is not set');
    await expect(readSecret({ file: written(' \n') })).rejects.toThrow('is empty');
    await expect(readSecret({ file: join(dir, 'absent') })).rejects.toThrow('cannot be read (ENOENT)');
  });
});
