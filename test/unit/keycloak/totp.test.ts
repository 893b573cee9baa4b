import { describe, expect, test } from 'vitest';
import { decodeBase32, totp, totpPolicy } from '../../../src/activities/keycloak/totp.ts';
import { desired, realm } from '../../domain/keycloak-flow/world.ts';

const ascii = (text: string) => new TextEncoder().encode(text);
const digits = '1234567890';
const keys = {
  sha1: ascii(digits.repeat(2)),
  sha256: ascii(digits.repeat(4).slice(0, 32)),
  sha512: ascii(digits.repeat(7).slice(0, 64)),
};

describe('a one-time password', () => {
  // RFC 6238, appendix B.
  test.each([
    [59, 'sha1', '94287082'],
    [59, 'sha256', '46119246'],
    [59, 'sha512', '90693936'],
    [1111111109, 'sha1', '07081804'],
    [1111111111, 'sha512', '99943326'],
    [1234567890, 'sha256', '91819424'],
    [2000000000, 'sha1', '69279037'],
    [20000000000, 'sha256', '77737706'],
    [20000000000, 'sha512', '47863826'],
  ] as const)('at second %i with %s is that of RFC 6238', (second, algorithm, code) => {
    expect(totp(keys[algorithm], { algorithm, digits: 8, periodMs: 30_000 }, second * 1_000)).toBe(code);
  });

  test('has its leading zeros', () => {
    expect(totp(keys.sha1, { algorithm: 'sha1', digits: 6, periodMs: 30_000 }, 1111111109_000)).toBe('081804');
  });

  test('is made as the realm says, and not where the realm has another kind', () => {
    const of = (fields: object) => totpPolicy({ ...realm(desired()), ...fields });
    const policy = { otpPolicyType: 'totp', otpPolicyAlgorithm: 'HmacSHA256', otpPolicyDigits: 8, otpPolicyPeriod: 60 };
    expect(of(policy)).toEqual({ kind: 'read', value: { algorithm: 'sha256', digits: 8, periodMs: 60_000 } });
    expect(of({ ...policy, otpPolicyType: 'hotp' }).kind).toBe('unmeasured');
    expect(of({ ...policy, otpPolicyAlgorithm: 'HmacMD5' }).kind).toBe('unmeasured');
    expect(of({}).kind).toBe('unmeasured');
  });
});

describe('a secret in base32', () => {
  // RFC 4648, section 10.
  test.each([
    ['MY======', 'f'],
    ['MZXQ====', 'fo'],
    ['MZXW6===', 'foo'],
    ['MZXW6YQ=', 'foob'],
    ['MZXW6YTB', 'fooba'],
    ['mzxw 6ytb oi', 'foobar'],
  ])('%s is read', (text, value) => {
    expect(decodeBase32(text)).toEqual(ascii(value));
  });

  test.each(['', '====', 'MZXW1', 'not base32!', 'M'])('%j is none', (text) => {
    expect(decodeBase32(text)).toBeNull();
  });
});
