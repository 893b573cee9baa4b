import { parseImageReference } from '../../domain/core/image-reference.ts';
import { read, unmeasured, type Reading } from '../../domain/core/verdict.ts';
import type { ImageFacts, WorkloadSnapshot } from '../../domain/release/observation.ts';
import { labelOf, versionOf } from '../../domain/release/version.ts';
import type { ImageCache } from './image-cache.ts';
import { mapBounded } from './map-bounded.ts';

const AT_A_TIME = 8;

/**
 * Facts of every image that runs or was applied, by its reference. A reference without a digest speaks of what its pods
 * run; only where they do not tell, of what its tag points to now.
 */
export async function readImageFacts(
  images: ImageCache,
  workloads: readonly WorkloadSnapshot[],
): Promise<Record<string, Reading<ImageFacts>>> {
  const digests = new Map<string, string | null>();
  for (const { image, runningDigest, marks } of workloads) {
    if (image !== null && (digests.get(image) ?? null) === null) digests.set(image, runningDigest);
    if (marks.applied !== null && !digests.has(marks.applied)) digests.set(marks.applied, null);
  }
  const facts = await mapBounded(
    [...digests],
    AT_A_TIME,
    async ([reference, running]) => [reference, await factsOf(images, reference, running)] as const,
  );
  return Object.fromEntries(facts);
}

/**
 * Facts of one image.
 *
 * @param running the digest that its pods report, for a reference without one
 */
export async function factsOf(
  images: ImageCache,
  reference: string,
  running: string | null,
): Promise<Reading<ImageFacts>> {
  const parsed = parseImageReference(reference);
  if (!parsed.ok) return unmeasured(`image ${reference}`, 'its reference', 'unparsed', parsed.message);
  const { registry, path, tag, digest } = parsed.value;
  const repository = `${registry}/${path}`;
  const known = digest ?? running;
  const image =
    known === null ? await images.ofTag(repository, tag ?? 'latest') : await images.ofDigest(repository, known);
  if (image.kind === 'unmeasured') return image;
  const { revision, versionLabel } = image.value;
  return read({ version: versionOf(tag, versionLabel), label: labelOf(tag, revision, image.value.digest), revision });
}
