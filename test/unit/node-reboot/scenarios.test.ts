import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/**
 * The scenarios of a node's reboot that somebody is to be protected in, by the numbers that tests carry in their names. Those
 * from 72 to 88 are of other procedures, such as a cluster's quiesce, which are not built.
 */
const scenarios = [...numbers(1, 71), ...numbers(89, 93)];
const cases = ['H-D01', 'H-D02', 'H-D03', 'H-D04', 'H-D05'];

const root = 'test';
const own = 'scenarios.test.ts';
const titles = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts') && !file.endsWith(own))
  .flatMap((file) => titlesIn(readFileSync(join(root, file), 'utf8')));

test('every scenario is a test by its number, and every case by its name', () => {
  const named = new Set(titles.flatMap((title) => title.match(/\b(?:NR-\d+|H-D\d\d)\b/g) ?? []));
  const wanted = [...scenarios.map((number) => `NR-${number}`), ...cases];
  expect(wanted.filter((name) => !named.has(name))).toEqual([]);
});

test('none of them is skipped', () => {
  const skipped = titles.filter((title) => /^(?:test|describe)\.(?:skip|todo)/.test(title));
  expect(skipped.filter((title) => /NR-|H-D/.test(title))).toEqual([]);
});

function numbers(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** The lines on which a title stands: where a test begins, where a table of tests ends, or by itself. */
function titlesIn(source: string): string[] {
  const lines = source.split('\n').map((line) => line.trim());
  return lines.filter((line) => /^(?:(?:test|describe)\b|\]\)\(|\[?['"`](?:NR-|H-D))/.test(line));
}
