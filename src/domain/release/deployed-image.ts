import type { ResolvedLine } from './observation.ts';

/** An image reference as it stands in a workload, in its parts. */
export interface ImageParts {
  readonly repository: string;
  readonly tag: string | null;
  readonly digest: string | null;
}

/** What is written to a workload: `repo:tag@sha256:…`, or `repo@sha256:…` where a bare digest was pinned. */
export function deployedImage(resolved: Pick<ResolvedLine, 'repository' | 'tag' | 'digest'>): string {
  return `${resolved.repository}${resolved.tag === null ? '' : `:${resolved.tag}`}@${resolved.digest}`;
}

/** The parts of an image reference, which may be a bare tag; nothing is filled in. */
export function imageParts(reference: string): ImageParts {
  const [name = '', digest = null] = reference.split('@', 2);
  const colon = name.indexOf(':', name.lastIndexOf('/') + 1);
  if (colon === -1) return { repository: name, tag: null, digest };
  return { repository: name.slice(0, colon), tag: name.slice(colon + 1), digest };
}

/** True for two references to one digest in one repository, whatever their tags. */
export function sameContent(a: string, b: string): boolean {
  const left = imageParts(a);
  const right = imageParts(b);
  return left.digest !== null && left.digest === right.digest && left.repository === right.repository;
}
