import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** What a test's server answers. */
export interface Scripted {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  /** Announces more bytes than it sends, then drops the connection. */
  readonly breakOff?: boolean;
  /** Never answers. */
  readonly hang?: boolean;
}

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Script = (request: SeenRequest) => Scripted | undefined;

/** A server that answers by script, and 404 as registries do where the script has nothing. */
export interface ScriptedRegistry {
  /** `127.0.0.1:port` */
  readonly host: string;
  readonly url: string;
  readonly requests: SeenRequest[];
  script: Script;
}

/** Starts a scripted registry for the running test. */
export async function startRegistry(
  script: Script,
  options: { tls?: { key: string; cert: string }; address?: string } = {},
): Promise<ScriptedRegistry> {
  const registry = { host: '', url: '', requests: [] as SeenRequest[], script };
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    request.on('data', (data: Buffer) => (body += data.toString()));
    request.on('end', () => {
      const seen = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
      registry.requests.push(seen);
      write(response, registry.script(seen) ?? unknown('MANIFEST_UNKNOWN'));
    });
  };
  const server = options.tls ? createTlsServer(options.tls, handle) : createServer(handle);
  const address = options.address ?? '127.0.0.1';
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  registry.host = `${address}:${(server.address() as AddressInfo).port}`;
  registry.url = `${options.tls ? 'https' : 'http'}://${registry.host}`;
  return registry;
}

function write(response: ServerResponse, answer: Scripted): void {
  if (answer.hang) return;
  const body = Buffer.from(answer.body ?? '');
  const length = answer.breakOff ? body.length + 100 : body.length;
  response.writeHead(answer.status ?? 200, { 'content-length': length, ...answer.headers });
  if (!answer.breakOff) response.end(body);
  else response.write(body, () => response.destroy());
}

/** A registry's 404. */
export function unknown(code: string): Scripted {
  return json({ errors: [{ code, message: 'secret-looking words of the registry' }] }, {}, 404);
}

export function json(value: unknown, headers: Record<string, string> = {}, status = 200): Scripted {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

export function sha256(content: string | Buffer): string {
  return 'sha256:' + createHash('sha256').update(content).digest('hex');
}

export const types = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  dockerList: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
  config: 'application/vnd.oci.image.config.v1+json',
} as const;

/** Content of a repository `app`, by name below `/v2/app/`. */
export interface Content {
  readonly path: string;
  readonly digest: string;
  readonly body: string;
  readonly mediaType: string;
}

export function configBlob(config: object): Content {
  const body = JSON.stringify(config);
  return { path: `blobs/${sha256(body)}`, digest: sha256(body), body, mediaType: 'application/octet-stream' };
}

/** A manifest as stored, with spaces that a re-serialisation would lose. */
export function manifestBlob(value: object, mediaType: string): Content {
  const body = JSON.stringify(value, null, 3);
  return { path: `manifests/${sha256(body)}`, digest: sha256(body), body, mediaType };
}

export function imageManifest(config: Content, mediaType: string = types.manifest): Content {
  const descriptor = { mediaType: types.config, digest: config.digest, size: config.body.length };
  return manifestBlob({ schemaVersion: 2, mediaType, config: descriptor, layers: [] }, mediaType);
}

export const amd64 = configBlob({
  os: 'linux',
  architecture: 'amd64',
  config: { Labels: { 'org.opencontainers.image.revision': '04d1e1ea4bdf9c' } },
});
export const amd64Manifest = imageManifest(amd64);

/** Serves these contents, and the first under the tag `v1`, with HEAD and digests as Distribution does. */
export function serve(...contents: readonly Content[]): Script {
  return ({ method, url }) => {
    const name = url.replace('/v2/app/', '');
    const found = name === 'manifests/v1' ? contents[0] : contents.find((content) => content.path === name);
    if (found === undefined) return undefined;
    const headers = { 'content-type': found.mediaType, 'docker-content-digest': found.digest };
    return method === 'HEAD' ? { headers } : { headers, body: found.body };
  };
}
