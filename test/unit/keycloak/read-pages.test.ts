import { describe, expect, test } from 'vitest';
import { readPages } from '../../../src/activities/keycloak/read-pages.ts';
import { read, unmeasured } from '../../../src/domain/core/verdict.ts';

const list = (length: number) => Array.from({ length }, (_, index) => `c${index}`);

/** Reads a list in pages, through something that changes each page. */
async function readThrough(all: readonly string[], change: (page: string[], number: number) => string[] = (p) => p) {
  let number = 0;
  const asked: string[] = [];
  const reading = await readPages<string>(
    'the clients',
    (entry) => entry,
    ({ first, max }) => {
      asked.push(first);
      return Promise.resolve(read(change(all.slice(Number(first), Number(first) + Number(max)), ++number)));
    },
  );
  return { reading, asked };
}

describe('a list that is read in pages', () => {
  test.each([0, 1, 2, 199, 200, 201, 398, 399, 400, 401, 1_000])('of %i entries is read whole', async (length) => {
    const { reading } = await readThrough(list(length));
    expect(reading).toEqual(read(list(length)));
  });

  test('is read whole also where each answer is shorter than was asked for', async () => {
    const { reading } = await readThrough(list(30), (page) => page.slice(0, 7));
    expect(reading).toEqual(read(list(30)));
  });

  test('of which one page was cut short is read whole all the same', async () => {
    const { reading } = await readThrough(list(450), (page, number) => (number === 2 ? page.slice(0, 11) : page));
    expect(reading).toEqual(read(list(450)));
  });

  test.each<[string, (page: string[], number: number) => string[]]>([
    ['nothing comes any more', (page, number) => (number === 1 ? page : [])],
    ['another entry is where the last one was', (page, number) => (number === 1 ? page : page.slice(1))],
    ['a page has more than was asked for', (page) => [...page, ...list(300)]],
  ])('is not whole where %s', async (_, change) => {
    expect((await readThrough(list(500), change)).reading).toMatchObject({ kind: 'unmeasured', why: 'truncated' });
  });

  test('that cannot be read on is not known', async () => {
    const failed = unmeasured('x', 'Keycloak', 'denied', 'no');
    expect(await readPages('x', String, () => Promise.resolve(failed))).toBe(failed);
  });
});
