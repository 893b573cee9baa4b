import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubernetesClient } from '../../../src/activities/kubernetes/port.ts';
import { startApiServer } from '../../doubles/api-server.ts';
import type { ApiServerDouble } from '../../doubles/api-server.ts';

const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'a' };
const unauthorized = JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Unauthorized', code: 401 });

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Certificates are made by openssl, for the time of the test. */
describe.skipIf(!hasOpenssl())('credentials', () => {
  let dir: string;
  let tls: { key: string; cert: string };
  let server: ApiServerDouble;
  let port: KubernetesClient | undefined;
  let accepted: (authorization: string) => boolean;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'holdfast-credentials-'));
    const subject = ['-subj', '/CN=double', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const key = [
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-keyout',
      join(dir, 'key.pem'),
    ];
    execFileSync('openssl', ['req', '-x509', ...key, '-out', join(dir, 'cert.pem'), '-days', '2', ...subject], {
      stdio: 'ignore',
    });
    tls = { key: readFileSync(join(dir, 'key.pem'), 'utf8'), cert: readFileSync(join(dir, 'cert.pem'), 'utf8') };
    server = await startApiServer({ tls });
    server.store.create('v1/configmaps', 'shop', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
  });

  afterEach(async () => {
    await port?.close();
    server.requests.length = 0;
    server.fault = undefined;
  });

  afterAll(async () => {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  function require401(accept: (authorization: string) => boolean): void {
    accepted = accept;
    server.fault = (request) =>
      accepted(request.headers.authorization ?? '') ? undefined : { kind: 'answer', status: 401, body: unauthorized };
  }

  test('a token is sent over TLS that the kubeconfig’s CA has signed', async () => {
    require401((given) => given === 'Bearer good');
    port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig({ token: 'good' }) });
    expect(await port.get(ref)).toMatchObject({ kind: 'read' });
  });

  test('a server that the CA has not signed is unreachable, and gets no token', async () => {
    const kubeconfig = JSON.parse(readFileSync(server.kubeconfig({ token: 'good' }), 'utf8')) as {
      clusters: { cluster: Record<string, string> }[];
    };
    delete kubeconfig.clusters[0]?.cluster['certificate-authority-data'];
    const file = join(dir, 'no-ca.yaml');
    writeFileSync(file, JSON.stringify(kubeconfig));
    port = await createKubernetes({ name: 'double', kubeconfig: file });
    expect(await port.get(ref)).toMatchObject({ kind: 'unmeasured', why: 'unreachable' });
    expect(server.requests).toHaveLength(0);
  });

  test('a token file that was rotated is read again after a 401, for reads, writes and watches alike', async () => {
    const tokenFile = join(dir, 'token');
    writeFileSync(tokenFile, 'first\n');
    require401((given) => given === 'Bearer first');
    port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig({ tokenFile }) });
    expect(await port.get(ref)).toMatchObject({ kind: 'read' });
    writeFileSync(tokenFile, 'second\n');
    accepted = (given) => given === 'Bearer second';
    expect(await port.patch(ref, { data: { a: '1' } }, { type: 'merge', fieldManager: 'x' })).toMatchObject({
      kind: 'written',
    });
    expect(server.requests.map((request) => request.method)).toEqual(['GET', 'PATCH', 'PATCH']);
  });

  test('credentials that are refused for good are denied, and not tried in a circle', async () => {
    require401(() => false);
    port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig({ token: 'bad' }) });
    expect(await port.get(ref)).toMatchObject({ kind: 'unmeasured', why: 'denied' });
    expect(await port.patch(ref, {}, { type: 'merge', fieldManager: 'x' })).toMatchObject({ kind: 'denied' });
    expect(server.requests).toHaveLength(2);
  });

  test('a credential plugin runs once for many calls, and again when its token is refused', async () => {
    const log = join(dir, 'plugin.log');
    const plugin = join(dir, 'plugin.sh');
    const script = `#!/bin/sh
echo "$KUBERNETES_EXEC_INFO" >> '${log}'
n=$(wc -l < '${log}' | tr -d ' ')
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"token-'$n'"}}'
`;
    writeFileSync(plugin, script, { mode: 0o700 });
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin, interactiveMode: 'Never' };
    require401((given) => given === 'Bearer token-1');
    port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig({ exec }) });
    const client = port;
    const many = await Promise.all(Array.from({ length: 5 }, () => client.get(ref)));
    expect(many.every((reading) => reading.kind === 'read')).toBe(true);
    const infos = () => readFileSync(log, 'utf8').trim().split('\n');
    expect(infos()).toHaveLength(1);
    expect(JSON.parse(infos()[0] ?? '')).toMatchObject({ kind: 'ExecCredential', spec: { interactive: false } });
    accepted = (given) => given === 'Bearer token-2';
    expect(await port.get(ref)).toMatchObject({ kind: 'read' });
    expect(infos()).toHaveLength(2);
  });

  test('a credential plugin that fails is denied, without its words', async () => {
    const plugin = join(dir, 'broken.sh');
    writeFileSync(plugin, '#!/bin/sh\necho "the secret is hunter2" >&2\nexit 1\n', { mode: 0o700 });
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin };
    port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig({ exec }) });
    const reading = await port.get(ref);
    expect(reading).toMatchObject({ kind: 'unmeasured', why: 'denied' });
    expect(JSON.stringify(reading)).not.toContain('hunter2');
    expect(await port.patch(ref, {}, { type: 'merge', fieldManager: 'x' })).toMatchObject({
      kind: 'unknown',
      effect: 'none',
    });
  });

  test('basic authentication and impersonation are passed on', async () => {
    const user = { username: 'ann', password: 'secret', as: 'bob', 'as-groups': ['ops', 'dev'] };
    port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig(user) });
    expect(await port.get(ref)).toMatchObject({ kind: 'read' });
    // The double refuses sockets; what was sent is all that matters here.
    await port.exec({ namespace: 'shop', name: 'a', container: 'a' }, ['true'], { timeoutMs: 1_000 });
    expect(server.requests).toHaveLength(2);
    for (const { headers, rawHeaders } of server.requests) {
      expect(headers.authorization).toBe(`Basic ${Buffer.from('ann:secret').toString('base64')}`);
      expect(headers['impersonate-user']).toBe('bob');
      // Go reads one group from each header line.
      const groups = rawHeaders.filter((_, i) => rawHeaders[i - 1]?.toLowerCase() === 'impersonate-group');
      expect(groups).toEqual(['ops', 'dev']);
    }
  });
});

describe('a kubeconfig', () => {
  test('over plain HTTP no credentials are sent', async () => {
    const server = await startApiServer();
    const port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig({ token: 'good' }) });
    expect(await port.version()).toMatchObject({ kind: 'read' });
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
    await port.close();
    await server.stop();
  });

  test('that cannot be used is refused at the start, with the file, the reason and what there is', async () => {
    const server = await startApiServer();
    const kubeconfig = server.kubeconfig();
    await expect(createKubernetes({ name: 'prod', kubeconfig, context: 'other' })).rejects.toThrow(
      `cluster "prod": there is no context "other" in ${kubeconfig}; it has double`,
    );
    await expect(createKubernetes({ name: 'prod', kubeconfig: `${kubeconfig}.missing` })).rejects.toThrow(
      /cluster "prod": .*missing cannot be used/,
    );
    await server.stop();
  });

  test('is not waited for by a start that needs none: client-node is not loaded by importing the adapter', () => {
    const probe = `
      const { registerHooks } = await import('node:module');
      registerHooks({ resolve: (name, context, next) => (console.log(name), next(name, context)) });
      await import(process.argv[1]);`;
    const adapter = new URL('../../../src/activities/kubernetes/create.ts', import.meta.url).href;
    const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', probe, adapter], { encoding: 'utf8' });
    expect(loaded.split('\n')).toContain('undici');
    expect(loaded).not.toContain('@kubernetes/client-node');
  });
});
