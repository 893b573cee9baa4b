import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import { hostArchitecture, spokeBinary } from './image-binary.ts';
import { pullManifest } from './image-push.ts';
import { deleteManifest, pushSpokeImage, tagImage } from './images.ts';

const registry = inject('lab').registry;
const host = `linux/${hostArchitecture()}`;
let counter = 0;
const cleanUp: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

function freshRepository(): string {
  return `images-test/${process.pid}-${Date.now()}-${counter++}`;
}

interface Manifest {
  config: { digest: string };
  manifests: { digest: string; platform: { architecture: string; os: string; variant?: string } }[];
}

async function manifest(repository: string, name: string): Promise<Manifest> {
  return JSON.parse((await pullManifest(registry, repository, name)).content.toString()) as Manifest;
}

describe('images', () => {
  test('the same spec gives the same digest, another version another', async () => {
    const repository = freshRepository();
    const one = await pushSpokeImage(registry, { repository, tag: 'v1.0.0', version: '1.0.0', revision: 'abc' });
    const again = await pushSpokeImage(registry, {
      repository,
      tag: ['v1.0.0', 'v1'],
      version: '1.0.0',
      revision: 'abc',
    });
    const other = await pushSpokeImage(registry, { repository, tag: 'v1.0.1', version: '1.0.1', revision: 'abc' });
    expect(again.digest).toBe(one.digest);
    expect(other.digest).not.toBe(one.digest);
    expect(one.reference).toBe(`${registry}/${repository}:v1.0.0@${one.digest}`);
  });

  test('one architecture is a plain manifest whose config carries labels and environment', async () => {
    const repository = freshRepository();
    const pushed = await pushSpokeImage(registry, {
      repository,
      tag: 'v1',
      version: '1.0.0',
      revision: '04d1e1ea4bdf',
      fault: 'crash-start',
    });
    expect(pushed.manifests).toEqual({ [host]: pushed.digest });
    const { config } = await manifest(repository, 'v1');
    const blob = await fetch(`http://${registry}/v2/${repository}/blobs/${config.digest}`);
    expect(await blob.json()).toMatchObject({
      os: 'linux',
      architecture: hostArchitecture(),
      config: {
        Env: ['PATH=/', 'SPOKE_FAULT=crash-start', 'SPOKE_VERSION=1.0.0'],
        Labels: { 'org.opencontainers.image.revision': '04d1e1ea4bdf' },
      },
    });
  });

  test('several architectures are an index, with attestation entries beside them', async () => {
    const repository = freshRepository();
    const architectures = ['amd64', 'arm64/v8'];
    const pushed = await pushSpokeImage(registry, {
      repository,
      tag: 'v1',
      version: '1',
      architectures,
      attestation: true,
    });
    expect(Object.keys(pushed.manifests)).toEqual(['linux/amd64', 'linux/arm64/v8']);
    const { manifests } = await manifest(repository, pushed.digest);
    expect(manifests.map((entry) => entry.platform)).toEqual([
      { os: 'linux', architecture: 'amd64' },
      { os: 'unknown', architecture: 'unknown' },
      { os: 'linux', architecture: 'arm64', variant: 'v8' },
      { os: 'unknown', architecture: 'unknown' },
    ]);
  });

  test('a tag is moved, and a deleted manifest is gone', async () => {
    const repository = freshRepository();
    const one = await pushSpokeImage(registry, { repository, tag: 'edge', version: '1' });
    const two = await pushSpokeImage(registry, { repository, version: '2', index: true });
    await tagImage(registry, repository, two.digest, 'edge');
    const edge = await fetch(`http://${registry}/v2/${repository}/manifests/edge`, { method: 'HEAD' });
    expect(edge.headers.get('docker-content-digest')).toBe(two.digest);
    await deleteManifest(registry, repository, one.digest);
    await expect(pullManifest(registry, repository, one.digest)).rejects.toThrow('404');
  });
});

interface Spoke {
  url: string;
  folder: string;
  exit: Promise<number | null>;
  get(path: string): Promise<{ status: number; body: unknown }>;
  put(agent: string, body: object): Promise<number>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function binaryFile(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'spoke-test-'));
  cleanUp.push(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'spoke');
  await writeFile(file, await spokeBinary({ architecture: hostArchitecture() }), { mode: 0o755 });
  return file;
}

async function run(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(await binaryFile(), args, { env });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, stdout, stderr };
}

async function startSpoke(env: Record<string, string> = {}, state?: string): Promise<Spoke> {
  const port = await freePort();
  const folder = state ?? (await mkdtemp(path.join(tmpdir(), 'spoke-state-')));
  if (state === undefined) cleanUp.push(() => rm(folder, { recursive: true }));
  const child = spawn(await binaryFile(), [], {
    env: { PORT: String(port), STATE_DIR: folder, SPOKE_VERSION: '7', ...env },
  });
  const exit = new Promise<number | null>((resolve) => child.on('exit', resolve));
  cleanUp.push(async () => {
    child.kill('SIGTERM');
    await exit;
  });
  const url = `http://127.0.0.1:${port}`;
  await vi.waitFor(() => fetch(`${url}/ready`), { timeout: 10_000, interval: 20 });
  return {
    url,
    folder,
    exit,
    async get(path) {
      const response = await fetch(url + path);
      return { status: response.status, body: await response.json() };
    },
    async put(agent, body) {
      const response = await fetch(`${url}/api/config/agent/${agent}/models`, {
        method: 'PUT',
        body: JSON.stringify(body),
      });
      return response.status;
    },
  };
}

const scout = { name: 'scout', backend: 'local', model: 'small', effort: 'low', paused: true };
const smith = { name: 'smith', backend: 'local', model: 'large', effort: 'high', paused: false };
const SPOKE_AGENTS = JSON.stringify([scout, smith]);
const placed = { backend: 'remote', model: 'huge', effort: 'max' };

describe('spoke', () => {
  test('answers health with its version and status with its agents', async () => {
    const spoke = await startSpoke({ SPOKE_AGENTS });
    expect(await spoke.get('/api/health')).toEqual({ status: 200, body: { status: 'ok', version: '7' } });
    expect(await spoke.get('/api/status')).toEqual({
      status: 200,
      body: { initializing: false, agents: [scout, smith] },
    });
  });

  test('a placement is set at once, kept in the journal, and survives a restart unless the version loses placements', async () => {
    const spoke = await startSpoke({ SPOKE_AGENTS });
    expect(await spoke.put('scout', placed)).toBe(200);
    expect(await spoke.put('nobody', placed)).toBe(404);
    expect(await spoke.put('scout', { backend: 'x' })).toBe(400);
    const agents = [{ ...scout, ...placed }, smith];
    expect(await spoke.get('/api/status')).toMatchObject({ body: { agents } });
    expect(JSON.parse(await readFile(path.join(spoke.folder, 'hive-state.json'), 'utf8'))).toEqual({
      agents: { scout: { ...placed, paused: true } },
    });
    const restarted = await startSpoke({ SPOKE_AGENTS }, spoke.folder);
    expect(await restarted.get('/api/status')).toMatchObject({ body: { agents } });
    const forgetful = await startSpoke({ SPOKE_AGENTS, SPOKE_RESET_PLACEMENTS: 'true' }, spoke.folder);
    expect(await forgetful.get('/api/status')).toMatchObject({ body: { agents: [scout, smith] } });
  });

  test('status says initializing, without agents, until it is not', async () => {
    const spoke = await startSpoke({ SPOKE_AGENTS, SPOKE_INIT: '300ms' });
    expect(await spoke.get('/api/status')).toEqual({ status: 200, body: { initializing: true, agents: [] } });
    await vi.waitFor(async () =>
      expect(await spoke.get('/api/status')).toMatchObject({ body: { initializing: false } }),
    );
  });

  test('shows each fault that an image can carry', async () => {
    expect(await run([], { SPOKE_FAULT: 'crash-start' })).toMatchObject({ code: 1 });
    const late = await startSpoke({ SPOKE_FAULT: 'crash-after=200ms' });
    expect(await late.exit).toBe(1);
    const probed = await startSpoke({ SPOKE_FAULT: 'crash-when-probed=2' });
    expect(await probed.get('/api/health')).toMatchObject({ status: 200 });
    await expect(probed.get('/api/health')).rejects.toThrow();
    expect(await probed.exit).toBe(1);
    const failing = await startSpoke({ SPOKE_AGENTS, SPOKE_FAULT: 'health-500,never-ready,lose-agent=scout,memory=8' });
    expect(await failing.get('/api/health')).toMatchObject({ status: 500 });
    expect(await failing.get('/ready')).toMatchObject({ status: 503 });
    expect(await failing.get('/api/status')).toMatchObject({ body: { agents: [smith] } });
    const stuck = await startSpoke({ SPOKE_AGENTS, SPOKE_FAULT: 'stuck-initializing' });
    expect(await stuck.get('/api/status')).toMatchObject({ body: { initializing: true } });
    const losing = await startSpoke({ SPOKE_AGENTS, SPOKE_FAULT: 'lose-agent-after=100ms' });
    await vi.waitFor(async () => expect(await losing.get('/api/status')).toMatchObject({ body: { agents: [scout] } }));
  });

  test('a misspelt fault is refused, not ignored', async () => {
    const refused = await run([], { SPOKE_FAULT: 'crash-strat' });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('no such fault');
  });

  test('its commands need no shell', async () => {
    expect(await run(['--version'], { SPOKE_VERSION: '7' })).toMatchObject({ code: 0, stdout: '7\n' });
    expect(await run(['sleep', '0.01'])).toMatchObject({ code: 0 });
    const spoke = await startSpoke();
    expect(await run(['probe', `${spoke.url}/api/health`])).toMatchObject({
      code: 0,
      stdout: '{"status":"ok","version":"7"}\n',
    });
    expect(await run(['probe', `${spoke.url}/nothing`])).toMatchObject({ code: 1 });
    expect(await run(['cat', path.join(spoke.folder, 'hive-state.json')])).toMatchObject({ code: 1 });
    const metrics = await fetch(`${spoke.url}/metrics`);
    expect(await metrics.text()).toMatch(/spoke_requests_total\{version="7"\} [1-9]\d*\n/);
  });
});
