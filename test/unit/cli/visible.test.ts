import { expect, test } from 'vitest';
import { visible } from '../../../src/starters/output/visible.ts';

test.each([
  ['\u001b[2Jgone', '\\u001b[2Jgone'],
  ['\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
  ['one\rtwo', 'one\\u000dtwo'],
  ['\u009b31m', '\\u009b31m'],
  ['\u001b[8mhidden', '\\u001b[8mhidden'],
  ['\u202egnp.exe', '\\u202egnp.exe'],
])('what would steer a terminal is shown: %j', (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test('line breaks, tabs, colours of ours and every script stay', () => {
  const text = '\u001b[31mRolledBack\u001b[39m\n\tzurück – 戻す 😀';
  expect(visible(text)).toBe(text);
});
