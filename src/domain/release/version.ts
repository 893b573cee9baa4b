import { parse, type SemVer } from 'semver';

/**
 * Versions of images. A version is text: a full semver such as `6.1.2`, or a major alone such as `6` where only the
 * name of a moving tag (`v6-latest`) tells. It comes from the image, never from an annotation.
 */

/** A semver tag, a `v` before it allowed; null for every other tag, such as `5.1`, `edge` or `v6-latest`. */
export function parseVersion(tag: string): SemVer | null {
  return parse(tag);
}

/**
 * The version of an image.
 *
 * @param tag it was resolved by; null for a bare digest
 * @param label value of its label `org.opencontainers.image.version`
 * @returns semver without `v`; a bare major where only a moving tag's name tells; null where nothing tells. A label
 *   that is no semver tells nothing: images inherit labels such as `22.04` from their base.
 */
export function versionOf(tag: string | null, label: string | null): string | null {
  const version = (tag === null ? null : parseVersion(tag)) ?? (label === null ? null : parseVersion(label));
  return version?.version ?? majorOfTag(tag);
}

/** True for two names of one version, with or without a `v` before it; false where one is no full semver. */
export function sameVersion(a: string, b: string): boolean {
  const parsed = parseVersion(a);
  return parsed !== null && parsed.version === parseVersion(b)?.version;
}

/** The major that a moving tag carries in its name (`v6-latest`, `6`, `6.1-alpine` give `6`), else null. */
export function majorOfTag(tag: string | null): string | null {
  return /^v?(\d{1,3})(\.\d+)*(-|$)/.exec(tag ?? '')?.[1] ?? null;
}

/** The major of a version as `versionOf` gives it. */
export function majorOf(version: string): number {
  return Number(version.split('.')[0]);
}

/**
 * What people call an image: the semver tag itself; for a moving tag `<line>-<first 12 of revision>`, where the line is
 * the tag without `-latest` (`v6-latest` at `04d1e1ea4bdf…` is `v6-04d1e1ea4bdf`, `edge` is `edge-04d1e1ea4bdf`).
 *
 * @param tag null where a bare digest was pinned
 * @param revision value of the label `org.opencontainers.image.revision`
 * @param digest stands in for a revision that the image does not have: the tag alone would name every image it ever had
 */
export function labelOf(tag: string | null, revision: string | null, digest: string): string {
  if (tag !== null && parseVersion(tag) !== null) return tag;
  const id = revision === null || revision === '' ? shortDigest(digest) : revision.slice(0, 12);
  return tag === null ? id : `${tag.replace(/-latest$/, '')}-${id}`;
}

/** `sha256-` and the first 12 characters of a digest. */
function shortDigest(digest: string): string {
  return `sha256-${digest.replace(/^sha256:/, '').slice(0, 12)}`;
}
