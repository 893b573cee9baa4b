import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { keycloakFlowOnFile } from '../../../src/domain/keycloak-flow/spec-on-file.ts';
import { readWorkerConfig } from '../../../src/worker/config.ts';
import { exampleInput } from '../../domain/keycloak-flow/world.ts';
import { runHere } from './run-here.ts';

const examples = fileURLToPath(new URL('../../../examples/keycloak-flow/', import.meta.url));
const realmImport = join(examples, 'realm-import.yaml');
const desired = join(examples, 'desired.yaml');
const spec = join(examples, 'keycloak-flow.yaml');
let scratch: string;

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'holdfast-render-'));
});
afterAll(() => rmSync(scratch, { recursive: true }));

function scratchFile(name: string, text: string): string {
  const file = join(scratch, name);
  writeFileSync(file, text);
  return file;
}

describe('the examples of a login flow', () => {
  test('are valid, and the committed desired state is what the import renders to', async () => {
    expect((await runHere(['validate', spec])).stdout).toBe(`${spec}: KeycloakFlow shop is valid\n`);
    const check = await runHere(['render', 'keycloak-flow', realmImport, '--check', desired]);
    expect(check).toMatchObject({ code: 0, stdout: `${desired} is current\n`, stderr: '' });
    expect(parse(readFileSync(desired, 'utf8'))).toEqual(exampleInput());
  });

  test('show every field of a spec, written or as a comment', () => {
    const text = readFileSync(spec, 'utf8');
    for (const field of Object.keys(keycloakFlowOnFile.shape)) {
      if (field === 'desired') expect(text).toContain('`desired:`');
      else expect(text).toMatch(new RegExp(`^ *(# )?(- )?${field}:`, 'm'));
    }
  });

  test("name secrets that the example of the worker's configuration has", async () => {
    const { secrets } = await readWorkerConfig(join(examples, 'worker.yaml'));
    const { probe } = (parse(readFileSync(spec, 'utf8')) as { spec: { probe: { users: object } } }).spec;
    const named = Object.values(probe.users).flatMap((user) => Object.values(user as Record<string, string>));
    expect(named.filter((name) => !Object.hasOwn(secrets, name))).toEqual([]);
  });
});

describe('render', () => {
  test('writes what it renders, as the name of the file says, and to standard output otherwise', async () => {
    const shown = await runHere(['render', 'keycloak-flow', realmImport]);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(shown.stdout)).toEqual(exampleInput());
    for (const name of ['desired.json', 'desired.yaml']) {
      const file = join(scratch, name);
      const written = await runHere(['render', 'keycloak-flow', realmImport, '-f', file]);
      expect(written).toMatchObject({ code: 0, stdout: '' });
      expect(parse(readFileSync(file, 'utf8'))).toEqual(exampleInput());
    }
  });

  test('--check ends with 1 and the differences where a file is not current, and writes nothing', async () => {
    const input = exampleInput();
    input.webAuthnPolicyPasswordless.RpId = 'old.example.com';
    const text = JSON.stringify(input);
    const file = scratchFile('old.json', text);
    const run = await runHere(['render', 'keycloak-flow', realmImport, '--check', file]);
    expect(run.code).toBe(1);
    expect(run.stderr).toBe(`Bring it up to date: holdfast render keycloak-flow ${realmImport} -f ${file}\n`);
    expect(run.stdout).toContain(
      'webAuthnPolicyPasswordless.RpId is "old.example.com"; the import says "login.example.com"',
    );
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('an import that must not be rendered is refused with line and column', async () => {
    const text = readFileSync(realmImport, 'utf8').replace(
      '    browserFlow: browser-mfa',
      '    requiredActions: []\n    browserFlow: browser-mfa',
    );
    const line = text.split('\n').findIndex((each) => each.includes('requiredActions: []')) + 1;
    const file = scratchFile('replace.yaml', text);
    const run = await runHere(['render', 'keycloak-flow', file]);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(
      `${file}:${line}:5: spec.realm.requiredActions: Keycloak takes this for all there are`,
    );
  });

  test('a file that is no realm, or a realm without browser flow, is refused in words', async () => {
    const none = await runHere(['render', 'keycloak-flow', spec]);
    expect(none.stderr).toContain(
      `${spec}:10:1: realm: required field is missing: a realm as Keycloak imports it has it`,
    );
    const text = readFileSync(realmImport, 'utf8').replace(/^ *browserFlow: .*$/m, '');
    const bare = await runHere(['render', 'keycloak-flow', scratchFile('bare.yaml', text)]);
    expect(bare.stderr).toContain('browserFlow: what the import declares is refused: required field is missing');
    const wrong = scratchFile('wrong.yaml', text.replace('enabled: true', 'enabled: true\n    browserFlow: 7'));
    expect((await runHere(['render', 'keycloak-flow', wrong])).stderr).toMatch(/browserFlow: .*expected string/);
  });

  test('of several realms one is named', async () => {
    const one = parse(readFileSync(realmImport, 'utf8')) as { spec: { realm: object } };
    const file = scratchFile('two.json', JSON.stringify([{ ...one.spec.realm, realm: 'other' }, one.spec.realm]));
    const which = await runHere(['render', 'keycloak-flow', file]);
    expect(which).toMatchObject({ code: 2, stdout: '' });
    expect(which.stderr).toContain('expected one realm, got other, shop; name one with --realm');
    const shop = await runHere(['render', 'keycloak-flow', file, '--realm', 'shop']);
    expect(JSON.parse(shop.stdout)).toEqual(exampleInput());
    const none = await runHere(['render', 'keycloak-flow', file, '--realm', 'shops']);
    expect(none.stderr).toContain('expected one realm called "shops", got other, shop');
  });

  test.each<[string, readonly string[], string]>([
    ['an import that is not there', ['/none.json'], '/none.json cannot be read: there is no such file'],
    ['both ways at once', ['x.json', '-f', 'a', '--check', 'b'], 'expected --file or --check, not both'],
    [
      'a committed file that is none',
      [realmImport, '--check', realmImport],
      'is a realm import; the desired state is what it renders to',
    ],
  ])('%s is refused', async (_, args, message) => {
    const run = await runHere(['render', 'keycloak-flow', ...args]);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(message);
  });
});
