import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pack, unpack } from '../../../src/domain/core/packed.ts';

const image = `registry.example.com/hive/app:v6@sha256:${'a1'.repeat(32)}`;

test('a small value stands as it is, so that people can read it', () => {
  expect(pack({ a: image, b: image })).toEqual({ plain: { a: image, b: image } });
});

test('in a large one what repeats stands once', () => {
  const value = {
    of: [
      { name: 'a', image },
      { name: '$b', image },
    ],
    other: `${image}0`,
    e: null,
    f: 3,
  };
  const packed = pack(value, 0);
  expect(packed).toEqual({
    texts: [image],
    shapes: [['name', 'image']],
    value: { of: [0, [1, 'a', '$0'], [1, '$$b', '$0']], other: `${image}0`, e: null, f: 3 },
  });
  expect(unpack(packed)).toEqual(value);
});

test('whatever JSON is packed comes out as it was', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom(image, '$', '$0', '$$0', '$1 and more', `$${image}`, '__proto__'));
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value')),
      fc.dictionary(text, tie('value')),
    ),
  })).value;
  fc.assert(
    fc.property(json, (value) => {
      const wire = JSON.parse(JSON.stringify(value)) as unknown;
      expect(unpack(JSON.parse(JSON.stringify(pack(wire, 0))) as ReturnType<typeof pack>)).toEqual(wire);
    }),
    { numRuns: 500 },
  );
});

test('a value that names what its tables lack was not packed here', () => {
  expect(() => unpack({ texts: [], shapes: [], value: [0, '$0'] })).toThrow('names the text $0');
  expect(() => unpack({ texts: [], shapes: [], value: [1] })).toThrow('names the shape 1');
});
