import type { Line } from './line.ts';
import type { ResolvedLine } from './observation.ts';
import type { Blocked } from './state.ts';

/** What a line comes to in this evaluation: the image that its targets are to get, and what is known of it. */
export interface WantedImage {
  readonly line: Line;
  readonly resolved: ResolvedLine;
  /** The entry that holds this image, pinned or not. */
  readonly block: Blocked | null;
  /** Epoch milliseconds at which a candidate is old enough; null where it is, or where no age is asked for. */
  readonly agesAt: number | null;
}
