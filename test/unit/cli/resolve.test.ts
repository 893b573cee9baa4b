import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import {
  configBlob,
  imageManifest,
  json,
  manifestBlob,
  serve,
  startRegistry,
  types,
  type Script,
} from '../registry/scripted-registry.ts';
import { runCli, stackTraceIn } from './run-cli.ts';
import { runHere } from './run-here.ts';

const revision = '04d1e1ea4bdf0123456789abcdef0123456789ab';

function platform(architecture: string, variant?: string) {
  return configBlob({
    os: 'linux',
    architecture,
    ...(variant === undefined ? {} : { variant }),
    config: { Labels: { 'org.opencontainers.image.revision': revision } },
  });
}

const amd64 = imageManifest(platform('amd64'));
const arm64 = imageManifest(platform('arm64', 'v8'));
const index = manifestBlob(
  {
    schemaVersion: 2,
    mediaType: types.index,
    manifests: [
      { mediaType: types.manifest, digest: amd64.digest, size: 1, platform: { os: 'linux', architecture: 'amd64' } },
      {
        mediaType: types.manifest,
        digest: arm64.digest,
        size: 1,
        platform: { os: 'linux', architecture: 'arm64', variant: 'v8' },
      },
      {
        mediaType: types.manifest,
        digest: `sha256:${'b'.repeat(64)}`,
        size: 1,
        platform: { os: 'unknown', architecture: 'unknown' },
      },
    ],
  },
  types.index,
);
const contents = serve(index, amd64, arm64, platform('amd64'), platform('arm64', 'v8'));
const tags = ['v5.0.0', 'v5.1.0', 'v5.2.0-rc.1', 'v6-latest', 'edge'];

/** A registry whose every tag is the index. */
const fleet: Script = (request) => {
  if (request.url.startsWith('/v2/app/tags/list')) return json({ name: 'app', tags });
  const tag = tags.find((name) => request.url === `/v2/app/manifests/${name}`);
  return contents(tag === undefined ? request : { ...request, url: '/v2/app/manifests/v1' });
};

async function resolve(script: Script, args: readonly string[]) {
  const { host, requests } = await startRegistry(script);
  const run = await runHere(['resolve', `${host}/app`, '--plain-http', ...args], { HOME: '/nonexistent' });
  expect(stackTraceIn(run)).toEqual([]);
  return { host, requests, run };
}

function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-resolve-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe('resolve', () => {
  test('a moving tag: digest, label with the revision, and architectures without attestations', async () => {
    const { host, run } = await resolve(fleet, ['--track', 'v6-latest', '-o', 'json']);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(run.stdout)).toEqual({
      repository: `${host}/app`,
      reference: `${host}/app:v6-latest@${index.digest}`,
      tag: 'v6-latest',
      digest: index.digest,
      label: 'v6-04d1e1ea4bdf',
      revision,
      version: '6',
      architectures: ['linux/amd64', 'linux/arm64/v8'],
      unplatformed: 0,
      rejected: [],
      problem: null,
    });
  });

  test('a line: the newest that is no prerelease, and why each other tag lost', async () => {
    const { run } = await resolve(fleet, ['--line', '^v5\\.', '-o', 'yaml']);
    expect(run.code).toBe(0);
    expect(parse(run.stdout)).toMatchObject({
      tag: 'v5.1.0',
      label: 'v5.1.0',
      version: '5.1.0',
      rejected: [
        { tag: 'v5.2.0-rc.1', reason: expect.stringContaining('prerelease') as string },
        { tag: 'v5.0.0', reason: 'is older than v5.1.0' },
        { tag: 'v6-latest', reason: expect.stringContaining('does not match') as string },
        { tag: 'edge', reason: expect.stringContaining('does not match') as string },
      ],
    });
  });

  test('prereleases win only where that is asked for', async () => {
    const { run } = await resolve(fleet, ['--line', '^v5\\.', '--prereleases', '-o', 'json']);
    expect(JSON.parse(run.stdout)).toMatchObject({ tag: 'v5.2.0-rc.1' });
  });

  test('a table for people', async () => {
    const { run } = await resolve(fleet, ['--line', '^v5\\.']);
    expect(run.stdout).toContain('Architectures: linux/amd64, linux/arm64/v8\n');
    expect(run.stdout).toMatch(/^v5\.0\.0 +is older than v5\.1\.0$/m);
  });

  test('every architecture asked for is there', async () => {
    const { run } = await resolve(fleet, ['--track', 'edge', '--arch', 'amd64,linux/arm64']);
    expect(run).toMatchObject({ code: 0, stderr: '' });
  });

  test('an architecture that is missing is exit code 1 and named', async () => {
    const { run } = await resolve(fleet, ['--track', 'edge', '--arch', 'amd64,s390x']);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('has no s390x; it has linux/amd64, linux/arm64/v8');
  });

  test('a tag that the registry does not have is measured: exit code 1', async () => {
    const { run } = await resolve(fleet, ['--track', 'v7-latest', '-o', 'json']);
    expect(run.code).toBe(1);
    expect(JSON.parse(run.stdout)).toMatchObject({ reference: null, problem: { why: 'missing' } });
  });

  test('a line of which no tag may be taken is exit code 1, with why each lost', async () => {
    const { run } = await resolve(fleet, ['--line', '^v5\\.2']);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toContain('v5.2.0-rc.1: is a prerelease');
  });

  test.each([
    ['denies', 403],
    ['fails', 500],
  ])('a registry that %s is undetermined', async (_, status) => {
    const { run } = await resolve(() => json({ errors: [] }, {}, status), ['--track', 'edge', '-o', 'json']);
    expect(run.code).toBe(3);
    expect(JSON.parse(run.stdout)).toMatchObject({ reference: null, architectures: [] });
    expect(run.stderr).toContain('holdfast: ');
  });

  test('a registry without TLS is told with the option of this command', async () => {
    const { host } = await startRegistry(fleet);
    const run = await runHere(['resolve', `${host}/app`, '--track', 'edge']);
    expect(run.code).toBe(3);
    expect(run.stderr).toMatch(/it does not speak TLS \(\w+\); set --plain-http\n$/);
    expect(run.stderr).not.toContain('plainHttp');
  });

  test('a registry that is not there is undetermined', async () => {
    const run = await runCli(['resolve', '127.0.0.1:1/app', '--plain-http', '--track', 'edge']);
    expect(run).toMatchObject({ code: 3, stdout: '' });
    expect(run.stderr).toContain('127.0.0.1:1/app:edge');
  });

  test('credentials come from the docker configuration and are never printed', async () => {
    const folder = scratchFolder();
    const secret = Buffer.from('ada:correct-horse').toString('base64');
    const guarded: Script = (request) =>
      request.headers.authorization === `Basic ${secret}`
        ? fleet(request)
        : json({ errors: [] }, { 'www-authenticate': 'Basic realm="here"' }, 401);
    const { host, url } = await startRegistry(guarded);
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ auths: { [host]: { auth: secret } } }));
    expect(url).toContain('http://');
    const args = ['resolve', `${host}/app`, '--plain-http', '--track', 'edge'];
    const found = await runHere(args, { DOCKER_CONFIG: folder });
    expect(found.code).toBe(0);
    const named = await runHere([...args, '--docker-config', join(folder, 'config.json')]);
    expect(named.code).toBe(0);
    const without = await runHere(args, { HOME: '/nonexistent' });
    expect(without.code).toBe(3);
    for (const run of [found, named, without]) expect(run.stdout + run.stderr).not.toMatch(/correct-horse|YWRhOm/);
  });

  test.each<[string, readonly string[], string]>([
    ['neither track nor line', ['resolve', 'a/b'], 'either --track TAG or --line REGEX'],
    ['track and line', ['resolve', 'a/b', '--track', 'x', '--line', 'y'], 'either --track TAG or --line REGEX'],
    ['a tag in the repository', ['resolve', 'a/b:edge', '--track', 'x'], '"a/b:edge" is no image repository'],
    ['a broken regular expression', ['resolve', 'a/b', '--line', '^v('], 'expected a regular expression over tags'],
    [
      'architectures that are none',
      ['resolve', 'a/b', '--track', 'x', '--arch', 'amd64;arm64'],
      'Expected architectures',
    ],
    [
      'a CA file that is not there',
      ['resolve', 'a/b', '--track', 'x', '--ca-file', '/none'],
      '--ca-file: /none cannot be read',
    ],
  ])('%s is refused before anything is asked', async (_, args, message) => {
    const run = await runHere(args);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(message);
    expect(stackTraceIn(run)).toEqual([]);
  });
});
