import { imageParts } from '../../domain/release/deployed-image.ts';

/** An image as tables show it: tag and the digest's first twelve, without the repository. */
export function shortImage(image: string | null): string {
  if (image === null) return '-';
  const { tag, digest } = imageParts(image);
  if (tag === null && digest === null) return image;
  return `${tag ?? ''}${digest === null ? '' : `@${digest.replace('sha256:', '').slice(0, 12)}`}`;
}
