import { setTimeout as sleep } from 'node:timers/promises';
import type { Play } from './play.ts';
import { keepLab, type Undo } from './set-up.ts';
import { createTimeline, type Timeline } from './timeline.ts';

export interface DemoOptions {
  /** Leave everything running. */
  readonly keep: boolean;
  /** Of a running lab to play in; null to start one. */
  readonly labFolder: string | null;
  readonly play: Play;
}

/** How long what was under way may take to notice that it was interrupted. */
const SETTLE_MS = 2_000;

/** Plays the whole of it. @returns the exit code: 0, 1 where something did not happen, 130 for Ctrl-C */
export async function runDemo({ keep, labFolder, play }: DemoOptions): Promise<number> {
  const timeline = createTimeline(process.stdout);
  const undoing: (() => Promise<void>)[] = [];
  const undo: Undo = (what) => void undoing.push(what);
  const leaving = new AbortController();
  const interrupted = untilInterrupted(timeline, leaving);

  async function playAll(): Promise<number> {
    const played = await play({ timeline, labFolder, undo, signal: leaving.signal });
    if (keep) {
      keepLab(played.labDir);
      undoing.length = 0;
      await played.stopFollowing();
      for (const line of played.lookAround) timeline.say(line);
    }
    return played.allSeen ? 0 : 1;
  }

  const playing = playAll();
  try {
    return await Promise.race([playing, interrupted]);
  } catch (error) {
    timeline.say(`\nThe demo could not be played: ${messageOf(error)}`);
    return 1;
  } finally {
    await settled(playing);
    await takeDown(timeline, undoing);
    await settled(playing);
  }
}

/** Waits a moment for what cannot go on, so that nothing is made while or after everything is taken down. */
async function settled(playing: Promise<unknown>): Promise<void> {
  await Promise.race([playing.catch(() => undefined), sleep(SETTLE_MS)]);
}

/** Undoes what was set up, the newest first. */
async function takeDown(timeline: Timeline, undoing: (() => Promise<void>)[]): Promise<void> {
  for (let next = undoing.pop(); next !== undefined; next = undoing.pop()) {
    await next().catch((error: unknown) => timeline.say(`not taken down: ${messageOf(error)}`));
  }
}

/** Ctrl-C, the end of a terminal, and a reader of our output that has gone. However often it comes, it is one. */
function untilInterrupted(timeline: Timeline, leaving: AbortController): Promise<number> {
  return new Promise((resolve) => {
    const leave = () => {
      if (leaving.signal.aborted) return;
      leaving.abort();
      timeline.end();
      timeline.say('\nLeaving: taking everything down.');
      resolve(130);
    };
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, leave);
    process.stdout.on('error', leave);
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
