import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { choosePorts } from '../../lab/ports.ts';
import { runCli, stackTraceIn } from './run-cli.ts';
import { runHere } from './run-here.ts';

const example = fileURLToPath(new URL('../../../examples/release.yaml', import.meta.url));
const broken = fileURLToPath(new URL('../../domain/core/malformed/misspelt-field.yaml', import.meta.url));
const digest = `sha256:${'a'.repeat(64)}`;

/** An address at which nothing listens. */
let nowhere: string;
let scratch: string;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'holdfast-commands-'));
  // Not one that was free a moment ago: tests beside this one would be given it.
  const { free } = await choosePorts(['free'], new Set());
  nowhere = `127.0.0.1:${free}`;
});
afterAll(() => rmSync(scratch, { recursive: true }));

const connecting: readonly (readonly string[])[] = [
  ['get'],
  ['get', 'releases', '-o', 'json'],
  ['status', 'release/hive'],
  ['status', 'release/hive', '--watch'],
  ['history', 'release/hive'],
  ['plan', '-f', example],
  ['apply', '-f', example],
  ['run', '-f', example, '--wait'],
  ['approve', 'release/hive', '--plan', '3f2a9c0d'],
  ['reject', 'release/hive', '--digest', digest],
  ['abort', 'release/hive', '--roll-back', '--now'],
  ['pause', 'release/hive'],
  ['resume', 'release/hive'],
  ['retry', 'release/hive', '--target', 'north', '--skip-preflight'],
  ['pin', 'release/hive', 'v6.1.4'],
  ['unpin', 'release/hive'],
  ['block', 'release/hive', digest],
  ['unblock', 'release/hive', digest],
  ['set-mode', 'release/hive', 'enforce'],
  ['release-ownership', 'release/hive'],
  ['get', 'keycloakflows'],
  ['status', 'keycloakflow/shop'],
  ['status', 'keycloakflow/shop', '--watch'],
  ['history', 'keycloakflow/shop'],
  ['approve', 'keycloakflow/shop', '--candidate', 'browser-mfa-9f86d081884c', '--plan', '3f2a9c0d', '--without-proof'],
  ['reject', 'keycloakflow/shop', '--candidate', 'browser-mfa-9f86d081884c', '--plan', '3f2a9c0d'],
  ['rollback', 'keycloakflow/shop'],
  ['lift-hold', 'keycloakflow/shop'],
  ['pause', 'keycloakflow/shop'],
  ['resume', 'keycloakflow/shop'],
  ['retry', 'keycloakflow/shop'],
  ['set-mode', 'keycloakflow/shop', 'enforce'],
  ['release-ownership', 'keycloakflow/shop'],
  ['get', 'nodereboots'],
  ['status', 'nodereboot/control-plane'],
  ['status', 'nodereboot/control-plane', '--watch'],
  ['history', 'nodereboot/control-plane'],
  ['approve', 'nodereboot/control-plane', '--node', 'n1', '--plan', '3f2a9c0d'],
  ['cancel', 'nodereboot/control-plane'],
  ['force', 'nodereboot/control-plane', '--gate', 'dns', '--node', 'n1', '--reason', 'known', '--for', '15m'],
  ['release-lock', 'nodereboot/control-plane', '--node', 'n1'],
  ['pause', 'nodereboot/control-plane'],
  ['resume', 'nodereboot/control-plane'],
  ['retry', 'nodereboot/control-plane'],
  ['set-mode', 'nodereboot/control-plane', 'enforce'],
];

describe('a Temporal that is not there', () => {
  test.each(connecting.map((args) => [args.join(' ').replace(example, 'FILE'), args] as const))(
    '%s says where it looked and what to do, undetermined, without a stack trace',
    async (_, args) => {
      const run = await runHere(args, { TEMPORAL_ADDRESS: nowhere, HOLDFAST_USER: 'ada' });
      expect(run).toMatchObject({ code: 3, stdout: '' });
      expect(run.stderr).toContain(`holdfast: Temporal at ${nowhere} cannot be reached: connection refused;`);
      expect(run.stderr).toContain('holdfast dev');
      expect(stackTraceIn(run)).toEqual([]);
    },
  );

  test('ends the process, too', async () => {
    const run = await runCli(['get'], { env: { TEMPORAL_ADDRESS: nowhere } });
    expect(run).toMatchObject({ code: 3, stdout: '' });
    expect(stackTraceIn(run)).toEqual([]);
  });

  test('a profile that does not exist is named', async () => {
    const run = await runHere(['get'], { TEMPORAL_PROFILE: 'staging', HOME: scratch });
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain("'staging'");
    expect(run.stderr).toContain('TEMPORAL_PROFILE');
  });

  test('keys of a codec that cannot be read are named before anything is asked', async () => {
    const run = await runHere(['get'], { TEMPORAL_ADDRESS: nowhere, HOLDFAST_CONFIG: join(scratch, 'none.yaml') });
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain('none.yaml');
  });
});

describe('what is refused before anything is asked', () => {
  test.each<[string, readonly string[], string]>([
    ['a name without its kind', ['status', 'hive'], 'Expected KIND/NAME, such as release/hive.'],
    [
      'an approval of nothing in particular',
      ['approve', 'release/hive'],
      '--plan HASH, --digest DIGEST or --target NAME',
    ],
    [
      'a rejection of nothing in particular',
      ['reject', 'release/hive'],
      '--plan HASH, --digest DIGEST or --target NAME',
    ],
    [
      'a node without the hash of what was seen of it',
      ['approve', 'nodereboot/control-plane', '--node', 'n1'],
      '--node NODE and --plan HASH, as shown by: holdfast status nodereboot/control-plane',
    ],
    [
      'a node of what has none',
      ['approve', 'release/hive', '--plan', '3f2a9c0d', '--node', 'n1'],
      '--node is nothing that a Release has',
    ],
    [
      'a gate set aside without a reason',
      ['force', 'nodereboot/control-plane', '--gate', 'dns', '--node', 'n1'],
      "required option '--reason <text>' not specified",
    ],
    [
      'a rejection of a node, which just waits',
      ['reject', 'nodereboot/control-plane', '--plan', '3f2a9c0d'],
      'nodereboot/control-plane: this is nothing that a NodeReboot knows',
    ],
    [
      'the abort of reboots',
      ['abort', 'nodereboot/cp'],
      'abort is of Release; to end it, after the node in its turn is given back or finished: holdfast cancel nodereboot/cp',
    ],
    ['the rejection of a reboot', ['reject', 'node-reboot/cp', '--plan', '3f2a9c0d'], 'nobody approves just waits'],
    [
      'a gate of a release set aside',
      ['force', 'release/hive', '--gate', 'dns', '--node', 'n1', '--reason', 'x'],
      'force is of NodeReboot; what it waits for',
    ],
    ['a rollback of a release', ['rollback', 'release/hive'], 'holdfast abort release/hive --roll-back'],
    ['the cancel of a release', ['cancel', 'release/hive'], 'release/hive: this is nothing that a Release knows'],
    [
      'a candidate without the hash of what was seen of it',
      ['approve', 'keycloakflow/shop', '--candidate', 'browser-mfa-9f86d081884c'],
      '--candidate NAME and --plan HASH, as shown by: holdfast status keycloakflow/shop',
    ],
    [
      'a login flow approved by a digest',
      ['approve', 'keycloakflow/shop', '--digest', digest],
      '--digest is nothing that a KeycloakFlow has',
    ],
    [
      'a release without proof',
      ['approve', 'release/hive', '--plan', '3f2a9c0d', '--without-proof'],
      '--without-proof is nothing that a Release has',
    ],
    ['a pinned login flow', ['pin', 'keycloakflow/shop', 'v1'], 'this is nothing that a KeycloakFlow knows'],
    ['a release rolled back as a login flow is', ['rollback', 'release/hive'], 'this is nothing that a Release knows'],
    ['one target of a login flow', ['retry', 'keycloakflow/shop', '--target', 'a'], 'a KeycloakFlow has no targets'],
    ['a release run without binding', ['run', '-f', example, '--no-bind'], '--no-bind is for login flows'],
    ['an abort without a word on the target in progress', ['abort', 'release/hive'], 'either --stop'],
    ['an abort with two words on it', ['abort', 'release/hive', '--stop', '--roll-back'], 'either --stop'],
    ['a mode that is none', ['set-mode', 'release/hive', 'Force'], 'Expected Observe, Shadow, Enforce.'],
    [
      'a signature that is not there',
      ['approve', 'release/hive', '--plan', '3f2a9c0d', '--signature', '/none'],
      '/none cannot be read',
    ],
    ['a plan of a malformed spec', ['plan', '-f', broken], 'did you mean "image"?'],
    ['an apply of a valid and a malformed spec', ['apply', '-f', example, broken], 'did you mean "image"?'],
    ['a run of a malformed spec', ['run', '-f', broken], 'did you mean "image"?'],
    ['a capability that is none', ['worker', '--capabilities', 'relase'], 'did you mean release?'],
    ['a log level that is none', ['worker', '--log-level', 'loud'], 'Expected debug, info, warn, error.'],
    ['nobody who decides', ['pause', 'release/hive', '--as', ' '], 'nobody is named who decides this'],
  ])('%s', async (_, args, message) => {
    const run = await runHere(args, { TEMPORAL_ADDRESS: nowhere });
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(message);
    expect(stackTraceIn(run)).toEqual([]);
  });

  test('a run of two documents', async () => {
    const two = join(scratch, 'two.yaml');
    const one = (name: string) =>
      JSON.stringify({
        apiVersion: 'holdfast.dev/v1alpha1',
        kind: 'Release',
        metadata: { name },
        spec: { image: 'a/b', track: { tag: 'edge' }, targets: [{ namespace: 'x', deployment: 'y', container: 'z' }] },
      });
    writeFileSync(two, `${one('a')}\n---\n${one('b')}\n`);
    const run = await runHere(['run', '-f', two], { TEMPORAL_ADDRESS: nowhere });
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain('run takes one document');
  });
});
