import type { Timeline } from './timeline.ts';

/** A part of a story, which claims that something happens. */
export interface Chapter<T> {
  readonly title: string;
  readonly tell: (teller: T) => Promise<void>;
}

/**
 * Tells all chapters, and what was seen.
 *
 * @returns false where something did not happen as told; no chapter is begun after that
 * @throws the reason of the signal when the person leaves
 */
export async function tellStory<T extends { readonly timeline: Timeline; readonly signal: AbortSignal }>(
  teller: T,
  chapters: readonly Chapter<T>[],
): Promise<boolean> {
  const { timeline } = teller;
  const results: string[] = [];
  let allSeen = true;
  for (const [index, { title, tell }] of chapters.entries()) {
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
