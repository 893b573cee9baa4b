import type { RegistryPort } from '../../activities/registry/port.ts';
import { createImageCache } from '../../activities/release/image-cache.ts';
import { resolveLine } from '../../activities/release/resolve-line.ts';
import type { UnmeasuredCause } from '../../domain/core/verdict.ts';
import { deployedImage } from '../../domain/release/deployed-image.ts';
import { selectTag, type RejectedTag } from '../../domain/release/select-tag.ts';
import type { Followed } from './followed.ts';

/** What `resolve -o json` prints. Fields are only ever added. */
export interface Resolution {
  readonly repository: string;
  /** What would be deployed, `repo:tag@sha256:…`; null where nothing was resolved. */
  readonly reference: string | null;
  readonly tag: string | null;
  readonly digest: string | null;
  readonly label: string | null;
  readonly revision: string | null;
  readonly version: string | null;
  /** Such as `linux/arm64/v8`. */
  readonly architectures: readonly string[];
  /** Index entries without a platform: they match no node. */
  readonly unplatformed: number;
  /** Why the nearest other tags of a line lost. */
  readonly rejected: readonly RejectedTag[];
  /** Why nothing was resolved; null where something was. */
  readonly problem: { readonly why: UnmeasuredCause; readonly message: string } | null;
}

/** Resolves as a release does, with the same code. */
export async function resolveFollowed(registry: RegistryPort, followed: Followed): Promise<Resolution> {
  const { repository, track } = followed;
  const line = { key: repository, repository, track, pin: null, pinnedBy: null, allowsBlocked: false };
  const reading = await resolveLine(registry, createImageCache(registry), line);
  if (reading.kind === 'read') {
    const { tag, digest, label, revision, version, platforms, unplatformed, rejected } = reading.value;
    const reference = deployedImage(reading.value);
    const facts = { tag, digest, label, revision, version, architectures: platforms, unplatformed, rejected };
    return { repository, reference, ...facts, problem: null };
  }
  const { why, message } = reading;
  return {
    repository,
    reference: null,
    tag: null,
    digest: null,
    label: null,
    revision: null,
    version: null,
    architectures: [],
    unplatformed: 0,
    rejected: why === 'empty' ? await rejectedTags(registry, followed) : [],
    problem: { why, message },
  };
}

/** Where no tag may be taken, why the nearest may not is the whole answer. */
async function rejectedTags(registry: RegistryPort, { repository, track }: Followed): Promise<readonly RejectedTag[]> {
  const tags = track.line === undefined ? undefined : await registry.listTags(repository);
  return tags?.kind === 'read' ? selectTag(tags.value, track).rejected : [];
}
