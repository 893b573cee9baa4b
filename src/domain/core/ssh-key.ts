import { sha256 } from '@noble/hashes/sha2.js';
import { decodeBase64, encodeBase64 } from './base64.ts';
import { wireReader } from './ssh-wire.ts';

/** Kinds of keys that may approve. Certificates and security keys (`sk-…`) are not among them. */
export const sshKeyTypes = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
] as const;

/** One kind of key. */
export type SshKeyType = (typeof sshKeyTypes)[number];

/** A public key of OpenSSH. Plain JSON. */
export interface SshPublicKey {
  readonly type: SshKeyType;
  /** The key in SSH's wire form, as base64: what stands in an `authorized_keys` file. Two keys are one where this is. */
  readonly blob: string;
  /** As `ssh-keygen -l` prints it: `SHA256:…`. */
  readonly fingerprint: string;
}

/** A value, or why there is none. */
export type SshParse<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

/** Reads a public key as it stands in a `.pub` file: `ssh-ed25519 AAAA… comment`. */
export function parsePublicKey(text: string): SshParse<SshPublicKey> {
  const [type = '', blob = ''] = text.trim().split(/[ \t]+/);
  if (!isKeyType(type)) return refuse(`expected a key of type ${sshKeyTypes.join(', ')}, got "${type.slice(0, 40)}"`);
  const bytes = decodeBase64(blob);
  if (bytes === undefined || bytes.length === 0) return refuse('expected the base64 of a public key after its type');
  const key = publicKeyOf(bytes);
  if (!key.ok) return key;
  return key.value.type === type ? key : refuse(`the key says it is ${key.value.type}, and ${type} stands before it`);
}

/** A public key from its wire form, as it is inside a signature. */
export function publicKeyOf(bytes: Uint8Array): SshParse<SshPublicKey> {
  const type = wireReader(bytes).text();
  if (type === undefined || !isKeyType(type)) {
    const known = sshKeyTypes.join(', ');
    return refuse(`keys of type ${type ?? '(unreadable)'} cannot approve; use ${known}`);
  }
  if (!isWhole(type, bytes)) return refuse('the key is cut off, or something stands after its end');
  const fingerprint = `SHA256:${encodeBase64(sha256(bytes)).replace(/=+$/, '')}`;
  return { ok: true, value: { type, blob: encodeBase64(bytes), fingerprint } };
}

/** The fields after the type: the public key; exponent and modulus; the curve's name and a point. */
const fieldsOf: Readonly<Record<SshKeyType, number>> = {
  'ssh-ed25519': 1,
  'ecdsa-sha2-nistp256': 2,
  'ecdsa-sha2-nistp384': 2,
  'ecdsa-sha2-nistp521': 2,
  'ssh-rsa': 2,
};

function isWhole(type: SshKeyType, bytes: Uint8Array): boolean {
  const reader = wireReader(bytes);
  const fields = Array.from({ length: 1 + fieldsOf[type] }, () => reader.bytes());
  return reader.done() && fields.every((field) => field !== undefined && field.length > 0);
}

function isKeyType(type: string): type is SshKeyType {
  return (sshKeyTypes as readonly string[]).includes(type);
}

function refuse(message: string): { ok: false; message: string } {
  return { ok: false, message };
}
