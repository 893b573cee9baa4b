import { createHash } from 'node:crypto';

const MANIFEST_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];

/** Bytes with a media type, as registries store them. */
export interface Blob {
  readonly mediaType: string;
  readonly content: Buffer;
}

/** How a manifest names a blob. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** `sha256:…` over exactly these bytes. */
export function digestOf(content: Uint8Array): string {
  return 'sha256:' + createHash('sha256').update(content).digest('hex');
}

/** The descriptor of a blob. */
export function describe(blob: Blob): Descriptor {
  return { mediaType: blob.mediaType, digest: digestOf(blob.content), size: blob.content.length };
}

/** JSON in a fixed form: what a digest is computed over. */
export function jsonBlob(mediaType: string, value: unknown): Blob {
  return { mediaType, content: Buffer.from(JSON.stringify(value)) };
}

/** Uploads a blob unless the repository has it (Distribution API: POST, then PUT with the digest). */
export async function pushBlob(registry: string, repository: string, blob: Blob): Promise<Descriptor> {
  const descriptor = describe(blob);
  const base = `http://${registry}/v2/${repository}/blobs/`;
  const head = await fetch(base + descriptor.digest, { method: 'HEAD' });
  if (head.ok) return descriptor;
  const upload = await expectOk(await fetch(`${base}uploads/`, { method: 'POST' }), `start an upload to ${repository}`);
  const location = new URL(upload.headers.get('location') ?? '', `${base}uploads/`);
  location.searchParams.set('digest', descriptor.digest);
  const headers = { 'content-type': 'application/octet-stream' };
  const put = await fetch(location, { method: 'PUT', headers, body: new Uint8Array(blob.content) });
  await expectOk(put, `upload ${descriptor.digest} to ${repository}`);
  return descriptor;
}

/** Uploads a manifest or an index under a tag or its own digest. */
export async function pushManifest(
  registry: string,
  repository: string,
  tagOrDigest: string,
  manifest: Blob,
): Promise<Descriptor> {
  const url = manifestUrl(registry, repository, tagOrDigest);
  const headers = { 'content-type': manifest.mediaType };
  const put = await fetch(url, { method: 'PUT', headers, body: new Uint8Array(manifest.content) });
  await expectOk(put, `push ${repository}:${tagOrDigest}`);
  return describe(manifest);
}

/** The stored bytes of a manifest or an index. */
export async function pullManifest(registry: string, repository: string, tagOrDigest: string): Promise<Blob> {
  const headers = { accept: MANIFEST_TYPES.join(', ') };
  const get = await fetch(manifestUrl(registry, repository, tagOrDigest), { headers });
  await expectOk(get, `read ${repository} ${tagOrDigest}`);
  const content = Buffer.from(await get.arrayBuffer());
  return { mediaType: get.headers.get('content-type') ?? '', content };
}

/** Deletes a manifest by its digest. Distribution allows it only with `storage.delete.enabled: true`. */
export async function removeManifest(registry: string, repository: string, digest: string): Promise<void> {
  const response = await fetch(manifestUrl(registry, repository, digest), { method: 'DELETE' });
  if (response.status === 405) {
    throw new Error(`the registry ${registry} refuses deletes: set storage.delete.enabled in its configuration`);
  }
  await expectOk(response, `delete ${repository}@${digest}`);
}

function manifestUrl(registry: string, repository: string, tagOrDigest: string): string {
  return `http://${registry}/v2/${repository}/manifests/${tagOrDigest}`;
}

async function expectOk(response: Response, what: string): Promise<Response> {
  if (response.ok) return response;
  throw new Error(`cannot ${what}: ${response.status} ${(await response.text()).slice(0, 300)}`);
}
