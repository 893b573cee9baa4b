import { parseImageReference } from '../core/image-reference.ts';
import type { ResolvedLine } from './observation.ts';

/** What is written to a workload: `repo:tag@sha256:…`, or `repo@sha256:…` where a bare digest was pinned. */
export function deployedImage(resolved: Pick<ResolvedLine, 'repository' | 'tag' | 'digest'>): string {
  return `${resolved.repository}${resolved.tag === null ? '' : `:${resolved.tag}`}@${resolved.digest}`;
}

/** Tag and digest of an image as it stands in a workload; neither where it is no image reference. */
export function imageParts(reference: string): { readonly tag: string | null; readonly digest: string | null } {
  const parsed = parseImageReference(reference);
  return parsed.ok ? parsed.value : { tag: null, digest: null };
}

/** True for two images of one repository; either may be the repository itself, such as `ghcr.io/acme/app`. */
export function sameRepository(a: string, b: string): boolean {
  const left = parseImageReference(a);
  const right = parseImageReference(b);
  return left.ok && right.ok && left.value.path === right.value.path && left.value.registry === right.value.registry;
}

/** True for two references to one digest in one repository, whatever their tags. */
export function sameContent(a: string, b: string): boolean {
  const left = parseImageReference(a);
  const right = parseImageReference(b);
  if (!left.ok || !right.ok || left.value.digest === null) return false;
  return (
    left.value.digest === right.value.digest &&
    left.value.path === right.value.path &&
    left.value.registry === right.value.registry
  );
}
