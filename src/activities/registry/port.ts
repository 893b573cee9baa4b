import type { Reading } from '../../domain/core/verdict.ts';

/** An image as a registry describes it, by its own bytes. */
export interface ResolvedImage {
  /** As it was asked for. */
  readonly repository: string;
  /** The tag that was asked for; null for a digest. */
  readonly tag: string | null;
  /** Of the index where there is one: what is deployed. */
  readonly digest: string;
  readonly mediaType: string;
  /** Of the image's configuration; for an index, of one of its platforms. */
  readonly labels: Readonly<Record<string, string>>;
  /** Label `org.opencontainers.image.revision`. */
  readonly revision: string | null;
  /** Such as `linux/amd64` and `linux/arm64/v8`, sorted, without attestations. */
  readonly platforms: readonly string[];
  /** Index entries without a platform; they match nothing. */
  readonly unplatformed: number;
  /** Digest of each platform's manifest, by platform. */
  readonly platformDigests: Readonly<Record<string, string>>;
}

/**
 * The OCI registry (Distribution specification 1.1), read only. Nothing here throws for what a registry does or fails
 * to do: what is not known is unmeasured, with the reason. `repository` is written as in an image reference
 * (`registry.example.com/team/app`, `nginx`), without tag and digest.
 */
export interface RegistryPort {
  /** What a tag points to. A tag that the registry does not have is unmeasured, why `missing`. */
  resolveTag(repository: string, tag: string): Promise<Reading<ResolvedImage>>;
  /** The image of a digest, asked anew each time: `missing` is the registry's own word that it is gone. */
  resolveDigest(repository: string, digest: string): Promise<Reading<ResolvedImage>>;
  /** The digest alone: one request where the registry answers HEAD. */
  headDigest(repository: string, tagOrDigest: string): Promise<Reading<string>>;
  /** Every tag, over all pages, in the registry's order; or unmeasured. Never a part. */
  listTags(repository: string): Promise<Reading<readonly string[]>>;
}
