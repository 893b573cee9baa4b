import { badRelease } from './bad-release.ts';
import { follow } from './follow.ts';
import { approval, goodRelease } from './good-release.ts';
import type { Played, PlayOptions } from './play.ts';
import { setUp } from './set-up.ts';
import type { Teller } from './story.ts';
import { lookAround, opening } from './surroundings.ts';
import { swap } from './swap.ts';
import { tellStory, type Chapter } from './tell-story.ts';

/** In their order. Each claims what the API server and the release's status must bear out. */
const CHAPTERS: readonly Chapter<Teller>[] = [
  { title: 'A good release: the canary first, and its soak', tell: goodRelease },
  { title: 'An approval given, then the rest', tell: approval },
  { title: 'A bad release: back from the canary, no other target touched, the digest blocked', tell: badRelease },
  { title: 'A swap behind its back: reverted', tell: swap },
];

/** One release on real parts, through a good image, an approval, a bad image and a swap by hand. */
export async function playRelease({ timeline, labFolder, undo, signal }: PlayOptions): Promise<Played> {
  timeline.say('Holdfast demo: one release, three targets, real parts\n');
  const log = (line: string) => timeline.say(`  set-up: ${line}`);
  const stage = await setUp({ labFolder, log, undo, signal });
  for (const line of opening(stage)) timeline.say(line);
  timeline.begin();
  const follower = await follow(stage, timeline, signal);
  undo(() => follower.stop());
  if (labFolder !== null) undo(() => follower.terminate());
  const allSeen = await tellStory({ stage, timeline, follower, signal }, CHAPTERS);
  return { allSeen, labDir: stage.lab.dir, stopFollowing: () => follower.stop(), lookAround: lookAround(stage) };
}
