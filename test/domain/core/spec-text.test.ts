import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstInvalidByte, largestFileBytes, specText } from '../../../src/domain/core/spec-text.ts';

const encode = (text: string) => new TextEncoder().encode(text);

describe('bytes as text', () => {
  test('UTF-8 is read, with or without a byte order mark', () => {
    expect(specText(encode('a: é €\t😀\r\n'))).toEqual({ ok: true, text: 'a: é €\t😀\r\n' });
    expect(specText(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))).toEqual({ ok: true, text: 'a' });
    expect(specText(encode('a\uFEFFb'))).toEqual({ ok: true, text: 'a\uFEFFb' });
    expect(specText(new Uint8Array())).toEqual({ ok: true, text: '' });
  });

  test('up to 1 MiB, and not one byte more', () => {
    expect(specText(new Uint8Array(largestFileBytes).fill(0x61)).ok).toBe(true);
    expect(specText(new Uint8Array(largestFileBytes + 1).fill(0x61))).toEqual({
      ok: false,
      text: '',
      offset: 0,
      message: 'expected at most 1 MiB, got 1.0 MiB; is this the file you meant?',
    });
  });

  test.each([[[0xff, 0xfe, 0x61, 0x00]], [[0xfe, 0xff, 0x00, 0x61]]])('UTF-16 (%j) is called by its name', (bytes) => {
    expect(specText(new Uint8Array(bytes))).toMatchObject({
      ok: false,
      offset: 0,
      message: 'expected UTF-8, got UTF-16; save the file as UTF-8',
    });
  });

  test('another encoding is refused at the byte', () => {
    expect(specText(new Uint8Array([...encode('é\nab'), 0xe9, 0x0a]))).toEqual({
      ok: false,
      text: 'é\nab',
      offset: 4,
      message: 'expected UTF-8, got the byte 0xe9; save the file as UTF-8',
    });
    expect(specText(new Uint8Array([0x61, 0x80]))).toMatchObject({
      offset: 1,
      message: expect.stringContaining('0x80') as string,
    });
  });

  test.each([0x00, 0x07, 0x08, 0x0b, 0x0c, 0x0e, 0x1f, 0x7f])('the control character %d is refused', (code) => {
    const hex = code.toString(16).toUpperCase().padStart(4, '0');
    expect(specText(new Uint8Array([0x61, code, 0x62]))).toEqual({
      ok: false,
      text: `a${String.fromCharCode(code)}b`,
      offset: 1,
      message: `expected text, got the control character U+${hex}`,
    });
  });

  test('white space and everything from the space on is text', () => {
    expect(specText(encode('\t\n\r ~\u0080')).ok).toBe(true);
  });
});

describe('what is UTF-8', () => {
  test.each([
    ['a continuation byte alone', [0x80], 0],
    ['the last continuation byte alone', [0xbf], 0],
    ['an overlong two-byte form', [0xc0, 0x80], 0],
    ['an overlong two-byte form', [0xc1, 0xbf], 0],
    ['the first two-byte form', [0xc2, 0x80], undefined],
    ['the last two-byte form', [0xdf, 0xbf], undefined],
    ['a two-byte form cut off', [0x61, 0xc3], 1],
    ['a two-byte form with a letter', [0xc3, 0x61], 0],
    ['a two-byte form with a lead byte', [0xc3, 0xc3], 0],
    ['an overlong three-byte form', [0xe0, 0x9f, 0xbf], 0],
    ['the first three-byte form', [0xe0, 0xa0, 0x80], undefined],
    ['the last before the surrogates', [0xed, 0x9f, 0xbf], undefined],
    ['a surrogate', [0xed, 0xa0, 0x80], 0],
    ['the first after the surrogates', [0xee, 0x80, 0x80], undefined],
    ['a three-byte form cut off', [0xe2, 0x82], 0],
    ['an overlong four-byte form', [0xf0, 0x8f, 0xbf, 0xbf], 0],
    ['the first four-byte form', [0xf0, 0x90, 0x80, 0x80], undefined],
    ['the last four-byte form', [0xf4, 0x8f, 0xbf, 0xbf], undefined],
    ['beyond the last', [0xf4, 0x90, 0x80, 0x80], 0],
    ['far beyond the last', [0xf5, 0x80, 0x80, 0x80], 0],
    ['a four-byte form cut off', [0xf0, 0x9f, 0x98], 0],
    ['a fault after good characters', [0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x80, 0xff], 6],
  ])('%s', (_, bytes, invalid) => {
    expect(firstInvalidByte(new Uint8Array(bytes))).toBe(invalid);
  });

  test('agrees with the decoder of the platform', () => {
    const byte = fc.oneof(
      fc.constantFrom(0x61, 0x80, 0xbf, 0xc3, 0xe0, 0xa0, 0xed, 0x9f, 0xf0, 0x90, 0xf4, 0x8f),
      fc.nat(255),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 6 }), fc.array(byte, { maxLength: 5 }), (any, likely) => {
        for (const bytes of [any, new Uint8Array(likely)]) {
          expect(firstInvalidByte(bytes) === undefined).toBe(decodes(bytes));
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

function decodes(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
