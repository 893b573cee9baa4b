import { z } from 'zod';
import { isImageDigest } from '../../domain/core/image-reference.ts';
import { RegistryFault } from './errors.ts';

const indexTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
] as const;
const imageTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
] as const;
const configTypes = ['application/vnd.oci.image.config.v1+json', 'application/vnd.docker.container.image.v1+json'];

/** All four types, always: strict registries answer 404 for a type that is stored and not asked for. */
export const acceptedTypes = [...indexTypes, ...imageTypes];

const digest = z.string().refine(isImageDigest, 'expected sha256: and 64 hexadecimal digits');
const descriptor = z.object({ mediaType: z.string().optional(), digest });
const platform = z.object({
  os: z.string().optional(),
  architecture: z.string().optional(),
  variant: z.string().optional(),
});
const indexSchema = z.object({
  manifests: z.array(
    descriptor.extend({
      platform: platform.nullish(),
      annotations: z.record(z.string(), z.string()).nullish(),
    }),
  ),
});
const imageSchema = z.object({ config: descriptor });
const configSchema = z.object({
  os: z.string().min(1),
  architecture: z.string().min(1),
  variant: z.string().optional(),
  config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish(),
});

export type IndexEntry = z.output<typeof indexSchema>['manifests'][number];
export type ImageConfig = z.output<typeof configSchema>;

/** What a manifest is, as far as Holdfast reads it. */
export type Manifest =
  | { readonly kind: 'index'; readonly mediaType: string; readonly entries: readonly IndexEntry[] }
  | { readonly kind: 'image'; readonly mediaType: string; readonly configDigest: string };

/** Whether a media type is one that Holdfast asks for. */
export function isAcceptedType(mediaType: string): boolean {
  return (acceptedTypes as readonly string[]).includes(mediaType);
}

/** Whether an index entry is itself an index. */
export function isIndexType(mediaType: string | undefined): boolean {
  return mediaType !== undefined && (indexTypes as readonly string[]).includes(mediaType);
}

/**
 * Reads a manifest or an index.
 *
 * @param contentType the header, which counts where the body does not say what it is
 * @throws RegistryFault `unparsed` for anything else: schema 1, another artifact, no JSON
 */
export function parseManifest(body: Buffer, contentType: string): Manifest {
  const json = parseObject(body, 'the manifest');
  const header = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const mediaType = typeof json['mediaType'] === 'string' ? json['mediaType'] : header;
  if (json['schemaVersion'] === 1 || /manifest\.v1\+/.test(mediaType)) {
    if (!isAcceptedType(mediaType)) {
      throw new RegistryFault(
        'unparsed',
        'the registry gives a manifest of schema 1, whose digest cannot be deployed: push the image again with a current tool',
      );
    }
  }
  if ('manifests' in json && ('config' in json || 'layers' in json)) {
    // By the OCI specification: what can be read as either is neither (CVE-2021-41190).
    throw new RegistryFault('unparsed', 'the manifest is both an index and an image, and so is trusted as neither');
  }
  if ('manifests' in json) {
    const { manifests } = parseWith(indexSchema, json, 'the index');
    return { kind: 'index', mediaType: isIndexType(mediaType) ? mediaType : indexTypes[0], entries: manifests };
  }
  const { config } = parseWith(imageSchema, json, 'the manifest');
  if (config.mediaType !== undefined && !configTypes.includes(config.mediaType)) {
    throw new RegistryFault(
      'unparsed',
      `it is no container image: its configuration is of type ${shown(config.mediaType)}`,
    );
  }
  return {
    kind: 'image',
    mediaType: isAcceptedType(mediaType) ? mediaType : imageTypes[0],
    configDigest: config.digest,
  };
}

/** Reads an image's configuration. @throws RegistryFault where it does not tell system and architecture */
export function parseConfig(body: Buffer): ImageConfig {
  return parseWith(configSchema, parseObject(body, "the image's configuration"), "the image's configuration");
}

/** A JSON object, or a fault that says whether the text was cut or never was one. */
export function parseObject(body: Buffer, what: string): Record<string, unknown> {
  const text = body.toString('utf8').trim();
  if (text === '') throw new RegistryFault('empty', `${what} is empty`);
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return { ...json };
  } catch {
    const cut = text.startsWith('{') && !text.endsWith('}');
    if (cut) throw new RegistryFault('truncated', `${what} ends in the middle`, { retryable: true });
  }
  throw new RegistryFault('unparsed', `${what} is no JSON object`);
}

/** @throws RegistryFault that names the path of what is wrong, never the value */
export function parseWith<T>(schema: z.ZodType<T>, json: unknown, what: string): T {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new RegistryFault(
    'unparsed',
    `${what} cannot be read: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
  );
}

function shown(mediaType: string): string {
  return /^[\w.+/-]{1,100}$/.test(mediaType) ? mediaType : 'unknown';
}
