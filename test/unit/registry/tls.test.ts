import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf } from './client.ts';
import { amd64, amd64Manifest, serve, startRegistry } from './scripted-registry.ts';

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Certificates are made by openssl, for the time of the test. */
describe.skipIf(!hasOpenssl())('a registry with a certificate of its own', () => {
  let folder: string;
  let caFile: string;
  let tls: { key: string; cert: string };

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'holdfast-tls-'));
    caFile = path.join(folder, 'cert.pem');
    const keyFile = path.join(folder, 'key.pem');
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
    const subject = ['-subj', '/CN=registry', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
    execFileSync('openssl', ['req', '-x509', ...key, '-out', caFile, ...subject], { stdio: 'ignore' });
    tls = { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(caFile, 'utf8') };
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  test('is read with its CA file, and not without it', async () => {
    const server = await startRegistry(serve(amd64Manifest, amd64), { tls });
    const trusting = clientOf(server, {}, { plainHttp: false, caFile });
    expect(await trusting.resolveTag(`${server.host}/app`, 'v1')).toMatchObject({ kind: 'read' });
    server.requests.length = 0;
    const reading = await clientOf(server, {}, { plainHttp: false }).resolveTag(`${server.host}/app`, 'v1');
    expect(reading).toMatchObject({ why: 'unreachable', message: expect.stringContaining('caFile') as string });
    expect(server.requests).toEqual([]);
  });

  test('that serves another host name is not trusted', async () => {
    const server = await startRegistry(serve(amd64Manifest, amd64), { tls, address: '127.0.0.2' });
    const reading = await clientOf(server, {}, { plainHttp: false, caFile }).resolveTag(`${server.host}/app`, 'v1');
    expect(reading).toMatchObject({ kind: 'unmeasured', why: 'unreachable' });
  });

  test('does not redirect to plain http', async () => {
    const plain = await startRegistry(serve(amd64Manifest, amd64));
    const script = () => ({ status: 307, headers: { location: `${plain.url}/v2/app/manifests/v1` } });
    const server = await startRegistry(script, { tls });
    const reading = await clientOf(server, {}, { plainHttp: false, caFile }).resolveTag(`${server.host}/app`, 'v1');
    expect(reading).toMatchObject({ kind: 'unmeasured', why: 'error' });
    expect(plain.requests).toEqual([]);
  });

  test('is told from one that speaks plain http only, and a CA file that cannot be used is named', async () => {
    const server = await startRegistry(serve(amd64Manifest, amd64));
    const plain = await clientOf(server, {}, { plainHttp: false }).resolveTag(`${server.host}/app`, 'v1');
    expect(plain).toMatchObject({ why: 'unreachable', message: expect.stringContaining('plainHttp') as string });
    const absent = path.join(folder, 'absent.pem');
    const unreadable = await clientOf(server, {}, { caFile: absent }).resolveTag(`${server.host}/app`, 'v1');
    expect(unreadable).toMatchObject({ why: 'error', message: expect.stringContaining(absent) as string });
    const empty = path.join(folder, 'empty.pem');
    writeFileSync(empty, 'nothing');
    expect(await clientOf(server, {}, { caFile: empty }).resolveTag(`${server.host}/app`, 'v1')).toMatchObject({
      why: 'unparsed',
    });
  });
});
