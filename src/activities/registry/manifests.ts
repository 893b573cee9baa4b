import { createHash } from 'node:crypto';
import { isImageDigest } from '../../domain/core/image-reference.ts';
import { faultOfStatus, RegistryFault } from './errors.ts';
import type { ExchangeAnswer } from './exchange.ts';
import type { RegistryHttp } from './http.ts';
import type { Manifest } from './manifest-schema.ts';
import { acceptedTypes, isAcceptedType, parseManifest } from './manifest-schema.ts';

/** The Distribution specification asks registries to take manifests of up to 4 MiB. */
const manifestBytes = 4 * 1024 * 1024;
const blobBytes = 8 * 1024 * 1024;

/** A manifest and the digest of its bytes. */
export interface FetchedManifest {
  readonly digest: string;
  readonly manifest: Manifest;
}

/**
 * The digest by HEAD.
 *
 * @returns null where the answer does not settle it and GET must be asked: HEAD is refused on some registries, answers
 *   404 for what is there on others, or comes without a digest
 */
export async function headManifest(http: RegistryHttp, imagePath: string, name: string): Promise<string | null> {
  const answer = await headOrNull(http, imagePath, name);
  if (answer?.status !== 200) return null;
  const digest = answer.headers.get('docker-content-digest')?.trim() ?? '';
  const mediaType = answer.headers.get('content-type')?.split(';')[0]?.trim() ?? '';
  if (!isImageDigest(digest) || !isAcceptedType(mediaType)) return null;
  if (isImageDigest(name) && digest !== name) {
    throw new RegistryFault('error', `the registry answers for ${name} with ${digest}`);
  }
  return digest;
}

/** @throws RegistryFault also where the bytes are not those of the digest that was asked for or is claimed */
export async function getManifest(http: RegistryHttp, imagePath: string, name: string): Promise<FetchedManifest> {
  const accept = acceptedTypes.join(', ');
  const resource = `manifests/${name}`;
  const answer = await http.send({ imagePath, resource, method: 'GET', accept, maxBytes: manifestBytes });
  if (answer.status !== 200) throw faultOfStatus(answer.status, answer.body);
  const digest = digestOf(answer.body);
  const claimed = answer.headers.get('docker-content-digest')?.trim();
  // Parsed first: that a manifest was cut short or is of schema 1 tells more than that its digest is not right.
  const manifest = parseManifest(answer.body, answer.headers.get('content-type') ?? '');
  if (claimed?.startsWith('sha256:') && claimed !== digest) {
    throw new RegistryFault(
      'error',
      `the manifest's digest is ${digest}, but the registry says ${claimed.slice(0, 80)}`,
    );
  }
  if (isImageDigest(name) && name !== digest) {
    throw new RegistryFault('error', `the registry answers for ${name} with a manifest whose digest is ${digest}`);
  }
  return { digest, manifest };
}

/** @throws RegistryFault also where the bytes are not those of the digest */
export async function getBlob(http: RegistryHttp, imagePath: string, digest: string): Promise<Buffer> {
  const resource = `blobs/${digest}`;
  const answer = await http.send({ imagePath, resource, method: 'GET', maxBytes: blobBytes });
  if (answer.status !== 200) throw faultOfStatus(answer.status, answer.body);
  if (digestOf(answer.body) !== digest) throw new RegistryFault('error', `blob ${digest} has other bytes`);
  return answer.body;
}

async function headOrNull(http: RegistryHttp, imagePath: string, name: string): Promise<ExchangeAnswer | null> {
  const accept = acceptedTypes.join(', ');
  try {
    return await http.send({
      imagePath,
      resource: `manifests/${name}`,
      method: 'HEAD',
      accept,
      maxBytes: manifestBytes,
    });
  } catch (error) {
    // A server that fails on HEAD may well answer GET; one that cannot be reached or asks for peace will not.
    if (error instanceof RegistryFault && error.why === 'error') return null;
    throw error;
  }
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
