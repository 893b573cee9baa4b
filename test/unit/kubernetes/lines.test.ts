import { fc, test as property } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { readLines } from '../../../src/activities/kubernetes/lines.ts';

async function lines(chunks: Uint8Array[]): Promise<string[]> {
  const result: string[] = [];
  // eslint wants an await in an async generator; the chunks of a socket come later, too.
  async function* source() {
    for (const chunk of chunks) yield await Promise.resolve(chunk);
  }
  for await (const line of readLines(source())) result.push(line);
  return result;
}

property.prop([fc.array(fc.string({ unit: 'grapheme', minLength: 1 })), fc.array(fc.nat(40))])(
  'lines are the same however their bytes are cut into pieces',
  async (texts, cuts) => {
    const wanted = texts.map((t) => t.replaceAll('\n', ' ')).filter((t) => t.trim() !== '');
    const bytes = Buffer.from(wanted.map((t) => `${t}\n`).join(''));
    const chunks: Buffer[] = [];
    let at = 0;
    for (const cut of cuts) {
      chunks.push(bytes.subarray(at, at + cut));
      at += cut;
    }
    chunks.push(bytes.subarray(at));
    expect(await lines(chunks)).toEqual(wanted);
  },
);

test('what stands behind the last line break was cut off and is no line', async () => {
  expect(await lines([Buffer.from('{"a":1}\n{"b":')])).toEqual(['{"a":1}']);
});
