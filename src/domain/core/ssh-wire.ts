import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';

/** Reads the fields of SSH's wire form (RFC 4251, section 5) one after the other; undefined at the first that is cut off. */
export interface WireReader {
  /** A uint32. */
  readonly number: () => number | undefined;
  /** A string: its length, then its bytes. */
  readonly bytes: () => Uint8Array | undefined;
  /** A string that is ASCII text, such as the name of an algorithm. */
  readonly text: () => string | undefined;
  /** True where everything was read. */
  readonly done: () => boolean;
}

/** A reader over bytes in SSH's wire form. */
export function wireReader(bytes: Uint8Array): WireReader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const number = (): number | undefined => {
    if (at + 4 > bytes.length) return undefined;
    at += 4;
    return view.getUint32(at - 4);
  };
  const field = (): Uint8Array | undefined => {
    const length = number();
    if (length === undefined || at + length > bytes.length) return undefined;
    at += length;
    return bytes.subarray(at - length, at);
  };
  const text = (): string | undefined => {
    const read = field();
    if (read === undefined || read.some((byte) => byte < 0x20 || byte > 0x7e)) return undefined;
    return String.fromCharCode(...read);
  };
  return { number, bytes: field, text, done: () => at === bytes.length };
}

/** A string in SSH's wire form. */
export function wireString(content: string | Uint8Array): Uint8Array {
  const bytes = typeof content === 'string' ? utf8ToBytes(content) : content;
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, bytes.length);
  return concatBytes(length, bytes);
}
