import { read, unmeasured, type Reading } from '../../domain/core/verdict.ts';

/** Of clients and identity providers. */
const perPage = 200;
const mostPages = 100;

/**
 * Reads a list whole, or not at all. Each page but the first begins with the last entry of the one before: where it does
 * not, the list changed while it was read, and an entry may have slipped between two pages. A short page is not the end,
 * since one that was cut short is short as well: the end is a page that brings nothing new.
 *
 * @param page reads the page of at most `max` entries from `first` on
 */
export async function readPages<T>(
  what: string,
  id: (entry: T) => string,
  page: (query: { readonly first: string; readonly max: string }) => Promise<Reading<readonly T[]>>,
): Promise<Reading<readonly T[]>> {
  const entries: T[] = [];
  for (let count = 0; count < mostPages; count++) {
    const first = Math.max(0, entries.length - 1);
    const answer = await page({ first: String(first), max: String(perPage) });
    if (answer.kind === 'unmeasured') return answer;
    const last = entries.at(-1);
    const [joint] = answer.value;
    if (last !== undefined && (joint === undefined || id(joint) !== id(last))) {
      return notWhole(what, 'it changed while it was read');
    }
    if (answer.value.length > perPage) return notWhole(what, `a page has more than the ${perPage} that were asked for`);
    const more = answer.value.slice(last === undefined ? 0 : 1);
    if (more.length === 0) return read(entries);
    entries.push(...more);
  }
  return notWhole(what, `it has more than ${mostPages} pages`);
}

function notWhole(what: string, why: string): Reading<never> {
  return unmeasured(what, 'Keycloak', 'truncated', `${what}: the list is not whole: ${why}`);
}
