/** No spec is near this size; what is larger is a mistake or an attack, and is refused unread. */
export const largestFileBytes = 1024 * 1024;

/** Characters of the category Cc but white space and U+0080 to U+009F, which YAML does not refuse either. */
const controlCharacter = /[^\P{Cc}\t\n\r\u0080-\u009f]/u;

/** The text of a file, or why it has none that can be read. The offset is that of the fault in `text`. */
export type SpecText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly text: string; readonly offset: number; readonly message: string };

/**
 * Bytes as text: UTF-8, with or without a byte order mark, without control characters.
 */
export function specText(bytes: Uint8Array): SpecText {
  if (bytes.length > largestFileBytes) {
    const size = (bytes.length / largestFileBytes).toFixed(1);
    return refuse('', 0, `expected at most 1 MiB, got ${size} MiB; is this the file you meant?`);
  }
  if (startsWith(bytes, 0xff, 0xfe) || startsWith(bytes, 0xfe, 0xff)) {
    return refuse('', 0, 'expected UTF-8, got UTF-16; save the file as UTF-8');
  }
  const content = startsWith(bytes, 0xef, 0xbb, 0xbf) ? bytes.subarray(3) : bytes;
  const text = decoded(content);
  if (text === undefined) {
    const invalid = firstInvalidByte(content) ?? 0;
    const before = new TextDecoder().decode(content.subarray(0, invalid));
    const byte = (content[invalid] ?? 0).toString(16).padStart(2, '0');
    return refuse(before, before.length, `expected UTF-8, got the byte 0x${byte}; save the file as UTF-8`);
  }
  const control = text.search(controlCharacter);
  if (control !== -1) {
    const code = text.charCodeAt(control).toString(16).toUpperCase().padStart(4, '0');
    return refuse(text, control, `expected text, got the control character U+${code}`);
  }
  return { ok: true, text };
}

/** The platform decodes fast and says only that something is wrong; {@link firstInvalidByte} says where. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function refuse(text: string, offset: number, message: string): SpecText {
  return { ok: false, text, offset, message };
}

function startsWith(bytes: Uint8Array, ...prefix: number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}

/** The offset of the first byte that is no part of valid UTF-8 (RFC 3629: no overlong forms, no surrogates). */
export function firstInvalidByte(bytes: Uint8Array): number | undefined {
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return undefined;
}

/** How many bytes the character at an offset takes; 0 where there is none. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes.subarray(at, at + 4);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4 || !isContinuation(second)) return 0;
  if (first < 0xe0) return 2;
  if (!isContinuation(third)) return 0;
  if (first < 0xf0) {
    const overlong = first === 0xe0 && second < 0xa0;
    const surrogate = first === 0xed && second > 0x9f;
    return overlong || surrogate ? 0 : 3;
  }
  if (!isContinuation(fourth)) return 0;
  const overlong = first === 0xf0 && second < 0x90;
  const beyond = first === 0xf4 && second > 0x8f;
  return overlong || beyond ? 0 : 4;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
