import { parseImageReference } from '../../domain/core/image-reference.ts';
import type { ImageReference } from '../../domain/core/image-reference.ts';
import { read, unmeasured } from '../../domain/core/verdict.ts';
import type { Reading } from '../../domain/core/verdict.ts';
import { createCoalescer } from './coalesce.ts';
import type { RegistryConfig } from './config.ts';
import { createCredentialSource } from './credentials.ts';
import type { ImageDescription } from './describe-image.ts';
import { describeImage } from './describe-image.ts';
import { unmeasuredBy } from './errors.ts';
import type { RegistryHttp } from './http.ts';
import { createRegistryHttp } from './http.ts';
import { getManifest, headManifest } from './manifests.ts';
import type { RegistryPort, ResolvedImage } from './port.ts';
import { listAllTags } from './tags.ts';

const defaultMaxPages = 1_000;
/** Descriptions kept, each some kilobytes: what a tag pointed to, so that a tag that has not moved costs one HEAD. */
const descriptionsKept = 1_000;

/**
 * The real adapter of RegistryPort for every registry that references name. Nothing is sent yet. What several ask for
 * at the same time is asked for once.
 */
export function createRegistry(config: RegistryConfig = {}): RegistryPort {
  const source = createCredentialSource(config);
  const clients = new Map<string, RegistryHttp>();
  const coalesce = createCoalescer();
  const descriptions = new Map<string, ImageDescription>();

  return {
    resolveTag: (repository, tag) => resolve(repository, `:${tag}`, tag),
    resolveDigest: (repository, digest) => resolve(repository, `@${digest}`, null),
    headDigest: (repository, tagOrDigest) => {
      const suffix = tagOrDigest.includes(':') ? `@${tagOrDigest}` : `:${tagOrDigest}`;
      return ask('digest', repository, suffix, async (http, reference) => {
        const name = nameOf(reference);
        const head = await headManifest(http, reference.path, name);
        return head ?? (await getManifest(http, reference.path, name)).digest;
      });
    },
    listTags: (repository) =>
      ask('tags', repository, '', (http, { path }) => listAllTags(http, path, config.maxPages ?? defaultMaxPages)),
  };

  function resolve(repository: string, suffix: string, tag: string | null): Promise<Reading<ResolvedImage>> {
    return ask('image', repository, suffix, async (http, reference) => {
      const name = nameOf(reference);
      const key = `${http.registry}/${reference.path} ${name}`;
      const known = descriptions.get(key);
      // The registry is asked each time: a tag moves, and a digest can be deleted. Its content never changes.
      if (known !== undefined && (await headManifest(http, reference.path, name)) === known.digest) {
        return { repository, tag, ...known };
      }
      const fetched = await getManifest(http, reference.path, name);
      const description = known?.digest === fetched.digest ? known : await describeImage(http, reference.path, fetched);
      remember(key, description);
      return { repository, tag, ...description };
    });
  }

  async function ask<T>(
    kind: 'image' | 'digest' | 'tags',
    repository: string,
    suffix: string,
    answer: (http: RegistryHttp, reference: ImageReference) => Promise<T>,
  ): Promise<Reading<T>> {
    const what = kind === 'tags' ? `tags of ${repository}` : `${repository}${suffix}`;
    const parsed = parseImageReference(`${repository}${suffix}`);
    if (!parsed.ok) return unmeasured(what, 'Holdfast', 'unparsed', parsed.message);
    const reference = parsed.value;
    return coalesce(`${kind} ${repository}${suffix}`, async () => {
      try {
        return read(await answer(clientOf(reference.registry), reference));
      } catch (error) {
        return unmeasuredBy(what, reference.registry, error, config.remedies);
      }
    });
  }

  function clientOf(registry: string): RegistryHttp {
    const known = clients.get(registry);
    if (known !== undefined) return known;
    const made = createRegistryHttp(registry, config, source);
    clients.set(registry, made);
    return made;
  }

  function remember(key: string, description: ImageDescription): void {
    descriptions.delete(key);
    descriptions.set(key, description);
    const [oldest] = descriptions.keys();
    if (descriptions.size > descriptionsKept && oldest !== undefined) descriptions.delete(oldest);
  }
}

function nameOf(reference: ImageReference): string {
  return reference.digest ?? reference.tag ?? 'latest';
}
