import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeBase64, encodeBase64 } from '../../../src/domain/core/base64.ts';
import { wireReader, wireString } from '../../../src/domain/core/ssh-wire.ts';

describe('base64', () => {
  test('is what the platform makes of it, both ways', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        expect(encodeBase64(bytes)).toBe(text);
        expect(decodeBase64(text)).toEqual(bytes);
      }),
    );
  });

  test.each(['A', 'AA', 'AAA', 'A===', '====', 'AA=A', 'AAAA=', 'A-_A', 'AA A', 'AAAA\n', 'AB==', 'AAB='])(
    '%j is none',
    (text) => {
      expect(decodeBase64(text)).toBeUndefined();
    },
  );
});

describe('the wire form of SSH', () => {
  test('is read as it was written', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 5 }), (fields) => {
        const reader = wireReader(Buffer.concat(fields.map((field) => wireString(field))));
        expect(fields.map(() => Uint8Array.from(reader.bytes() ?? [255]))).toEqual(fields);
        expect(reader.done()).toBe(true);
        expect(reader.bytes()).toBeUndefined();
      }),
    );
  });

  test('numbers, texts, and what is cut off', () => {
    const bytes = Buffer.concat([
      Buffer.from([1, 2, 3, 4]),
      wireString('ssh ~'),
      wireString('\x7f'),
      Buffer.from([0, 0, 0, 2, 1]),
    ]);
    // At an offset within a larger buffer, as pieces of a signature are.
    const reader = wireReader(Buffer.concat([Buffer.from([9]), bytes]).subarray(1));
    expect(reader.number()).toBe(0x01020304);
    expect(reader.text()).toBe('ssh ~');
    expect(reader.text()).toBeUndefined();
    expect(reader.done()).toBe(false);
    expect(reader.bytes()).toBeUndefined();
    expect(wireReader(new Uint8Array([0, 0, 0])).number()).toBeUndefined();
    expect(wireReader(new Uint8Array([0, 0, 0, 0])).text()).toBe('');
    expect(wireReader(wireString('\x1f')).text()).toBeUndefined();
  });
});
