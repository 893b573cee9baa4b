import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { duration } from '../../../src/domain/core/duration.ts';
import { formatFinding } from '../../../src/domain/core/finding.ts';
import { loadSpecs } from '../../../src/domain/core/spec-file.ts';

const toy = z
  .strictObject({
    text: z.string().min(1).max(5).optional(),
    list: z.array(z.string()).min(1).max(2).optional(),
    count: z.number().min(1).lt(10).multipleOf(0.5).optional(),
    above: z.number().gt(1).optional(),
    whole: z.int().optional(),
    flag: z.boolean().optional(),
    url: z.url().optional(),
    path: z.string().startsWith('/').optional(),
    suffix: z.string().endsWith('.git').optional(),
    contains: z.string().includes('{name}').optional(),
    pattern: z.string().regex(/^x+$/).optional(),
    mail: z.email().optional(),
    labels: z.record(z.string().regex(/^[a-z]+$/, 'expected a label of small letters, got "A"'), z.string()).optional(),
    fields: z.record(z.string(), z.strictObject({ size: z.number() })).optional(),
    either: z
      .union([z.literal('none'), z.number(), z.strictObject({ url: z.string(), retries: z.int().optional() })])
      .optional(),
    form: z.union([z.strictObject({ http: z.string() }), z.strictObject({ exec: z.string() })]).optional(),
    wait: duration().optional(),
    other: z.unknown().optional(),
    twice: z.string().optional(),
  })
  .refine((spec) => spec.twice === undefined || spec.twice !== spec.text, {
    message: 'twice is the same as text',
    path: ['twice'],
  });
const kinds = { Toy: toy, Other: z.strictObject({ size: z.int().default(3) }) };

const head = 'apiVersion: holdfast.dev/v1alpha1\nkind: Toy\nmetadata:\n  name: a\nspec:\n';

function load(text: string, path = 'a.yaml') {
  return loadSpecs([{ path, bytes: new TextEncoder().encode(text) }], kinds);
}

function findingsOf(text: string): string[] {
  return load(text).findings.map((finding) => formatFinding(finding).replace(/^a\.yaml:/, ''));
}

describe('a good file', () => {
  test('gives its specs with defaults filled in, and as they were written', () => {
    const other = 'apiVersion: holdfast.dev/v1alpha1\nkind: Other\nmetadata: {name: b}\nspec: {}\n';
    expect(load(`# first\n---\n${head}  wait: 1m30s\n---\n# nothing\n---\n${other}`)).toEqual({
      findings: [],
      specs: [
        { file: 'a.yaml', line: 3, kind: 'Toy', name: 'a', spec: { wait: 90_000 }, written: { wait: '1m30s' } },
        { file: 'a.yaml', line: 12, kind: 'Other', name: 'b', spec: { size: 3 }, written: {} },
      ],
    });
  });

  test('may be JSON, with tabs, and may begin with a byte order mark', () => {
    const json = JSON.stringify(
      { apiVersion: 'holdfast.dev/v1alpha1', kind: 'Toy', metadata: { name: 'a' }, spec: { text: 'é\n"' } },
      null,
      '\t',
    );
    expect(load(`\uFEFF${json}`)).toMatchObject({ findings: [], specs: [{ kind: 'Toy', spec: { text: 'é\n"' } }] });
  });

  test('may have another kind of the same name, in another file', () => {
    const bytes = (text: string) => new TextEncoder().encode(text);
    const files = [
      { path: 'a.yaml', bytes: bytes(`${head}  {}\n`) },
      { path: 'b.yaml', bytes: bytes(`${head.replace('Toy', 'Other')}  {}\n`) },
    ];
    expect(loadSpecs(files, kinds)).toMatchObject({ findings: [], specs: [{ kind: 'Toy' }, { kind: 'Other' }] });
  });

  test('may have any JSON as a value: it comes through unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.boolean(), (value, pretty) => {
        const document = {
          apiVersion: 'holdfast.dev/v1alpha1',
          kind: 'Toy',
          metadata: { name: 'a' },
          spec: { other: value },
        };
        const text = JSON.stringify(document, null, pretty ? 2 : 0);
        if (/"(__proto__|<<)":|\\u00[01]|\u007f/.test(text)) return;
        const { specs, findings } = load(text);
        expect(findings).toEqual([]);
        expect(JSON.stringify(specs[0]?.written)).toBe(JSON.stringify({ other: value }));
      }),
    );
  });
});

describe('several files', () => {
  test('a name is unique among all of them, and findings come file by file, line by line', () => {
    const bytes = new TextEncoder().encode(`${head}  list: 3\n  text: 4\n`);
    const { findings } = loadSpecs(
      [
        { path: 'b.yaml', bytes },
        { path: 'a.yaml', bytes },
      ],
      kinds,
    );
    expect(findings.map(formatFinding)).toEqual([
      'b.yaml:6:9: spec.list: expected a list, got the number 3: begin each item with a dash',
      'b.yaml:7:9: spec.text: expected a string, got the number 4: put it in quotes, "4"',
      'a.yaml:4:9: metadata.name: Toy/a is already defined at b.yaml:4:9; give one of the two another name',
      'a.yaml:6:9: spec.list: expected a list, got the number 3: begin each item with a dash',
      'a.yaml:7:9: spec.text: expected a string, got the number 4: put it in quotes, "4"',
    ]);
  });
});

describe('what is wrong is said in words', () => {
  test.each([
    ['  text: ""', '6:9: spec.text: expected a string that is not empty, got ""'],
    ['  text: toolong', '6:9: spec.text: expected at most 5 characters, got "toolong"'],
    [`  text: ${'x'.repeat(61)}`, `6:9: spec.text: expected at most 5 characters, got "${'x'.repeat(60)}…"`],
    ['  text: {}', '6:3: spec.text: expected a string, got an empty map'],
    ['  text: [a]', '6:3: spec.text: expected a string, got a list'],
    ['  text: True', '6:9: spec.text: expected a string, got True: put it in quotes, "True"'],
    ['  text: ~', '6:9: spec.text: expected a string, got nothing: give a value or remove the line'],
    ['  text: 0x1F', '6:9: spec.text: expected a string, got the number 0x1F: put it in quotes, "0x1F"'],
    ['  text: 2_0\n  whole: "2_0"', '7:10: spec.whole: expected a number, got "2_0"'],
    ['  list: []', '6:3: spec.list: expected at least 1 item, got an empty list'],
    ['  list: [a, b, c]', '6:3: spec.list: expected at most 2 items, got a list'],
    ['  list:\n    -\n    - b', '7:6: spec.list[0]: expected a string, got nothing: give a value or remove the line'],
    ['  list: a', '6:9: spec.list: expected a list, got "a": begin each item with a dash'],
    ['  count: 0', '6:10: spec.count: expected a number of at least 1, got the number 0'],
    ['  count: 10', '6:10: spec.count: expected a number of less than 10, got the number 10'],
    ['  count: 1.2', '6:10: spec.count: expected a multiple of 0.5, got the number 1.2'],
    ['  count: .nan', '6:10: spec.count: expected a number, got the number .nan'],
    ['  count: .inf', '6:10: spec.count: expected a number, got the number .inf'],
    ['  count: ""', '6:10: spec.count: expected a number, got ""'],
    ['  count: "1e1"', '6:10: spec.count: expected a number, got "1e1": write 1e1 without quotes'],
    ['  above: 1', '6:10: spec.above: expected a number of more than 1, got the number 1'],
    ['  whole: 1.5', '6:10: spec.whole: expected a whole number, got the number 1.5'],
    ['  flag: on', '6:9: spec.flag: expected true or false, got "on": write true'],
    ['  flag: Yes', '6:9: spec.flag: expected true or false, got "Yes": write true'],
    ['  flag: y', '6:9: spec.flag: expected true or false, got "y": write true'],
    ['  flag: "1"', '6:9: spec.flag: expected true or false, got "1": write true'],
    ['  flag: enabled', '6:9: spec.flag: expected true or false, got "enabled": write true'],
    ['  flag: off', '6:9: spec.flag: expected true or false, got "off": write false'],
    ['  flag: no', '6:9: spec.flag: expected true or false, got "no": write false'],
    ['  flag: n', '6:9: spec.flag: expected true or false, got "n": write false'],
    ['  flag: "0"', '6:9: spec.flag: expected true or false, got "0": write false'],
    ['  flag: disabled', '6:9: spec.flag: expected true or false, got "disabled": write false'],
    ['  flag: "false"', '6:9: spec.flag: expected true or false, got "false": write false without quotes'],
    ['  flag: perhaps', '6:9: spec.flag: expected true or false, got "perhaps"'],
    ['  flag: 1', '6:9: spec.flag: expected true or false, got the number 1'],
    ['  url: here', '6:8: spec.url: expected a URL such as https://example.com/health, got "here"'],
    ['  path: here', '6:9: spec.path: expected a string that starts with "/", got "here"'],
    ['  suffix: here', '6:11: spec.suffix: expected a string that ends with ".git", got "here"'],
    ['  contains: here', '6:13: spec.contains: expected a string that contains "{name}", got "here"'],
    ['  pattern: here', '6:12: spec.pattern: expected a string that matches /^x+$/, got "here"'],
    ['  mail: here', '6:9: spec.mail: expected a valid email, got "here"'],
    ['  labels:\n    A: b', '7:5: spec.labels.A: expected a label of small letters, got "A"'],
    ['  labels:\n    a: 1', '7:8: spec.labels.a: expected a string, got the number 1: put it in quotes, "1"'],
    ['  fields:\n    a: {size: big}', '7:15: spec.fields.a.size: expected a number, got "big"'],
    ['  fields:\n    a: {}', '7:5: spec.fields.a.size: required field is missing; expected a number'],
    ['  either: all', '6:11: spec.either: expected "none" or a number or a map, got "all"'],
    ['  either: {url: 1}', '6:17: spec.either.url: expected a string, got the number 1: put it in quotes, "1"'],
    ['  either: {url: x, retries: 1.5}', '6:29: spec.either.retries: expected a whole number, got the number 1.5'],
    ['  either: {ulr: x}', '6:12: spec.either.ulr: unknown field "ulr"; did you mean "url"?'],
    ['  either: {}', '6:3: spec.either.url: required field is missing; expected a string'],
    ['  form: {}', '6:3: spec.form: expected one of http, exec'],
    ['  form: {http: x, exec: y}', '6:3: spec.form: expected only one of http, exec'],
    ['  form: {xyzzy: 1}', '6:3: spec.form: expected one of http, exec'],
    ['  form: 1', '6:9: spec.form: expected a map, got the number 1'],
    ['  form: {http: 1}', '6:16: spec.form.http: expected a string, got the number 1: put it in quotes, "1"'],
    ['  wait: {}', '6:3: spec.wait: expected a duration such as 90s or 1m30s, got an empty map'],
    ['  text: a\n  twice: a', '7:10: spec.twice: twice is the same as text'],
    ['  "": 1', '6:3: spec[""]: unknown field ""; the schema of the kind lists the fields'],
    [
      `  ${'x'.repeat(61)}: 1`,
      `6:3: spec.${'x'.repeat(61)}: unknown field "${'x'.repeat(60)}…"; the schema of the kind lists the fields`,
    ],
    ['  ? [a]\n  : 1', '6:5: spec: expected the name of a field, got a list or map'],
    ['  ~: 1', '6:3: spec: expected the name of a field, got nothing'],
    ['  true: 1', '6:3: spec: expected the name of a field, got true: put it in quotes'],
    ['  &k text: a', '6:6: spec: anchors (&k) are not supported; write the value out where it is used'],
    [
      '  text: !secret a',
      '6:17: spec.text: tags (!secret) are not supported; write the value plainly, a text in quotes',
    ],
    ['  text: *x', '6:9: spec.text: aliases (*x) are not supported; write the value out'],
    ['  text: &x', '6:11: spec.text: anchors (&x) are not supported; write the value out where it is used'],
    ["  text: 'a", '6:9: spec.text: this is not valid YAML: the quote that begins here is never closed'],
    ['  text: "\\q"', '6:10: spec.text: this is not valid YAML: Invalid escape sequence \\q'],
  ])('%j', (spec, expected) => {
    expect(findingsOf(`${head}${spec}\n`)[0]).toBe(expected);
  });

  test('one mistake is one finding', () => {
    expect(findingsOf(`${head}  - a\n  b: 1\n`)).toHaveLength(1);
    expect(findingsOf(`${head}  text: 'a'b: c: d\n`)).toHaveLength(1);
    expect(findingsOf(`${head}  fields:\n    a: {sise: 1}\n`)).toEqual([
      '7:9: spec.fields.a.sise: unknown field "sise"; did you mean "size"?',
    ]);
  });

  test('a misspelt field is judged as the field it was meant to be', () => {
    expect(findingsOf(`${head}  txet: toolong\n`)).toEqual([
      '6:3: spec.txet: unknown field "txet"; did you mean "text"?',
      '6:9: spec.text: expected at most 5 characters, got "toolong"',
    ]);
    expect(findingsOf(`${head}  fields:\n    a: {sise: big}\n`)).toEqual([
      '7:9: spec.fields.a.sise: unknown field "sise"; did you mean "size"?',
      '7:15: spec.fields.a.size: expected a number, got "big"',
    ]);
  });

  test('a misspelt field does not hide what is wrong between other fields, nor takes the place of one that is there', () => {
    expect(findingsOf(`${head}  text: a\n  twice: a\n  txet: 5\n`)).toEqual([
      '7:10: spec.twice: twice is the same as text',
      '8:3: spec.txet: unknown field "txet"; did you mean "text"?',
    ]);
  });

  test('several syntax faults are told, one for each line', () => {
    expect(findingsOf(`${head}  text: @a\n  url: @b\n  path: @c\n`).map((finding) => finding.split(':')[0])).toEqual([
      '6',
      '7',
      '8',
    ]);
  });
});

describe('attacks', () => {
  test('5 MB are refused', () => {
    const { specs, findings } = loadSpecs([{ path: 'big.yaml', bytes: new Uint8Array(5_000_000).fill(0x5b) }], kinds);
    expect(specs).toEqual([]);
    expect(findings.map(formatFinding)).toEqual([
      'big.yaml:1:1: (file): expected at most 1 MiB, got 4.8 MiB; is this the file you meant?',
    ]);
  });

  test.each([
    ['brackets', '['.repeat(20_000), '1:33'],
    ['braces', '{a: '.repeat(10_000), '1:129'],
    ['dashes', '- '.repeat(10_000), '1:65'],
    ['questions', '? '.repeat(10_000), '1:65'],
  ])('%s without end are refused, not walked', (_, text, position) => {
    expect(findingsOf(text)).toEqual([`${position}: (document): expected at most 32 levels of nesting, got more`]);
  });

  test('a nesting of 32 is read, of 33 is not', () => {
    const nested = (levels: number) => `${head}  other: ${'['.repeat(levels)}${']'.repeat(levels)}\n`;
    expect(findingsOf(nested(30))).toEqual([]);
    expect(findingsOf(nested(31))).toEqual(['6:40: (document): expected at most 32 levels of nesting, got more']);
  });

  test('a bomb of aliases is refused before it is expanded', () => {
    const levels = Array.from({ length: 20 }, (_, n) => `  l${n + 1}: &l${n + 1} [${`*l${n},`.repeat(10)}]\n`).join('');
    const findings = findingsOf(`${head}  l0: &l0 x\n${levels}`);
    expect(findings).toHaveLength(101);
    expect(findings[0]).toBe('6:11: spec.l0: anchors (&l0) are not supported; write the value out where it is used');
    expect(findings[100]).toBe('16:13: (file): 121 more findings are not shown');
  });

  test('twenty thousand fields cost no more than their number', () => {
    const fields = Array.from({ length: 20_000 }, (_, n) => `  k${n}: 1\n`).join('');
    const findings = findingsOf(head + fields);
    expect(findings).toHaveLength(101);
    expect(findings[0]).toContain('unknown field "k0"');
    expect(findings[100]).toBe('106:3: (file): 19900 more findings are not shown');
  });

  test('whatever the bytes, findings come and no exception', () => {
    const line = fc.constantFrom(
      'a: 1',
      '- b',
      '  c: [1, 2',
      '"d',
      "e: 'f'",
      '? g',
      '---',
      '...',
      '\t',
      '&x',
      '*x',
      '!t',
      '%TAG',
      '|',
      '{',
      '}',
      '#',
      ': ',
      '<<: *x',
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.uint8Array({ maxLength: 20 }), (lines, bytes) => {
        for (const content of [bytes, new TextEncoder().encode(lines.join('\n'))]) {
          const { specs, findings } = loadSpecs([{ path: 'x', bytes: content }], kinds);
          expect(specs).toEqual([]);
          expect(findings.length).toBeGreaterThan(0);
          for (const finding of findings) {
            expect(finding.line).toBeGreaterThanOrEqual(1);
            expect(finding.column).toBeGreaterThanOrEqual(1);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
