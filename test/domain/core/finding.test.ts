import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatFinding, formatPath, positionsOf } from '../../../src/domain/core/finding.ts';

test('a finding is printed as compilers do', () => {
  expect(
    formatFinding({
      file: 'a.yaml',
      line: 3,
      column: 5,
      path: 'spec.image',
      message: 'expected a string',
      severity: 'error',
    }),
  ).toBe('a.yaml:3:5: spec.image: expected a string');
});

describe('paths', () => {
  test.each([
    [[], '(document)'],
    [['spec'], 'spec'],
    [['spec', 'targets', 2, 'name'], 'spec.targets[2].name'],
    [['spec', 'a-b', '$c', '_d'], 'spec.a-b.$c._d'],
    [['spec', 'odd key'], 'spec["odd key"]'],
    [['spec', '1st', 'a"b', ''], 'spec["1st"]["a\\"b"][""]'],
    [['<<'], '["<<"]'],
    [[0], '[0]'],
    [['a', 'x '.repeat(30)], `a["${'x '.repeat(30)}"]`],
    [['a', 'x '.repeat(31)], `a["${'x '.repeat(30)}…"]`],
  ])('%j is %s', (path, text) => {
    expect(formatPath(path)).toBe(text);
  });
});

describe('positions', () => {
  test('lines and columns count from 1, with either line ending', () => {
    const at = positionsOf('ab\ncd\r\n\nx');
    expect([0, 1, 2, 3, 5, 6, 7, 8, 9].map(at)).toEqual([
      { line: 1, column: 1 },
      { line: 1, column: 2 },
      { line: 1, column: 3 },
      { line: 2, column: 1 },
      { line: 2, column: 3 },
      { line: 2, column: 4 },
      { line: 3, column: 1 },
      { line: 4, column: 1 },
      { line: 4, column: 2 },
    ]);
    expect(positionsOf('')(0)).toEqual({ line: 1, column: 1 });
  });

  test('agree with counting by hand', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '\n', '\r'), maxLength: 30 }), fc.nat(30), (text, n) => {
        const offset = Math.min(n, text.length);
        const lines = text.slice(0, offset).split('\n');
        expect(positionsOf(text)(offset)).toEqual({ line: lines.length, column: (lines.at(-1) ?? '').length + 1 });
      }),
    );
  });
});
