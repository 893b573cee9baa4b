import type { Undo } from './set-up.ts';
import type { Timeline } from './timeline.ts';

/** What a story is played with. */
export interface PlayOptions {
  readonly timeline: Timeline;
  /** Of a running lab to play in, which then stays; null to start one, which then goes. */
  readonly labFolder: string | null;
  readonly undo: Undo;
  /** Aborted when the person leaves. */
  readonly signal: AbortSignal;
}

/** How a story ended. */
export interface Played {
  /** False where something did not happen as told. */
  readonly allSeen: boolean;
  /** Folder of the lab. */
  readonly labDir: string;
  /** Lets go of what follows the story, for whoever keeps the rest. */
  readonly stopFollowing: () => Promise<void>;
  /** How to look at what stays, and how to end it. */
  readonly lookAround: readonly string[];
}

export type Play = (options: PlayOptions) => Promise<Played>;
