import { z } from 'zod';
import { RegistryFault } from './errors.ts';

/** What a docker configuration says of one registry. */
export type DockerEntry =
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  /** A refresh token, for the registry's token service. */
  | { readonly kind: 'identity-token'; readonly token: string }
  /** A bearer token for the registry itself. */
  | { readonly kind: 'registry-token'; readonly token: string }
  /** Kept by `docker-credential-<helper>`, under this server name. */
  | { readonly kind: 'helper'; readonly helper: string; readonly server: string };

const text = z.string().optional();
const entrySchema = z.object({
  auth: text,
  username: text,
  password: text,
  identitytoken: text,
  registrytoken: text,
});
const configSchema = z.object({
  auths: z.record(z.string(), entrySchema).default({}),
  credHelpers: z.record(z.string(), z.string()).default({}),
  credsStore: text,
});

/** A docker `config.json`, as far as credentials go. */
export type DockerConfig = z.output<typeof configSchema>;

const dockerHub = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io']);
/** How docker names Docker Hub to a helper. */
const dockerHubServer = 'https://index.docker.io/v1/';

/**
 * Reads a docker `config.json` or the text of a Secret of type `kubernetes.io/dockerconfigjson`.
 *
 * @param origin what the text is, for the message, which never quotes it
 * @throws RegistryFault `unparsed`
 */
export function parseDockerConfig(content: string, origin: string): DockerConfig {
  let json: unknown;
  try {
    json = JSON.parse(content);
  } catch {
    throw new RegistryFault('unparsed', `${origin} is no JSON`);
  }
  const parsed = configSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new RegistryFault('unparsed', `${origin} is no docker configuration (at ${where === '' ? 'the top' : where})`);
}

/**
 * What the configuration says of an image path, by docker's rules (a helper of that registry, else the store, else
 * `auths`) and Kubernetes' (a key may hold a path, and `*` within a part of the host; the longest key wins).
 *
 * @returns null where it says nothing
 * @throws RegistryFault where the entry cannot be used
 */
export function findDockerEntry(config: DockerConfig, registry: string, path: string): DockerEntry | null {
  const helper = bestKey(Object.keys(config.credHelpers), registry, path);
  const server = dockerHub.has(registry) ? dockerHubServer : registry;
  if (helper !== undefined) return { kind: 'helper', helper: config.credHelpers[helper] ?? '', server };
  const key = bestKey(Object.keys(config.auths), registry, path);
  const entry = key === undefined ? undefined : config.auths[key];
  const own = entry === undefined || key === undefined ? null : readEntry(entry, key);
  // With a store, docker keeps an empty entry here for each registry that the store knows.
  if (own === null && config.credsStore) return { kind: 'helper', helper: config.credsStore, server };
  return own;
}

function readEntry(entry: z.output<typeof entrySchema>, key: string): DockerEntry | null {
  if (entry.identitytoken) return { kind: 'identity-token', token: entry.identitytoken };
  if (entry.registrytoken) return { kind: 'registry-token', token: entry.registrytoken };
  if (entry.auth) {
    const decoded = Buffer.from(entry.auth, 'base64').toString('utf8').replace(/\0+$/, '');
    const colon = decoded.indexOf(':');
    if (colon < 1) throw new RegistryFault('unparsed', `the docker configuration's auth of ${key} is no user:password`);
    return { kind: 'basic', username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
  }
  if (entry.username && entry.password) return { kind: 'basic', username: entry.username, password: entry.password };
  return null;
}

function bestKey(keys: readonly string[], registry: string, path: string): string | undefined {
  let best: { key: string; length: number } | undefined;
  for (const key of keys) {
    const { host, prefix } = splitKey(key);
    if (!hostMatches(host, registry) || !pathMatches(prefix, path)) continue;
    // An exact host outranks one with *, and a longer path a shorter.
    const length = prefix.length * 2 + (host.includes('*') ? 0 : 1);
    if (best === undefined || length > best.length) best = { key, length };
  }
  return best?.key;
}

/** `https://index.docker.io/v1/` and `registry.example.com/team` in host and path. */
function splitKey(key: string): { host: string; prefix: string } {
  const plain = key.replace(/^https?:\/\//, '').replace(/\/+$/, '');
  const slash = plain.indexOf('/');
  if (slash === -1) return { host: plain, prefix: '' };
  const prefix = plain.slice(slash + 1);
  return { host: plain.slice(0, slash), prefix: prefix === 'v1' || prefix === 'v2' ? '' : prefix };
}

function hostMatches(pattern: string, registry: string): boolean {
  if (dockerHub.has(pattern)) return dockerHub.has(registry);
  if (!pattern.includes('*')) return pattern.toLowerCase() === registry.toLowerCase();
  const parts = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^.:]*')}$`, 'i').test(registry);
}

function pathMatches(prefix: string, path: string): boolean {
  return prefix === '' || path === prefix || path.startsWith(`${prefix}/`);
}
