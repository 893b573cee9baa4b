const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * The bytes of a base64 text (RFC 4648, standard alphabet, padding required), or undefined where it is none. Written out
 * because workflow code has neither `atob` nor `Buffer`, and both accept what is not base64.
 */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const digits = text.replace(/={1,2}$/, '');
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let bits = 0;
  let pending = 0;
  let at = 0;
  for (const digit of digits) {
    const value = alphabet.indexOf(digit);
    if (value === -1) return undefined;
    pending = (pending << 6) | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = pending >> bits;
    pending &= (1 << bits) - 1;
  }
  // One text for each value: no bits may hang over the last byte.
  return pending === 0 ? bytes : undefined;
}

/** Bytes as base64, padded. */
export function encodeBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(at, at + 3);
    const group = (a << 16) | (b << 8) | c;
    const digits = [18, 12, 6, 0].map((shift) => alphabet.charAt((group >> shift) & 63)).join('');
    const missing = Math.max(0, at + 3 - bytes.length);
    text += digits.slice(0, 4 - missing) + '='.repeat(missing);
  }
  return text;
}
