import type { ResolvedLine } from './observation.ts';
import { imageParts } from './deployed-image.ts';

/** Whether what a runtime reports for a container is the image that was written. */
export type ImageIdMatch = 'same' | 'different' | 'undecided';

/** An image index as the registry has it. */
export type ImageIndex = Pick<ResolvedLine, 'digest' | 'platformDigests'>;

/**
 * Compares the `imageID` of a container status with the image in the template. For one image runtimes report the digest
 * of the index or that of one platform's manifest, with or without a prefix such as `docker-pullable://`. Some report
 * the digest of the image's configuration, which nothing can be compared with.
 *
 * @param index the index that the written image is, or is an entry of; null where it is not known
 * @param platform of the node, such as `linux/amd64`; null where it is not known, then any platform's manifest will do
 * @returns undecided where the runtime reports no manifest, or the index is not known
 */
export function matchImageId(
  imageId: string | undefined,
  image: string,
  index: ImageIndex | null,
  platform: string | null,
): ImageIdMatch {
  const wanted = imageParts(image).digest;
  const reported = /@(sha256:[a-f0-9]{64})$/.exec(imageId ?? '')?.[1];
  if (wanted === null || reported === undefined) return 'undecided';
  if (reported === wanted) return 'same';
  if (index === null) return 'undecided';
  const children = Object.entries(index.platformDigests)
    .filter(([name]) => platform === null || name === platform || name.startsWith(`${platform}/`))
    .map(([, digest]) => digest);
  const [parent, child] = reported === index.digest ? [reported, wanted] : [wanted, reported];
  return parent === index.digest && children.includes(child) ? 'same' : 'different';
}
