import { parseImageReference } from '../../domain/core/image-reference.ts';
import type { ImageIndex } from '../../domain/release/image-id.ts';
import type { ImageCache } from './image-cache.ts';
import type { Pulse } from '../pulse.ts';

/** The index of an image, for telling what a runtime reports. Asked for once; null until it is known. */
export interface IndexKeeper {
  known(): ImageIndex | null;
}

export function createIndexKeeper(images: ImageCache, image: string, pulse: Pulse): IndexKeeper {
  let index: ImageIndex | null = null;
  const parsed = parseImageReference(image);
  if (parsed.ok && parsed.value.digest !== null) {
    const { registry, path, digest } = parsed.value;
    void images.ofDigest(`${registry}/${path}`, digest).then((found) => {
      if (found.kind === 'read') index = found.value;
      pulse.happened();
    });
  }
  return { known: () => index };
}
