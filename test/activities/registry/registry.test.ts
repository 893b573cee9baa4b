import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { stringify } from 'yaml';
import type { RegistryConfig } from '../../../src/activities/registry/config.ts';
import { createRegistry } from '../../../src/activities/registry/create.ts';
import { deleteManifest, pushSpokeImage, tagImage } from '../../lab/images.ts';
import type { PushedImage } from '../../lab/images.ts';
import { findRegistry } from '../../lab/parts/registry.ts';
import { choosePorts } from '../../lab/ports.ts';

const lab = inject('lab');
const host = lab.registry;
const run = `${process.pid}-${Date.now()}`;
const password = 'correct horse battery';

function client(config: RegistryConfig = {}) {
  return createRegistry({
    registries: { [host]: { plainHttp: true } },
    dockerConfigJson: () => Promise.resolve('{}'),
    ...config,
  });
}

describe('the real registry', () => {
  const name = `registry-test/${run}`;
  const repository = `${host}/${name}`;
  let single: PushedImage;
  let several: PushedImage;

  beforeAll(async () => {
    const revision = '04d1e1ea4bdf9c';
    single = await pushSpokeImage(host, { repository: name, tag: ['v1.0.0', 'edge'], version: '1.0.0', revision });
    several = await pushSpokeImage(host, {
      repository: name,
      tag: 'v2.0.0',
      version: '2.0.0',
      revision,
      architectures: ['amd64', 'arm64/v8'],
      attestation: true,
    });
  });

  test('resolves a single manifest by tag and by digest', async () => {
    const image = {
      repository,
      digest: single.digest,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      labels: { 'org.opencontainers.image.version': '1.0.0', 'org.opencontainers.image.revision': '04d1e1ea4bdf9c' },
      revision: '04d1e1ea4bdf9c',
      platforms: Object.keys(single.manifests),
      unplatformed: 0,
      platformDigests: single.manifests,
    };
    const registry = client();
    expect(await registry.resolveTag(repository, 'v1.0.0')).toEqual({
      kind: 'read',
      value: { ...image, tag: 'v1.0.0' },
    });
    expect(await registry.resolveDigest(repository, single.digest)).toEqual({
      kind: 'read',
      value: { ...image, tag: null },
    });
    expect(await registry.headDigest(repository, 'v1.0.0')).toEqual({ kind: 'read', value: single.digest });
    expect(await registry.headDigest(repository, single.digest)).toEqual({ kind: 'read', value: single.digest });
  });

  test('H-A04 resolves an index to its platforms, without the attestations beside them', async () => {
    expect(await client().resolveTag(repository, 'v2.0.0')).toMatchObject({
      kind: 'read',
      value: {
        digest: several.digest,
        platforms: ['linux/amd64', 'linux/arm64/v8'],
        unplatformed: 0,
        platformDigests: several.manifests,
        labels: { 'org.opencontainers.image.version': '2.0.0' },
      },
    });
  });

  test('lists every tag', async () => {
    const reading = await client().listTags(repository);
    expect(reading.kind === 'read' && [...reading.value].sort()).toEqual(['edge', 'v1.0.0', 'v2.0.0']);
  });

  test('has a tag that moves: the new image is seen, and the way back too', async () => {
    const registry = client();
    expect(await registry.resolveTag(repository, 'edge')).toMatchObject({ value: { digest: single.digest } });
    await tagImage(host, name, several.digest, 'edge');
    expect(await registry.resolveTag(repository, 'edge')).toMatchObject({ value: { digest: several.digest } });
    await tagImage(host, name, single.digest, 'edge');
    expect(await registry.resolveTag(repository, 'edge')).toMatchObject({ value: { digest: single.digest } });
  });

  test('says what is missing: a tag, a repository, a digest that was deleted', async () => {
    const registry = client();
    const missing = { kind: 'unmeasured', why: 'missing', from: `registry ${host}` };
    expect(await registry.resolveTag(repository, 'v9')).toMatchObject(missing);
    expect(await registry.headDigest(repository, 'v9')).toMatchObject(missing);
    expect(await registry.listTags(`${repository}-absent`)).toMatchObject(missing);
    const doomed = await pushSpokeImage(host, { repository: name, tag: 'doomed', version: '9' });
    expect(await registry.resolveDigest(repository, doomed.digest)).toMatchObject({ kind: 'read' });
    await deleteManifest(host, name, doomed.digest);
    expect(await registry.resolveDigest(repository, doomed.digest)).toMatchObject(missing);
  });

  test('is unreachable by TLS, and says what to set', async () => {
    const reading = await client({ registries: {} }).resolveTag(repository, 'v1.0.0');
    expect(reading).toMatchObject({ why: 'unreachable', message: expect.stringContaining('plainHttp') as string });
  });
});

describe('the real registry with users', () => {
  const name = `registry-test/private-${run}`;
  let folder: string;
  let guarded: string;
  let pushed: PushedImage;
  let stop: () => Promise<unknown>;

  /** A second registry process on the same images, which lets in one user only. */
  beforeAll(async () => {
    pushed = await pushSpokeImage(host, { repository: name, tag: 'v1', version: '1' });
    folder = await mkdtemp(path.join(tmpdir(), 'holdfast-registry-'));
    const { registry: port } = await choosePorts(['registry'], new Set());
    guarded = `127.0.0.1:${port}`;
    const users = path.join(folder, 'htpasswd');
    // bcrypt of the password above.
    await writeFile(users, 'robot:$2b$04$H3k1tSkBpTz5/VxrCt2xyuu4TzntAR.XIYoZ5xW60ZQ2H7tO6CfeS\n');
    const config = path.join(folder, 'config.yml');
    const settings = {
      version: 0.1,
      log: { level: 'error' },
      storage: { filesystem: { rootdirectory: path.join(lab.dir, 'registry', 'images') } },
      http: { addr: guarded, secret: 'for this test' },
      auth: { htpasswd: { realm: 'lab', path: users } },
    };
    await writeFile(config, stringify(settings));
    const program = await findRegistry(() => undefined);
    const child = spawn(program, ['serve', config], { stdio: 'ignore', env: { OTEL_TRACES_EXPORTER: 'none' } });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    stop = () => {
      child.kill('SIGTERM');
      return ended;
    };
    await vi.waitFor(() => fetch(`http://${guarded}/v2/`), { timeout: 20_000, interval: 50 });
  });

  afterAll(async () => {
    await stop?.();
    await rm(folder, { recursive: true });
  });

  const withDockerConfig = (content: object) =>
    client({
      registries: { [guarded]: { plainHttp: true } },
      dockerConfigJson: () => Promise.resolve(JSON.stringify(content)),
    });

  test('is read with the credentials of a docker configuration', async () => {
    const auth = Buffer.from(`robot:${password}`).toString('base64');
    const registry = withDockerConfig({ auths: { [guarded]: { auth } } });
    expect(await registry.resolveTag(`${guarded}/${name}`, 'v1')).toMatchObject({ value: { digest: pushed.digest } });
    expect(await registry.listTags(`${guarded}/${name}`)).toEqual({ kind: 'read', value: ['v1'] });
  });

  test('denies a wrong password and nobody, which is not the same as a missing tag', async () => {
    const auth = Buffer.from('robot:wrong').toString('base64');
    const wrong = withDockerConfig({ auths: { [guarded]: { auth } } });
    const denied = { kind: 'unmeasured', why: 'denied' };
    expect(await wrong.resolveTag(`${guarded}/${name}`, 'v1')).toMatchObject(denied);
    expect(await withDockerConfig({}).resolveTag(`${guarded}/${name}`, 'v1')).toMatchObject(denied);
    const right = withDockerConfig({ auths: { [guarded]: { username: 'robot', password } } });
    expect(await right.resolveTag(`${guarded}/${name}`, 'v9')).toMatchObject({ why: 'missing' });
  });
});
