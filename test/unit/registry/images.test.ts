import { describe, expect, test } from 'vitest';
import { clientOf } from './client.ts';
import type { Scripted } from './scripted-registry.ts';
import {
  amd64,
  amd64Manifest,
  configBlob,
  imageManifest,
  json,
  manifestBlob,
  serve,
  startRegistry,
  types,
  unknown,
} from './scripted-registry.ts';

const entryOf = (digest: string, platform?: object) => ({
  mediaType: types.manifest,
  digest,
  size: 1,
  ...(platform ? { platform } : {}),
});
const linux = (architecture: string, variant?: string) => ({
  os: 'linux',
  architecture,
  ...(variant ? { variant } : {}),
});
const indexOf = (...manifests: object[]) =>
  manifestBlob({ schemaVersion: 2, mediaType: types.index, manifests }, types.index);
const other = `sha256:${'b'.repeat(64)}`;

describe('H-A02 a registry whose HEAD cannot be used', () => {
  test.each<[string, Scripted]>([
    ['refuses it (405)', { status: 405 }],
    ['answers 404', { status: 404 }],
    ['answers 200 without a digest', { headers: { 'content-type': types.manifest } }],
    [
      'answers 200 with a digest of another kind',
      { headers: { 'content-type': types.manifest, 'docker-content-digest': 'md5:1' } },
    ],
    ['fails (500)', { status: 500 }],
  ])('H-A02 %s is asked by GET, and the digest is over its exact bytes', async (_, head) => {
    const stored = serve(amd64Manifest, amd64);
    const server = await startRegistry((request) => (request.method === 'HEAD' ? head : stored(request)));
    const registry = clientOf(server);
    const value = amd64Manifest.digest;
    expect(await registry.headDigest(`${server.host}/app`, 'v1')).toEqual({ kind: 'read', value });
    expect(await registry.resolveTag(`${server.host}/app`, 'v1')).toMatchObject({ value: { digest: value } });
  });

  test('H-A02 a digest in the header of GET that is not that of the bytes fails the reading', async () => {
    const stored = serve(amd64Manifest, amd64);
    const server = await startRegistry((request) => {
      const answer = stored(request);
      if (request.url.includes('blobs')) return answer;
      return { ...answer, headers: { ...answer?.headers, 'docker-content-digest': other } };
    });
    const reading = await clientOf(server).resolveTag(`${server.host}/app`, 'v1');
    expect(reading).toMatchObject({ kind: 'unmeasured', why: 'error' });
    expect(reading).toMatchObject({ message: expect.stringContaining(amd64Manifest.digest) as string });
  });

  test('H-A02 what is stored under a digest must have that digest', async () => {
    const stored = serve(amd64Manifest, amd64);
    const server = await startRegistry((request) => {
      if (request.url.includes('blobs')) return stored(request);
      return { headers: { 'content-type': types.manifest }, body: request.method === 'GET' ? amd64Manifest.body : '' };
    });
    const reading = await clientOf(server).resolveDigest(`${server.host}/app`, other);
    expect(reading).toMatchObject({ kind: 'unmeasured', why: 'error' });
    expect(await clientOf(server).headDigest(`${server.host}/app`, other)).toMatchObject({ why: 'error' });
  });

  test('H-A02 nothing may be packed on the way, since the digest is over the bytes as stored', async () => {
    const server = await startRegistry(serve(amd64Manifest, amd64));
    await clientOf(server).resolveTag(`${server.host}/app`, 'v1');
    expect(server.requests.map((request) => request.headers['accept-encoding'])).toEqual(['identity', 'identity']);
  });
});

test.each([types.index, types.manifest, types.dockerList, types.dockerManifest])(
  'H-A03 a registry that answers 404 unless Accept holds %s is understood',
  async (type) => {
    const index = type === types.index || type === types.dockerList;
    const single = imageManifest(amd64, index ? types.manifest : type);
    const top = index
      ? manifestBlob({ schemaVersion: 2, mediaType: type, manifests: [entryOf(single.digest, linux('amd64'))] }, type)
      : single;
    const stored = serve(top, single, amd64);
    const server = await startRegistry((request) => {
      const wanted = (request.headers.accept ?? '').split(/,\s*/);
      if (request.url.endsWith('/v1') && !wanted.includes(type)) return unknown('MANIFEST_UNKNOWN');
      return stored(request);
    });
    const reading = await clientOf(server).resolveTag(`${server.host}/app`, 'v1');
    expect(reading).toMatchObject({ kind: 'read', value: { mediaType: type, platforms: ['linux/amd64'] } });
    expect(await clientOf(server).headDigest(`${server.host}/app`, 'v1')).toEqual({ kind: 'read', value: top.digest });
  },
);

test.each([
  'application/vnd.docker.distribution.manifest.v1+prettyjws',
  'application/vnd.docker.distribution.manifest.v1+json',
])('H-A03 schema 1 (%s) is refused in words, since its digest is not usable', async (type) => {
  const old = { schemaVersion: 1, name: 'app', tag: 'v1', fsLayers: [], history: [], signatures: [] };
  const server = await startRegistry(() => json(old, { 'content-type': type, 'docker-content-digest': other }));
  const registry = clientOf(server);
  const refused = { kind: 'unmeasured', why: 'unparsed', message: expect.stringContaining('schema 1') as string };
  expect(await registry.resolveTag(`${server.host}/app`, 'v1')).toMatchObject(refused);
  expect(await registry.headDigest(`${server.host}/app`, 'v1')).toMatchObject(refused);
});

test('H-A04 attestations are not platforms, and the digest is the index', async () => {
  const attestation = {
    ...entryOf(other, { os: 'unknown', architecture: 'unknown' }),
    annotations: {
      'vnd.docker.reference.type': 'attestation-manifest',
      'vnd.docker.reference.digest': amd64Manifest.digest,
    },
  };
  const index = indexOf(entryOf(amd64Manifest.digest, linux('amd64')), attestation);
  const server = await startRegistry(serve(index, amd64Manifest, amd64));
  expect(await clientOf(server).resolveTag(`${server.host}/app`, 'v1')).toEqual({
    kind: 'read',
    value: {
      repository: `${server.host}/app`,
      tag: 'v1',
      digest: index.digest,
      mediaType: types.index,
      labels: { 'org.opencontainers.image.revision': '04d1e1ea4bdf9c' },
      revision: '04d1e1ea4bdf9c',
      platforms: ['linux/amd64'],
      unplatformed: 0,
      platformDigests: { 'linux/amd64': amd64Manifest.digest },
    },
  });
});

test('H-A05 an index entry without a platform matches nothing and is counted', async () => {
  const arm = configBlob({ os: 'linux', architecture: 'arm64', variant: 'v8' });
  const armManifest = imageManifest(arm);
  const index = indexOf(
    { digest: other },
    { digest: armManifest.digest, platform: linux('arm64') },
    { digest: other, platform: null },
  );
  const server = await startRegistry(serve(index, armManifest, arm));
  expect(await clientOf(server).resolveTag(`${server.host}/app`, 'v1')).toMatchObject({
    kind: 'read',
    value: { platforms: ['linux/arm64'], unplatformed: 2, platformDigests: { 'linux/arm64': armManifest.digest } },
  });
});

describe('H-A06 a single manifest', () => {
  test('H-A06 counts as the architecture of its configuration, variant included', async () => {
    const arm = configBlob({ os: 'linux', architecture: 'arm64', variant: 'v8' });
    const manifest = imageManifest(arm);
    const server = await startRegistry(serve(manifest, arm));
    expect(await clientOf(server).resolveTag(`${server.host}/app`, 'v1')).toMatchObject({
      kind: 'read',
      value: { platforms: ['linux/arm64/v8'], platformDigests: { 'linux/arm64/v8': manifest.digest }, revision: null },
    });
  });

  test.each<[string, string, Scripted]>([
    ['refused', 'denied', { status: 403 }],
    ['gone', 'error', unknown('BLOB_UNKNOWN')],
    ['cut short', 'truncated', { body: amd64.body.slice(0, 20), breakOff: true }],
    ['changed', 'error', { body: '{"os":"linux","architecture":"arm64"}' }],
    ['of a registry that fails', 'error', { status: 500 }],
  ])('H-A06 whose configuration is %s has an unknown architecture, not none', async (_, why, blob) => {
    const stored = serve(amd64Manifest, amd64);
    const server = await startRegistry((request) => (request.url.includes('/blobs/') ? blob : stored(request)));
    const reading = await clientOf(server).resolveTag(`${server.host}/app`, 'v1');
    expect(reading).toMatchObject({ kind: 'unmeasured', why });
  });

  test('H-A06 whose configuration does not say its architecture has an unknown one', async () => {
    const silent = configBlob({ os: 'linux' });
    const server = await startRegistry(serve(imageManifest(silent), silent));
    const reading = await clientOf(server).resolveTag(`${server.host}/app`, 'v1');
    expect(reading).toMatchObject({
      kind: 'unmeasured',
      why: 'unparsed',
      message: expect.stringContaining('architecture') as string,
    });
  });
});

describe('an image', () => {
  test('that is missing is told from a server that is no registry', async () => {
    const server = await startRegistry(({ url }) => {
      if (url.startsWith('/v2/nothing/')) return unknown('NAME_UNKNOWN');
      return url.startsWith('/v2/page/') ? { status: 404, body: '<html>not here</html>' } : undefined;
    });
    const registry = clientOf(server);
    expect(await registry.resolveTag(`${server.host}/app`, 'v1')).toMatchObject({ why: 'missing' });
    expect(await registry.resolveDigest(`${server.host}/app`, other)).toMatchObject({ why: 'missing' });
    expect(await registry.resolveTag(`${server.host}/nothing`, 'v1')).toMatchObject({ why: 'missing' });
    expect(await registry.resolveTag(`${server.host}/page`, 'v1')).toMatchObject({ why: 'unparsed' });
  });

  test('whose registry does not answer is timed out, one that is not there unreachable', async () => {
    const server = await startRegistry(() => ({ hang: true }));
    const slow = await clientOf(server, { timeoutMs: 100 }).resolveTag(`${server.host}/app`, 'v1');
    expect(slow).toMatchObject({ kind: 'unmeasured', why: 'timeout', from: `registry ${server.host}` });
    expect(server.requests).toHaveLength(1);
    // No server listens on port 1.
    const absent = { ...server, host: '127.0.0.1:1' };
    expect(await clientOf(absent).resolveTag('127.0.0.1:1/app', 'v1')).toMatchObject({ why: 'unreachable' });
  });

  test.each([
    ['cut short', '{"schemaVersion":2,"config":', 'truncated'],
    ['a web page', '<html></html>', 'unparsed'],
    ['empty', '', 'empty'],
    ['both index and image', '{"schemaVersion":2,"manifests":[],"config":{}}', 'unparsed'],
    ['of an index whose entries have no digest', '{"schemaVersion":2,"manifests":[{"size":1}]}', 'unparsed'],
    [
      'of a chart',
      `{"schemaVersion":2,"config":{"mediaType":"application/vnd.cncf.helm.config.v1+json","digest":"${other}"}}`,
      'unparsed',
    ],
  ])('whose manifest is %s is not read', async (_, body, why) => {
    const server = await startRegistry(() => ({ headers: { 'content-type': types.manifest }, body }));
    expect(await clientOf(server).resolveTag(`${server.host}/app`, 'v1')).toMatchObject({ kind: 'unmeasured', why });
  });

  test('whose manifest is longer than any registry takes is not read to its end', async () => {
    const body = `{"schemaVersion":2,"padding":"${'x'.repeat(5 * 1024 * 1024)}"}`;
    const server = await startRegistry(() => ({ headers: { 'content-type': types.manifest }, body }));
    expect(await clientOf(server).resolveTag(`${server.host}/app`, 'v1')).toMatchObject({ why: 'truncated' });
  });

  test('whose labels cannot be read is unmeasured: its label would be wrong', async () => {
    const index = indexOf(entryOf(amd64Manifest.digest, linux('amd64')));
    const server = await startRegistry(serve(index));
    expect(await clientOf(server).resolveTag(`${server.host}/app`, 'v1')).toMatchObject({
      kind: 'unmeasured',
      why: 'error',
    });
  });

  test('that 500 targets ask for at once is asked for once, and later costs one HEAD while it has not moved', async () => {
    const server = await startRegistry(serve(amd64Manifest, amd64));
    const registry = clientOf(server);
    const readings = await Promise.all(
      Array.from({ length: 500 }, () => registry.resolveTag(`${server.host}/app`, 'v1')),
    );
    expect(new Set(readings.map((reading) => reading.kind))).toEqual(new Set(['read']));
    expect(server.requests.map((request) => request.method)).toEqual(['GET', 'GET']);
    server.requests.length = 0;
    expect(await registry.resolveTag(`${server.host}/app`, 'v1')).toEqual(readings[0]);
    expect(server.requests.map((request) => request.method)).toEqual(['HEAD']);
  });

  test('whose tag has moved is read anew', async () => {
    const server = await startRegistry(serve(amd64Manifest, amd64));
    const registry = clientOf(server);
    await registry.resolveTag(`${server.host}/app`, 'v1');
    const moved = indexOf(entryOf(amd64Manifest.digest, linux('amd64')));
    server.script = serve(moved, amd64Manifest, amd64);
    expect(await registry.resolveTag(`${server.host}/app`, 'v1')).toMatchObject({ value: { digest: moved.digest } });
  });

  test('whose digest is deleted at the registry is missing, also when it was read before', async () => {
    const server = await startRegistry(serve(amd64Manifest, amd64));
    const registry = clientOf(server);
    expect(await registry.resolveDigest(`${server.host}/app`, amd64Manifest.digest)).toMatchObject({ kind: 'read' });
    server.script = () => undefined;
    expect(await registry.resolveDigest(`${server.host}/app`, amd64Manifest.digest)).toMatchObject({ why: 'missing' });
  });

  test('with a name that is none is refused before any request', async () => {
    const server = await startRegistry(() => undefined);
    const registry = clientOf(server);
    expect(await registry.resolveTag(`${server.host}/App`, 'v1')).toMatchObject({
      kind: 'unmeasured',
      why: 'unparsed',
    });
    expect(await registry.resolveTag(`${server.host}/app`, 'v1/../../x')).toMatchObject({ kind: 'unmeasured' });
    expect(server.requests).toEqual([]);
  });

  test('is read at the second try when a connection breaks or a gateway hiccups', async () => {
    const stored = serve(amd64Manifest, amd64);
    let failures = 0;
    const server = await startRegistry((request) => (failures++ === 0 ? { status: 502 } : stored(request)));
    expect(await clientOf(server).resolveTag(`${server.host}/app`, 'v1')).toMatchObject({ kind: 'read' });
  });
});
