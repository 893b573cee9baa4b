import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { read, unmeasured, type Reading } from '../../domain/core/verdict.ts';
import type { RealmRepresentation } from '../../domain/keycloak-flow/representation.ts';

/** How a realm's one-time passwords are made. */
export interface TotpPolicy {
  readonly algorithm: 'sha1' | 'sha256' | 'sha512';
  readonly digits: number;
  readonly periodMs: number;
}

const algorithms = { HmacSHA1: 'sha1', HmacSHA256: 'sha256', HmacSHA512: 'sha512' } as const;

const policySchema = z.looseObject({
  otpPolicyType: z.literal('totp'),
  otpPolicyAlgorithm: z.enum(['HmacSHA1', 'HmacSHA256', 'HmacSHA512']),
  otpPolicyDigits: z.number().int().min(6).max(8),
  otpPolicyPeriod: z.number().int().min(1).max(300),
});

/** What the realm says of one-time passwords. A credential that was made under another policy is not known by it. */
export function totpPolicy(realm: RealmRepresentation): Reading<TotpPolicy> {
  const parsed = policySchema.safeParse(realm);
  if (!parsed.success) {
    const message =
      'the realm has no time-based one-time passwords that a proof can make: its OTP policy is another one';
    return unmeasured("the realm's OTP policy", 'Keycloak', 'unparsed', message);
  }
  const { otpPolicyAlgorithm, otpPolicyDigits: digits, otpPolicyPeriod } = parsed.data;
  return read({ algorithm: algorithms[otpPolicyAlgorithm], digits, periodMs: otpPolicyPeriod * 1_000 });
}

/**
 * The one-time password of a moment (RFC 6238, over RFC 4226).
 *
 * @param key the decoded secret
 * @param at epoch milliseconds
 */
export function totp(key: Uint8Array, { algorithm, digits, periodMs }: TotpPolicy, at: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / periodMs)));
  const mac = createHmac(algorithm, key).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const code = (mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits;
  return String(code).padStart(digits, '0');
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Decodes base32 (RFC 4648) as authenticator apps take it: any case, with or without spaces and padding. */
export function decodeBase32(text: string): Uint8Array | null {
  const letters = text.replaceAll(/[\s-]/g, '').replace(/=+$/, '').toUpperCase();
  const bytes: number[] = [];
  let [value, bits] = [0, 0];
  for (const letter of letters) {
    const index = alphabet.indexOf(letter);
    if (index === -1) return null;
    value = ((value << 5) | index) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return bytes.length === 0 ? null : Uint8Array.from(bytes);
}
