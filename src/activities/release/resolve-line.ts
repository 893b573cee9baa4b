import { counted } from '../../domain/core/counted.ts';
import { read, unmeasured, type Reading } from '../../domain/core/verdict.ts';
import type { Line } from '../../domain/release/line.ts';
import type { ResolvedLine } from '../../domain/release/observation.ts';
import { selectTag } from '../../domain/release/select-tag.ts';
import { labelOf, versionOf } from '../../domain/release/version.ts';
import type { RegistryPort } from '../registry/port.ts';
import type { ImageCache, ImageContent } from './image-cache.ts';

type Rejected = ResolvedLine['rejected'];

/** What a line comes to at its registry now. A line of which no tag may be taken is unmeasured, why `empty`. */
export async function resolveLine(
  registry: RegistryPort,
  images: ImageCache,
  line: Line,
): Promise<Reading<ResolvedLine>> {
  const { repository, track, pin } = line;
  if (pin !== null) {
    if (pin.digest !== null) return resolved(repository, pin.tag, await images.ofDigest(repository, pin.digest));
    return resolved(repository, pin.tag, await images.ofTag(repository, pin.tag ?? ''));
  }
  if (track?.tag !== undefined) return resolved(repository, track.tag, await images.ofTag(repository, track.tag));

  const tags = await registry.listTags(repository);
  if (tags.kind === 'unmeasured') return tags;
  const { tag, rejected } = selectTag(tags.value, { line: track?.line, prereleases: track?.prereleases ?? false });
  if (tag === null) {
    const nearest = rejected[0] === undefined ? '' : `; the nearest, ${rejected[0].tag}, ${rejected[0].reason}`;
    const message = `none of the ${counted(tags.value.length, 'tag')} of ${repository} may be taken for ${track?.line ?? ''}${nearest}`;
    return unmeasured(line.key, 'registry', 'empty', message);
  }
  return resolved(repository, tag, await images.ofTag(repository, tag), rejected);
}

function resolved(
  repository: string,
  tag: string | null,
  image: Reading<ImageContent>,
  rejected: Rejected = [],
): Reading<ResolvedLine> {
  if (image.kind === 'unmeasured') return image;
  const { digest, revision, versionLabel, platforms, unplatformed, platformDigests } = image.value;
  return read({
    repository,
    tag,
    digest,
    label: labelOf(tag, revision, digest),
    revision,
    version: versionOf(tag, versionLabel),
    platforms,
    unplatformed,
    platformDigests,
    rejected,
  });
}
