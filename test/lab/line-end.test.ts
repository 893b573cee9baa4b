import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { lineEndOf } from './line-end.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-lines-'));

afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ['', 0],
  ['half', 0],
  ['one\n', 4],
  ['one\ntwo', 4],
  ['ü\nhalf', 3],
  [`${'x'.repeat(200_000)}\n`, 200_001],
  [`one\n${'x'.repeat(200_000)}`, 4],
])('the last whole line of a file ends before what is still being written', async (content, end) => {
  const file = join(folder, 'log');
  writeFileSync(file, content);
  expect(await lineEndOf(file)).toBe(end);
});
