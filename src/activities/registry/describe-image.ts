import { RegistryFault } from './errors.ts';
import type { RegistryHttp } from './http.ts';
import type { ImageConfig, IndexEntry, Manifest } from './manifest-schema.ts';
import { isIndexType, parseConfig } from './manifest-schema.ts';
import type { FetchedManifest } from './manifests.ts';
import { getBlob, getManifest } from './manifests.ts';
import type { ResolvedImage } from './port.ts';

/** What an image is, whatever name led to it. */
export type ImageDescription = Omit<ResolvedImage, 'repository' | 'tag'>;

const revisionLabel = 'org.opencontainers.image.revision';
/** Whose labels are read first where an index has several platforms, so that the answer does not depend on order. */
const preferredPlatform = 'linux/amd64';

/**
 * Reads what a manifest leads to: the platforms of an index, the configuration of a single manifest, the labels.
 *
 * @throws RegistryFault where any of it cannot be read: an image of unknown architecture is not one without
 */
export async function describeImage(
  http: RegistryHttp,
  imagePath: string,
  fetched: FetchedManifest,
): Promise<ImageDescription> {
  const { digest, manifest } = fetched;
  if (manifest.kind === 'image') {
    const config = await readConfig(http, imagePath, manifest);
    const platform = platformText(config);
    const labels = labelsOf(config);
    return describe(digest, manifest, labels, { [platform]: digest }, 0);
  }
  const { platformDigests, unplatformed } = platformsOf(manifest.entries);
  const labels = await labelsOfIndex(http, imagePath, manifest.entries, platformDigests);
  return describe(digest, manifest, labels, platformDigests, unplatformed);
}

/**
 * The platforms of an index. Attestations (platform unknown/unknown, or marked so by buildx) are none, and an entry
 * that does not say its platform matches nothing.
 */
export function platformsOf(entries: readonly IndexEntry[]): {
  platformDigests: Record<string, string>;
  unplatformed: number;
} {
  const platformDigests: Record<string, string> = {};
  let unplatformed = 0;
  for (const entry of entries) {
    const { os, architecture, variant } = entry.platform ?? {};
    if (isAttestation(entry)) continue;
    if (!os || !architecture) {
      unplatformed++;
      continue;
    }
    const platform = platformText({ os, architecture, variant });
    // Windows has several entries for one platform, one for each build; the first stands for them.
    platformDigests[platform] ??= entry.digest;
  }
  return { platformDigests, unplatformed };
}

function isAttestation(entry: IndexEntry): boolean {
  if (entry.annotations?.['vnd.docker.reference.type'] === 'attestation-manifest') return true;
  return entry.platform?.os === 'unknown' && entry.platform.architecture === 'unknown';
}

function platformText(of: { os: string; architecture: string; variant?: string | undefined }): string {
  return [of.os, of.architecture, of.variant].filter((part) => part !== undefined && part !== '').join('/');
}

async function labelsOfIndex(
  http: RegistryHttp,
  imagePath: string,
  entries: readonly IndexEntry[],
  platformDigests: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const nested = new Set(entries.filter((entry) => isIndexType(entry.mediaType)).map((entry) => entry.digest));
  const candidates = Object.entries(platformDigests)
    .filter(([, digest]) => !nested.has(digest))
    .sort(([a], [b]) => Number(b === preferredPlatform) - Number(a === preferredPlatform) || (a < b ? -1 : 1));
  const [first] = candidates;
  if (first === undefined) return {};
  const [platform, digest] = first;
  try {
    const { manifest } = await getManifest(http, imagePath, digest);
    return labelsOf(await readConfig(http, imagePath, manifest));
  } catch (error) {
    throw notMissing(error, `its ${platform} manifest ${digest}`);
  }
}

async function readConfig(http: RegistryHttp, imagePath: string, manifest: Manifest): Promise<ImageConfig> {
  if (manifest.kind === 'index') throw new RegistryFault('unparsed', 'an entry of the index is itself an index');
  try {
    return parseConfig(await getBlob(http, imagePath, manifest.configDigest));
  } catch (error) {
    throw notMissing(error, `its configuration ${manifest.configDigest}`);
  }
}

/** What is asked for is there; a part of it that is not must not be read as "no such tag". */
function notMissing(error: unknown, what: string): unknown {
  if (!(error instanceof RegistryFault)) return error;
  const why = error.why === 'missing' ? 'error' : error.why;
  const wait = error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs };
  return new RegistryFault(why, `${what}: ${error.message}`, { retryable: error.retryable, ...wait });
}

function labelsOf(config: ImageConfig): Record<string, string> {
  return { ...config.config?.Labels };
}

function describe(
  digest: string,
  manifest: Manifest,
  labels: Record<string, string>,
  platformDigests: Record<string, string>,
  unplatformed: number,
): ImageDescription {
  const revision = labels[revisionLabel] ?? null;
  const platforms = Object.keys(platformDigests).sort();
  return { digest, mediaType: manifest.mediaType, labels, revision, platforms, unplatformed, platformDigests };
}
