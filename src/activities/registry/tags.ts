import { z } from 'zod';
import { faultOfStatus, RegistryFault } from './errors.ts';
import type { RegistryHttp } from './http.ts';
import { nextLink } from './link-header.ts';
import { parseObject, parseWith } from './manifest-schema.ts';

const pageBytes = 16 * 1024 * 1024;
/** Registries that keep no tags of a repository write null. */
const pageSchema = z.object({ tags: z.array(z.string()).nullable() });

/**
 * Every tag of a repository: the `Link` headers are followed to the end, each resolved against the address it came
 * from, its query left as the registry wrote it.
 *
 * @throws RegistryFault where any page fails: a part of a listing decides nothing
 */
export async function listAllTags(http: RegistryHttp, imagePath: string, maxPages: number): Promise<readonly string[]> {
  const tags = new Set<string>();
  const visited = new Set<string>();
  const folder = `/v2/${imagePath}/`;
  let resource = 'tags/list';
  for (let page = 1; page <= maxPages; page++) {
    visited.add(resource);
    const answer = await http.send({
      imagePath,
      resource,
      method: 'GET',
      accept: 'application/json',
      maxBytes: pageBytes,
    });
    if (answer.status !== 200) throw faultOfStatus(answer.status, answer.body);
    const json = parseObject(answer.body, `page ${page} of the tag list`);
    for (const tag of parseWith(pageSchema, json, `page ${page} of the tag list`).tags ?? []) tags.add(tag);
    const target = readNext(answer.headers.get('link'));
    if (target === null) return [...tags];
    resource = resourceOf(target, answer.url, folder);
    if (visited.has(resource))
      throw new RegistryFault('error', `page ${page} of the tag list leads back to an earlier page`);
  }
  throw new RegistryFault('truncated', `the tag list has more than ${maxPages} pages`);
}

function readNext(header: string | null): string | null {
  try {
    return header === null ? null : nextLink(header);
  } catch {
    throw new RegistryFault('unparsed', 'the Link header of the tag list cannot be read, so its end is not known');
  }
}

/** The part of a link below the repository. Credentials are this registry's, so a link to another one is not followed. */
function resourceOf(target: string, from: URL, folder: string): string {
  const next = URL.parse(target, from.href);
  if (next === null) throw new RegistryFault('unparsed', 'the Link header of the tag list leads to no address');
  // Registries behind a proxy that ends TLS write http:// and mean themselves.
  if (next.hostname !== from.hostname)
    throw new RegistryFault('error', `the tag list goes on at another host, ${next.host}`);
  if (!next.pathname.startsWith(folder)) throw new RegistryFault('error', 'the tag list goes on in another repository');
  return next.pathname.slice(folder.length) + next.search;
}
