import { read, type Reading } from '../../domain/core/verdict.ts';
import type { RegistryPort, ResolvedImage } from '../registry/port.ts';

/** What is kept of an image: what a digest says, which never changes. */
export interface ImageContent {
  readonly digest: string;
  readonly revision: string | null;
  /** Label `org.opencontainers.image.version`. */
  readonly versionLabel: string | null;
  readonly platforms: readonly string[];
  readonly unplatformed: number;
  readonly platformDigests: Readonly<Record<string, string>>;
}

/** Images by repository and digest: asked for once, by however many releases and however often. */
export interface ImageCache {
  ofDigest(repository: string, digest: string): Promise<Reading<ImageContent>>;
  /** One request to learn the digest, and no more where that image is known. */
  ofTag(repository: string, tag: string): Promise<Reading<ImageContent>>;
}

/** A fleet has few images at a time; this many cost a few megabytes. */
const MOST_IMAGES = 2_000;

export function createImageCache(registry: RegistryPort, most = MOST_IMAGES): ImageCache {
  const known = new Map<string, ImageContent>();
  const asked = new Map<string, Promise<Reading<ImageContent>>>();

  async function ask(key: string, repository: string, digest: string): Promise<Reading<ImageContent>> {
    const image = await registry.resolveDigest(repository, digest);
    if (image.kind === 'unmeasured') return image;
    const content = contentOf(image.value);
    known.set(key, content);
    for (const oldest of known.keys()) {
      if (known.size <= most) break;
      known.delete(oldest);
    }
    return read(content);
  }

  async function ofDigest(repository: string, digest: string): Promise<Reading<ImageContent>> {
    const key = `${repository}@${digest}`;
    const before = known.get(key);
    if (before !== undefined) {
      // Put back as the newest, so that what is in use stays.
      known.delete(key);
      known.set(key, before);
      return read(before);
    }
    const already = asked.get(key);
    if (already !== undefined) return already;
    const asking = ask(key, repository, digest).finally(() => asked.delete(key));
    asked.set(key, asking);
    return asking;
  }

  return {
    ofDigest,
    async ofTag(repository, tag) {
      const digest = await registry.headDigest(repository, tag);
      return digest.kind === 'unmeasured' ? digest : ofDigest(repository, digest.value);
    },
  };
}

function contentOf(image: ResolvedImage): ImageContent {
  return {
    digest: image.digest,
    revision: image.revision,
    versionLabel: image.labels['org.opencontainers.image.version'] ?? null,
    platforms: image.platforms,
    unplatformed: image.unplatformed,
    platformDigests: image.platformDigests,
  };
}
