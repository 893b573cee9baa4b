import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exampleInput } from '../../domain/keycloak-flow/world.ts';
import { runCli, stackTraceIn } from './run-cli.ts';

const malformed = fileURLToPath(new URL('../../domain/core/malformed/', import.meta.url));
const example = fileURLToPath(new URL('../../../examples/release.yaml', import.meta.url));
let scratch: string;

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'holdfast-validate-'));
});
afterAll(() => rmSync(scratch, { recursive: true }));

/** A KeycloakFlow in a folder of its own, with a desired state in a file beside it. */
function flowFiles(name: string, spec: object, desired?: string): { file: string; desiredFile: string } {
  const folder = join(scratch, name);
  mkdirSync(folder);
  const desiredFile = join(folder, 'desired.json');
  if (desired !== undefined) writeFileSync(desiredFile, desired);
  const file = join(folder, 'flow.yaml');
  writeFileSync(
    file,
    JSON.stringify({ apiVersion: 'holdfast.dev/v1alpha1', kind: 'KeycloakFlow', metadata: { name }, spec }),
  );
  return { file, desiredFile };
}

describe('the desired state of a login flow', () => {
  test('is read from the file that the spec names, from the folder of the spec on', async () => {
    const { file } = flowFiles('good', { desiredFile: 'desired.json' }, JSON.stringify(exampleInput()));
    expect(await runCli(['validate', file], { cwd: '/' })).toEqual({
      code: 0,
      stdout: `${file}: KeycloakFlow good is valid\n`,
      stderr: '',
    });
  });

  test('that is wrong is refused with the line and column of its own file', async () => {
    const input = exampleInput();
    input.authenticatorConfig = { 'conditional-otp-platform-admin': { condUserRole: 'platform-admin', negate: false } };
    const text = JSON.stringify(input, null, 2);
    const { file, desiredFile } = flowFiles('bad', { desiredFile: 'desired.json' }, text);
    const line = text.slice(0, text.indexOf('"negate"')).split('\n').length;
    const run = await runCli(['validate', file]);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(
      `${desiredFile}:${line}:17: authenticatorConfig.conditional-otp-platform-admin.negate: expected a text, as Keycloak keeps it, got false: write "false"`,
    );
  });

  test.each<[string, object, string]>([
    ['neither', {}, 'spec: expected desired, or desiredFile'],
    ['both', { desired: exampleInput(), desiredFile: 'desired.json' }, 'expected desired or desiredFile, not both'],
  ])('is given once: %s is refused', async (name, spec, message) => {
    const run = await runCli(['validate', flowFiles(name, spec).file]);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(message);
  });

  test('that is not there is named as the file that is not there', async () => {
    const { file, desiredFile } = flowFiles('none', { desiredFile: 'desired.json' });
    const run = await runCli(['validate', file]);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(
      `${desiredFile}:1:1: (file): cannot be read: there is no such file; the spec in ${file} names it`,
    );
  });
});

test('a realm import in the place of a desired state is told to be rendered', async () => {
  const text = readFileSync(new URL('../../../examples/keycloak-flow/realm-import.yaml', import.meta.url), 'utf8');
  const { file, desiredFile } = flowFiles('import', { desiredFile: 'desired.json' }, text);
  const run = await runCli(['validate', file]);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain(
    `${desiredFile}:1:1: (file): is a realm import; the desired state is what it renders to: holdfast render keycloak-flow ${desiredFile} -f FILE`,
  );
  expect(run.stderr).not.toContain('unknown field');
});

describe('validate', () => {
  test('the example is valid', async () => {
    const run = await runCli(['validate', example]);
    expect(run).toEqual({ code: 0, stdout: `${example}: Release hive is valid\n`, stderr: '' });
  });

  test('every malformed file is refused with file, line, column and path, exit code 2 and no stack trace', async () => {
    const files = readdirSync(malformed).map((name) => join(malformed, name));
    expect(files.length).toBeGreaterThan(30);
    const run = await runCli(['validate', ...files]);
    expect(run.code).toBe(2);
    expect(stackTraceIn(run)).toEqual([]);
    const lines = run.stderr.trimEnd().split('\n').slice(0, -1);
    for (const line of lines) expect(line).toMatch(/^\/.+\.(yaml|json):\d+:\d+: \S.*: .+/);
    for (const file of files) expect(lines.some((line) => line.startsWith(`${file}:`))).toBe(true);
  });

  test('a file of 5 MB is refused at once', async () => {
    const file = join(scratch, 'large.yaml');
    writeFileSync(file, `# ${'x'.repeat(5 * 1024 * 1024)}\n`);
    const run = await runCli(['validate', file]);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(`${file}:1:1: (file): expected at most 1 MiB, got 5.0 MiB`);
  });

  test('files that cannot be read are findings beside the others', async () => {
    const missing = join(scratch, 'missing.yaml');
    const run = await runCli(['validate', missing, scratch, join(malformed, 'misspelt-field.yaml'), example]);
    expect(run.code).toBe(2);
    expect(run.stdout).toContain(`${example}: Release hive is valid`);
    expect(run.stderr).toContain(`${missing}:1:1: (file): cannot be read: there is no such file`);
    expect(run.stderr).toContain(`${scratch}:1:1: (file): cannot be read: it is a directory`);
    expect(run.stderr).toContain('did you mean "image"?');
    expect(run.stderr).toContain('3 findings in 3 files');
  });

  test('standard input is read as -', async () => {
    const run = await runCli(['validate', '-'], { stdin: 'apiVersion: holdfast.dev/v1alpha1\nkind: Relase\n' });
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(
      '(stdin):2:7: kind: expected one of Release, KeycloakFlow, NodeReboot, got "Relase": did you mean Release?',
    );
  });

  test('-o json gives programs the same findings', async () => {
    const run = await runCli(['validate', '-o', 'json', join(malformed, 'misspelt-field.yaml')]);
    expect(run).toMatchObject({ code: 2, stderr: '' });
    expect(JSON.parse(run.stdout)).toMatchObject({
      valid: false,
      documents: [],
      findings: [{ line: 6, column: 3, path: 'spec.imgae', severity: 'error' }],
    });
  });

  test('a reader that goes away ends the command without a word', async () => {
    const run = await runCli(['schema', 'release'], {
      nodeOptions: [
        '--import',
        `data:text/javascript,${encodeURIComponent('process.stdout.write = () => { process.stdout.emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE" })); return false; };')}`,
      ],
    });
    expect(run).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});
