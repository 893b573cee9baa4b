/** An image reference in its parts, with the defaults of Docker filled in. */
export interface ImageReference {
  /** `host` or `host:port`; `docker.io` where none was written. */
  readonly registry: string;
  /** Path in the registry, such as `team/app`; `library/nginx` for `nginx`. */
  readonly path: string;
  readonly tag: string | null;
  /** `sha256:…`, or null. */
  readonly digest: string | null;
}

/** The part of a reference that is wrong. */
export type ImageReferencePart = 'registry' | 'repository' | 'tag' | 'digest';

export type ImageReferenceParse =
  | { readonly ok: true; readonly value: ImageReference }
  | { readonly ok: false; readonly part: ImageReferencePart; readonly message: string };

const dockerHub = 'docker.io';
/** Distribution's limit for registry and path together. */
const longestName = 255;

const registryPattern =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(?::([0-9]{1,5}))?$/;
const pathComponentPattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const digestPattern = /^sha256:[0-9a-f]{64}$/;

/**
 * Reads an image reference, `[registry/]path[:tag][@digest]`, by the grammar of Distribution
 * (distribution/reference). A first component with a dot or a port, or `localhost`, is a registry; without one it is
 * Docker Hub, and a path of one component there lies under `library/`.
 *
 * @returns the parts, or which part is wrong and what was expected
 */
export function parseImageReference(text: string): ImageReferenceParse {
  const at = text.indexOf('@');
  const digest = at === -1 ? null : text.slice(at + 1);
  const beforeDigest = at === -1 ? text : text.slice(0, at);
  const colon = beforeDigest.indexOf(':', beforeDigest.lastIndexOf('/') + 1);
  const tag = colon === -1 ? null : beforeDigest.slice(colon + 1);
  const name = colon === -1 ? beforeDigest : beforeDigest.slice(0, colon);

  if (/^[a-z]+:\/\//i.test(text)) return wrong(text, 'registry', 'it starts with a scheme; leave that out');
  if (digest !== null && !digestPattern.test(digest)) {
    return wrong(text, 'digest', 'expected sha256: and 64 lower-case hexadecimal digits');
  }
  if (tag !== null && !tagPattern.test(tag)) {
    return wrong(text, 'tag', 'expected at most 128 letters, digits, _, . and -, not starting with . or -');
  }
  const { registry, path } = splitName(name);
  const port = registryPattern.exec(registry);
  if (port === null || Number(port[1] ?? 0) > 65_535) {
    return wrong(text, 'registry', `${quoted(registry)} is no host or host:port`);
  }
  const problem = problemOfPath(path);
  if (problem !== undefined) return wrong(text, 'repository', problem);
  if (registry.length + 1 + path.length > longestName) {
    return wrong(text, 'repository', `registry and path are longer than ${longestName} characters`);
  }
  return { ok: true, value: { registry, path, tag, digest } };
}

/** True for `sha256:` and 64 lower-case hexadecimal digits. */
export function isImageDigest(text: string): boolean {
  return digestPattern.test(text);
}

function splitName(name: string): { registry: string; path: string } {
  const slash = name.indexOf('/');
  const first = slash === -1 ? '' : name.slice(0, slash);
  const isRegistry = /[.:[]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  const registry = isRegistry ? first : dockerHub;
  const path = isRegistry ? name.slice(slash + 1) : name;
  if (registry !== dockerHub && registry !== `index.${dockerHub}`) return { registry, path };
  return { registry: dockerHub, path: path.includes('/') ? path : `library/${path}` };
}

function problemOfPath(path: string): string | undefined {
  for (const component of path.split('/')) {
    if (component === '') return 'a part of the path is empty';
    if (component !== component.toLowerCase()) return `${quoted(component)} has capitals; a path is in lower case`;
    if (!pathComponentPattern.test(component)) {
      return `${quoted(component)} is no path component: lower-case letters and digits, parted by ., _, __ or -`;
    }
  }
  return undefined;
}

function wrong(text: string, part: ImageReferencePart, why: string): ImageReferenceParse {
  return { ok: false, part, message: `${quoted(text)} is no image reference: wrong ${part}: ${why}` };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

/** The form of a digest as people may name it: whole, or at least its first twelve digits, `sha256:` or not. */
export const digestNamePattern = /^(sha256:)?[0-9a-f]{12,64}$/;

/** Whether what a person typed names a digest. */
export function namesDigest(typed: string, digest: string | null): boolean {
  return (
    digest !== null && digestNamePattern.test(typed) && digest.startsWith(`sha256:${typed.replace(/^sha256:/, '')}`)
  );
}
