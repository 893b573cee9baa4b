import { badRelease } from './bad-release.ts';
import { approval, goodRelease } from './good-release.ts';
import type { Teller } from './story.ts';
import { swap } from './swap.ts';

/** The story in its order. Each chapter claims what the API server and the release's status must bear out. */
const CHAPTERS = [
  { title: 'A good release: the canary first, and its soak', tell: goodRelease },
  { title: 'An approval given, then the rest', tell: approval },
  { title: 'A bad release: back from the canary, no other target touched, the digest blocked', tell: badRelease },
  { title: 'A swap behind its back: reverted', tell: swap },
] as const;

/**
 * Tells all chapters, and what was seen.
 *
 * @returns false where something did not happen as told; no chapter is begun after that
 * @throws the reason of the signal when the person leaves
 */
export async function tellStory(teller: Teller): Promise<boolean> {
  const { timeline } = teller;
  const results: string[] = [];
  let allSeen = true;
  for (const [index, { title, tell }] of CHAPTERS.entries()) {
    if (!allSeen) {
      results.push(`  not played      ${title}`);
      continue;
    }
    timeline.chapter(`${index + 1}. ${title}`);
    try {
      await tell(teller);
    } catch (error) {
      teller.signal.throwIfAborted();
      allSeen = false;
      timeline.tell('check', `NOT SO: ${error instanceof Error ? error.message : String(error)}`, 'bad');
    }
    results.push(`  ${allSeen ? 'seen           ' : 'DID NOT HAPPEN '} ${title}`);
  }
  timeline.chapter(allSeen ? `All of it happened, in ${timeline.elapsed()}:` : `Not all of it happened:`);
  for (const line of results) timeline.say(line);
  return allSeen;
}
