/**
 * The known word that a misspelt one most likely stands for, if one is near: the same letters in another case, or one
 * that is reached by few insertions, deletions, changes and swaps of neighbours. Of words that are equally near
 * one that begins like it: a plural for its singular.
 *
 * @param word what was written
 * @param known the words that would have been right
 */
export function suggest(word: string, known: readonly string[]): string | undefined {
  if (word.length > 64) return undefined;
  const plain = (text: string) => text.toLowerCase().replace(/[-_ ]/g, '');
  const sameLetters = known.find((candidate) => plain(candidate) === plain(word));
  if (sameLetters !== undefined) return sameLetters;

  const most = Math.min(3, Math.max(1, Math.floor(word.length / 3)));
  const near = known
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= most && distance < candidate.length)
    // Less than one change, so that it decides only between equals.
    .map(({ candidate, distance }) => ({ candidate, cost: distance + (beginsAlike(word, candidate) ? 0 : 0.5) }));
  return near.sort((a, b) => a.cost - b.cost)[0]?.candidate;
}

function beginsAlike(one: string, other: string): boolean {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one];
  return longer.toLowerCase().startsWith(shorter.toLowerCase());
}

/** How many insertions, deletions, changes and swaps of neighbours lead from one word to the other. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = from[i - 1] === to[j - 1] ? 0 : 1;
      let distance = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + change);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        distance = Math.min(distance, at(beforeLast, j - 2) + 1);
      }
      row.push(distance);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
