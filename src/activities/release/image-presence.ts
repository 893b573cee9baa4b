import { parseImageReference } from '../../domain/core/image-reference.ts';
import { read, unmeasured, type Reading } from '../../domain/core/verdict.ts';
import type { ImagePresence } from '../../domain/release/judge-rollout.ts';
import type { RegistryPort } from '../registry/port.ts';

/**
 * Asks the registry for an image, anew and not for long: a rollback may be waiting for the answer. Only the registry's
 * own word that it does not have it is `absent`.
 */
export async function askPresence(
  registry: RegistryPort,
  image: string,
  timeoutMs: number,
): Promise<Reading<ImagePresence>> {
  const parsed = parseImageReference(image);
  if (!parsed.ok) return unmeasured(`image ${image}`, 'its reference', 'unparsed', parsed.message);
  const { registry: host, path, tag, digest } = parsed.value;
  const repository = `${host}/${path}`;
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<Reading<never>>((resolve) => {
    const message = `the registry did not tell within ${timeoutMs} ms whether it has ${image}`;
    timer = setTimeout(() => resolve(unmeasured(`image ${image}`, 'registry', 'timeout', message)), timeoutMs);
  });
  const asked =
    digest === null ? registry.resolveTag(repository, tag ?? 'latest') : registry.resolveDigest(repository, digest);
  const found = await Promise.race([asked, tooLong]).finally(() => clearTimeout(timer));
  if (found.kind === 'read') {
    return read({ is: 'there', platforms: found.value.platforms, unplatformed: found.value.unplatformed });
  }
  return found.why === 'missing' ? read({ is: 'absent' }) : found;
}
