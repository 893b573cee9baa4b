import { setTimeout as sleep } from 'node:timers/promises';
import { follow } from './follow.ts';
import { keepLab, setUp, type Undo } from './set-up.ts';
import { lookAround, opening } from './surroundings.ts';
import { tellStory } from './tell-story.ts';
import { createTimeline, type Timeline } from './timeline.ts';

export interface DemoOptions {
  /** Leave everything running. */
  readonly keep: boolean;
  /** Of a running lab to play in; null to start one. */
  readonly labFolder: string | null;
}

const SETTLE_MS = 15_000;

/** Plays the whole of it. @returns the exit code: 0, 1 where something did not happen, 130 for Ctrl-C */
export async function runDemo({ keep, labFolder }: DemoOptions): Promise<number> {
  const timeline = createTimeline(process.stdout);
  const undoing: (() => Promise<void>)[] = [];
  const undo: Undo = (what) => void undoing.push(what);
  const leaving = new AbortController();
  const interrupted = untilInterrupted(timeline, leaving);

  async function play(): Promise<number> {
    timeline.say('Holdfast demo: one release, three targets, real parts\n');
    const log = (line: string) => timeline.say(`  set-up: ${line}`);
    const stage = await setUp({ labFolder, log, undo, signal: leaving.signal });
    for (const line of opening(stage)) timeline.say(line);
    timeline.begin();
    const follower = await follow(stage, timeline);
    undo(() => follower.stop());
    if (labFolder !== null) undo(() => follower.terminate());
    const allSeen = await tellStory({ stage, timeline, follower });
    if (keep && !leaving.signal.aborted) {
      keepLab(stage.lab.dir);
      undoing.length = 0;
      await follower.stop();
      for (const line of lookAround(stage)) timeline.say(line);
    }
    return allSeen ? 0 : 1;
  }

  const playing = play();
  try {
    return await Promise.race([playing, interrupted]);
  } catch (error) {
    timeline.say(`\nThe demo could not be played: ${messageOf(error)}`);
    return 1;
  } finally {
    await takeDown(timeline, undoing);
    // What was under way when it was interrupted may have made something more.
    await Promise.race([playing.catch(() => undefined), sleep(SETTLE_MS)]);
    await takeDown(timeline, undoing);
  }
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
