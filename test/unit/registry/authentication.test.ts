import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { clientOf } from './client.ts';
import type { Script, ScriptedRegistry, SeenRequest } from './scripted-registry.ts';
import { amd64, amd64Manifest, json, serve, startRegistry } from './scripted-registry.ts';

const stored = serve(amd64Manifest, amd64);
const password = 'correct horse battery';
const basic = (user: string, secret: string) => `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`;
const authOf = (user: string, secret: string) => Buffer.from(`${user}:${secret}`).toString('base64');
const unauthorized = (challenge: string) =>
  json({ errors: [{ code: 'UNAUTHORIZED' }] }, { 'www-authenticate': challenge }, 401);

/** Serves the image to whoever has one of these `Authorization` headers. */
function guarded(challenge: string, ...accepted: readonly string[]): Script {
  return (request) =>
    accepted.includes(request.headers.authorization ?? '') ? stored(request) : unauthorized(challenge);
}

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'holdfast-registry-'));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

function setEnv(name: string, value: string): void {
  vi.stubEnv(name, value);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}

function digestOfTag(registry: ReturnType<typeof clientOf>, server: ScriptedRegistry) {
  return registry.headDigest(`${server.host}/app`, 'v1');
}

const found = { kind: 'read', value: amd64Manifest.digest };

describe('basic authentication', () => {
  test('sends the password only after the registry has asked for it', async () => {
    const server = await startRegistry(guarded('Basic realm="x"', basic('robot', password)));
    setEnv('TEST_REGISTRY_PASSWORD', password);
    const registry = clientOf(server, {}, { username: 'robot', password: { env: 'TEST_REGISTRY_PASSWORD' } });
    expect(await digestOfTag(registry, server)).toEqual(found);
    expect(server.requests.map((request) => request.headers.authorization)).toEqual([
      undefined,
      basic('robot', password),
    ]);
    expect(await digestOfTag(registry, server)).toEqual(found);
    expect(server.requests).toHaveLength(3);
  });

  test('reads a rotated password file anew when the registry refuses the old one', async () => {
    const file = path.join(await folder(), 'password');
    await writeFile(file, 'old\n');
    const server = await startRegistry(guarded('Basic realm="x"', basic('robot', 'old')));
    const registry = clientOf(server, {}, { username: 'robot', password: { file } });
    expect(await digestOfTag(registry, server)).toEqual(found);
    await writeFile(file, 'new\n');
    server.script = guarded('Basic realm="x"', basic('robot', 'new'));
    expect(await digestOfTag(registry, server)).toEqual(found);
  });

  test('that is refused is denied, and the message holds neither password nor header', async () => {
    const server = await startRegistry(guarded('Basic realm="x"'));
    setEnv('TEST_REGISTRY_PASSWORD', password);
    const registry = clientOf(server, {}, { username: 'robot', password: { env: 'TEST_REGISTRY_PASSWORD' } });
    const reading = await digestOfTag(registry, server);
    expect(reading).toMatchObject({ kind: 'unmeasured', why: 'denied' });
    expect(JSON.stringify(reading)).not.toMatch(new RegExp(`${password}|${authOf('robot', password)}`));
  });

  test('without credentials, or with a password that cannot be read, is denied with what to do', async () => {
    const server = await startRegistry(guarded('Basic realm="x"'));
    const none = await digestOfTag(clientOf(server), server);
    expect(none).toMatchObject({ why: 'denied', message: expect.stringContaining('none is configured') as string });
    const absent = clientOf(server, {}, { username: 'robot', password: { file: '/nonexistent/password' } });
    const unreadable = await digestOfTag(absent, server);
    expect(unreadable).toMatchObject({
      why: 'denied',
      message: expect.stringContaining('/nonexistent/password') as string,
    });
  });

  test('that the registry does not offer in a known way is denied', async () => {
    const server = await startRegistry(guarded('Negotiate'));
    expect(await digestOfTag(clientOf(server), server)).toMatchObject({ kind: 'unmeasured', why: 'denied' });
  });
});

/** A registry and its token service in one; `answer` is the token service's. */
async function startBearer(answer: (request: SeenRequest) => ReturnType<Script>): Promise<ScriptedRegistry> {
  const server: ScriptedRegistry = await startRegistry((request) => {
    if (request.url.startsWith('/token')) return answer(request);
    return guarded(`Bearer realm="${server.url}/token?a=b",service="the registry"`, 'Bearer t1', 'Bearer t2')(request);
  });
  return server;
}

const tokenRequests = (server: ScriptedRegistry) =>
  server.requests.filter((request) => request.url.startsWith('/token'));

describe('bearer authentication', () => {
  test('gets one token for a repository, for nobody, and uses it until it ends', async () => {
    let now = 0;
    const server = await startBearer(() => json({ token: 't1', expires_in: 100 }));
    const registry = clientOf(server, { clock: () => now });
    await Promise.all([digestOfTag(registry, server), registry.resolveTag(`${server.host}/app`, 'v1')]);
    expect(tokenRequests(server)).toHaveLength(1);
    const query = new URL(tokenRequests(server)[0]?.url ?? '', server.url).searchParams;
    expect([...query]).toEqual([
      ['a', 'b'],
      ['service', 'the registry'],
      ['scope', 'repository:app:pull'],
    ]);
    expect(tokenRequests(server)[0]?.headers.authorization).toBeUndefined();
    now = 89_000;
    expect(await digestOfTag(registry, server)).toEqual(found);
    expect(tokenRequests(server)).toHaveLength(1);
    now = 91_000;
    expect(await digestOfTag(registry, server)).toEqual(found);
    expect(tokenRequests(server)).toHaveLength(2);
  });

  test('gives user and password to the token service alone', async () => {
    const server = await startBearer((request) =>
      request.headers.authorization === basic('robot', password) ? json({ access_token: 't2' }) : { status: 401 },
    );
    const dockerConfigJson = () =>
      Promise.resolve(JSON.stringify({ auths: { [server.host]: { auth: authOf('robot', password) } } }));
    expect(await digestOfTag(clientOf(server, { dockerConfigJson }), server)).toEqual(found);
    const elsewhere = server.requests.filter((request) => !request.url.startsWith('/token'));
    expect(elsewhere.map((request) => request.headers.authorization)).toEqual([undefined, 'Bearer t2']);
  });

  test('exchanges an identity token by POST', async () => {
    const server = await startBearer((request) =>
      new URLSearchParams(request.body).get('refresh_token') === 'refresh-me'
        ? json({ access_token: 't1' })
        : { status: 401 },
    );
    const dockerConfigJson = () =>
      Promise.resolve(JSON.stringify({ auths: { [server.host]: { identitytoken: 'refresh-me' } } }));
    expect(await digestOfTag(clientOf(server, { dockerConfigJson }), server)).toEqual(found);
    expect(tokenRequests(server)[0]).toMatchObject({ method: 'POST' });
    expect(new URLSearchParams(tokenRequests(server)[0]?.body).get('grant_type')).toBe('refresh_token');
  });

  test('asks for a new token when the old one is refused before its time', async () => {
    let token = 't1';
    const server = await startBearer(() => json({ token, expires_in: 3_600 }));
    const registry = clientOf(server);
    expect(await digestOfTag(registry, server)).toEqual(found);
    token = 't2';
    const accept = server.script;
    server.script = (request) =>
      request.headers.authorization === 'Bearer t1'
        ? unauthorized(`Bearer realm="${server.url}/token"`)
        : accept(request);
    expect(await digestOfTag(registry, server)).toEqual(found);
  });

  test.each([
    ['refuses', { status: 401 }, 'denied'],
    ['is throttled', { status: 429 }, 'throttled'],
    ['is not there', { status: 404, body: '{"errors":[{"code":"NAME_UNKNOWN"}]}' }, 'unparsed'],
    ['gives none', json({}), 'unparsed'],
    ['gives one that would break a header', json({ token: 'a\r\nx: y' }), 'unparsed'],
    ['gives a web page', { body: '<html></html>' }, 'unparsed'],
  ])('whose token service %s is unmeasured, and never a missing image', async (_, answer, why) => {
    const server = await startBearer(() => answer);
    expect(await digestOfTag(clientOf(server), server)).toMatchObject({ kind: 'unmeasured', why });
  });

  test('goes to no token service over plain http when the registry is reached by TLS', async () => {
    const { requestToken } = await import('../../../src/activities/registry/tokens.ts');
    const ask = vi.fn();
    const challenge = { scheme: 'bearer', params: { realm: 'http://auth.example.com/token' } };
    const who = { kind: 'basic', username: 'robot', password } as const;
    const asked = requestToken(ask, challenge, 'scope', who, new URL('https://registry.example.com'), 0);
    await expect(asked).rejects.toMatchObject({ why: 'denied' });
    expect(ask).not.toHaveBeenCalled();
  });
});

describe('a redirect', () => {
  test('to another host is followed without the credentials, on the same host with them', async () => {
    const storage = await startRegistry(() => ({ body: amd64.body }), { address: '127.0.0.2' });
    const server = await startRegistry((request) => {
      if (request.headers.authorization !== basic('robot', password)) return unauthorized('Basic realm="x"');
      if (request.url.includes('/blobs/')) return { status: 307, headers: { location: `${storage.url}/signed?key=1` } };
      if (request.url.endsWith('/manifests/v1'))
        return { status: 302, headers: { location: `/v2/app/manifests/${amd64Manifest.digest}` } };
      return stored(request);
    });
    const dockerConfigJson = () =>
      Promise.resolve(JSON.stringify({ auths: { [server.host]: { auth: authOf('robot', password) } } }));
    const reading = await clientOf(server, { dockerConfigJson }).resolveTag(`${server.host}/app`, 'v1');
    expect(reading).toMatchObject({ kind: 'read', value: { platforms: ['linux/amd64'] } });
    expect(storage.requests).toHaveLength(1);
    expect(storage.requests[0]?.headers.authorization).toBeUndefined();
  });

  test('without an end is given up', async () => {
    const server = await startRegistry((request) => ({ status: 307, headers: { location: `${request.url}x` } }));
    expect(await clientOf(server).listTags(`${server.host}/app`)).toMatchObject({ kind: 'unmeasured', why: 'error' });
    expect(server.requests.length).toBeLessThan(10);
  });
});

describe('docker configuration', () => {
  test('is read from the named file, and from DOCKER_CONFIG where none is named', async () => {
    const server = await startRegistry(guarded('Basic realm="x"', basic('robot', password)));
    const home = await folder();
    const file = path.join(home, 'config.json');
    await writeFile(
      file,
      JSON.stringify({ auths: { [`https://${server.host}/v2/`]: { username: 'robot', password } } }),
    );
    expect(await digestOfTag(clientOf(server, { dockerConfig: file }), server)).toEqual(found);
    setEnv('DOCKER_CONFIG', home);
    expect(await digestOfTag(clientOf(server), server)).toEqual(found);
  });

  test.each([
    ['that is named and absent', undefined, 'error', 'cannot be read'],
    ['that is no JSON', `{"auths": ${password}`, 'unparsed', 'no JSON'],
    ['of another shape', '{"auths":{"x":{"auth":7}}}', 'unparsed', 'auths.x.auth'],
  ])('%s is unmeasured, not anonymous', async (_, content, why, message) => {
    const server = await startRegistry(guarded('Basic realm="x"'));
    const file = path.join(await folder(), 'config.json');
    if (content !== undefined) await writeFile(file, content);
    const reading = await digestOfTag(clientOf(server, { dockerConfig: file }), server);
    expect(reading).toMatchObject({ kind: 'unmeasured', why, message: expect.stringContaining(message) as string });
    expect(JSON.stringify(reading)).not.toContain(password);
  });

  test('that asks a credential helper runs it without a shell', async () => {
    const server = await startRegistry(guarded('Basic realm="x"', basic('robot', password)));
    const bin = await folder();
    const helper = path.join(bin, 'docker-credential-test');
    const answer = JSON.stringify({ ServerURL: 'x', Username: 'robot', Secret: password });
    await writeFile(helper, `#!/bin/sh\nread server\n[ "$1 $server" = "get ${server.host}" ] && echo '${answer}'\n`);
    await chmod(helper, 0o755);
    setEnv('PATH', `${bin}:${process.env['PATH'] ?? ''}`);
    const using = (config: object) =>
      clientOf(server, { dockerConfigJson: () => Promise.resolve(JSON.stringify(config)) });
    expect(await digestOfTag(using({ credsStore: 'test' }), server)).toEqual(found);
    expect(await digestOfTag(using({ credHelpers: { [server.host]: 'test' } }), server)).toEqual(found);
    const injected = await digestOfTag(using({ credsStore: 'test; touch x' }), server);
    expect(injected).toMatchObject({ kind: 'unmeasured', why: 'unparsed' });
    const absent = await digestOfTag(using({ credsStore: 'nowhere' }), server);
    expect(absent).toMatchObject({
      why: 'error',
      message: expect.stringContaining('docker-credential-nowhere') as string,
    });
    await writeFile(helper, `#!/bin/sh\necho '${password}'; exit 1\n`);
    const failed = await digestOfTag(using({ credsStore: 'test' }), server);
    expect(failed).toMatchObject({ why: 'error' });
    expect(JSON.stringify(failed)).not.toContain(password);
    await writeFile(helper, `#!/bin/sh\necho 'credentials not found in native keychain'; exit 1\n`);
    expect(await digestOfTag(using({ credsStore: 'test' }), server)).toMatchObject({ why: 'denied' });
  });
});
