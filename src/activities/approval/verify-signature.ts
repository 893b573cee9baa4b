import { createPublicKey, verify } from 'node:crypto';
import type { JsonWebKey, KeyObject } from 'node:crypto';
import type { Approver } from '../../domain/core/allowed-signers.ts';
import { findSigner, signCommand, signedMessages } from '../../domain/core/approval.ts';
import type { ApprovalRefusal } from '../../domain/core/approval.ts';
import { decodeBase64 } from '../../domain/core/base64.ts';
import { parsePublicKey } from '../../domain/core/ssh-key.ts';
import type { SshPublicKey } from '../../domain/core/ssh-key.ts';
import { signedBytes } from '../../domain/core/ssh-signature.ts';
import type { SshSignature } from '../../domain/core/ssh-signature.ts';
import { wireReader } from '../../domain/core/ssh-wire.ts';

/** An approval with its signature, and who may approve. Plain JSON. */
export interface SignedApproval {
  /** The hash of the plan in full. */
  readonly planHash: string;
  /** As `ssh-keygen -Y sign -n holdfast` prints it. */
  readonly signature: string;
  /** Names and public keys as the spec has them. */
  readonly approvers: readonly { readonly name: string; readonly key: string }[];
}

/** Who signed, or why the approval is refused. */
export type SignatureAnswer =
  | { readonly ok: true; readonly by: string; readonly fingerprint: string }
  | { readonly ok: false; readonly refusal: ApprovalRefusal };

/** The least modulus of an RSA key, in bits. */
const leastRsaBits = 2048;

/**
 * Verifies that one of the approvers signed this plan's hash. Nothing is asked from outside; what is wrong is a refusal
 * and no exception, because no retry would change it.
 */
export function verifySignature(approval: SignedApproval): SignatureAnswer {
  const approvers: Approver[] = [];
  for (const { name, key } of approval.approvers) {
    const parsed = parsePublicKey(key);
    if (!parsed.ok) return refuse('Malformed', `the key of approver ${name} cannot be read: ${parsed.message}`);
    approvers.push({ name, key: parsed.value });
  }
  const found = findSigner(approval.signature, approvers);
  if (!found.ok) return found;

  const { approver, signature } = found;
  const key = cryptoKey(approver.key);
  if (!key.ok) return refuse('NotTheirs', `the key of approver ${approver.name} cannot be used: ${key.message}`);
  const right = signedMessages(approval.planHash).some((text) =>
    isRight(signature, key.value, signedBytes(text, signature.hash)),
  );
  if (right) return { ok: true, by: approver.name, fingerprint: approver.key.fingerprint };
  const message = `the signature of ${approver.name} is not over plan ${approval.planHash}; sign it with: ${signCommand(approval.planHash)}`;
  return refuse('NotTheirs', message);
}

/** The activities of approvals, as workflows see them. */
export type ApprovalActivities = ReturnType<typeof createApprovalActivities>;

/** The activities of approvals. They need no outside system, so that they have no port. */
export function createApprovalActivities() {
  return {
    verifyApproval: (approval: SignedApproval): Promise<SignatureAnswer> => Promise.resolve(verifySignature(approval)),
  };
}

function isRight(signature: SshSignature, key: KeyObject, data: Uint8Array): boolean {
  switch (signature.key.type) {
    case 'ssh-ed25519':
      return signature.algorithm === 'ssh-ed25519' && verify(null, data, key, signature.signature);
    case 'ssh-rsa':
      // The algorithm ssh-rsa itself means SHA-1, which never approves.
      if (signature.algorithm === 'rsa-sha2-256') return verify('sha256', data, key, signature.signature);
      return signature.algorithm === 'rsa-sha2-512' && verify('sha512', data, key, signature.signature);
    case 'ecdsa-sha2-nistp256':
    case 'ecdsa-sha2-nistp384':
    case 'ecdsa-sha2-nistp521': {
      const { hash, bytes } = curves[signature.key.type];
      const raw = signature.algorithm === signature.key.type ? rawEcdsa(signature.signature, bytes) : undefined;
      return raw !== undefined && verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, raw);
    }
  }
}

const curves = {
  'ecdsa-sha2-nistp256': { crv: 'P-256', hash: 'sha256', bytes: 32 },
  'ecdsa-sha2-nistp384': { crv: 'P-384', hash: 'sha384', bytes: 48 },
  'ecdsa-sha2-nistp521': { crv: 'P-521', hash: 'sha512', bytes: 66 },
} as const;

/** SSH writes r and s as two numbers with a sign; node:crypto wants both in full width. */
function rawEcdsa(signature: Uint8Array, width: number): Uint8Array | undefined {
  const reader = wireReader(signature);
  const [r, s] = [reader.bytes(), reader.bytes()];
  if (r === undefined || s === undefined || !reader.done()) return undefined;
  const [wideR, wideS] = [padded(r, width), padded(s, width)];
  return wideR === undefined || wideS === undefined ? undefined : Buffer.concat([wideR, wideS]);
}

function padded(number: Uint8Array, width: number): Uint8Array | undefined {
  const bytes = unsigned(number);
  if (bytes.length > width) return undefined;
  return Buffer.concat([Buffer.alloc(width - bytes.length), bytes]);
}

/** A number of SSH without the zero bytes that keep it from being negative. */
function unsigned(number: Uint8Array): Uint8Array {
  const first = number.findIndex((byte) => byte !== 0);
  return first === -1 ? new Uint8Array() : number.subarray(first);
}

function cryptoKey(key: SshPublicKey): { ok: true; value: KeyObject } | { ok: false; message: string } {
  const jwk = jsonWebKey(key);
  if (typeof jwk === 'string') return { ok: false, message: jwk };
  try {
    return { ok: true, value: createPublicKey({ key: jwk, format: 'jwk' }) };
  } catch {
    return { ok: false, message: 'it is no valid public key' };
  }
}

/** The key in the form that node:crypto imports, or why it has none. */
function jsonWebKey(key: SshPublicKey): JsonWebKey | string {
  const reader = wireReader(decodeBase64(key.blob) ?? new Uint8Array());
  reader.text();
  if (key.type === 'ssh-ed25519') {
    const x = reader.bytes();
    return x?.length === 32 && reader.done() ? { kty: 'OKP', crv: 'Ed25519', x: base64url(x) } : 'it is cut off';
  }
  if (key.type === 'ssh-rsa') {
    const [e, n] = [reader.bytes(), reader.bytes()];
    if (e === undefined || n === undefined || !reader.done()) return 'it is cut off';
    const modulus = unsigned(n);
    const bits = modulus.length * 8 - Math.clz32((modulus[0] ?? 0) << 24);
    if (bits < leastRsaBits) return `its ${bits} bits are fewer than ${leastRsaBits}`;
    return { kty: 'RSA', e: base64url(unsigned(e)), n: base64url(modulus) };
  }
  const { crv, bytes } = curves[key.type];
  reader.text();
  const point = reader.bytes();
  if (point?.length !== 1 + 2 * bytes || point[0] !== 4 || !reader.done()) return 'it is cut off or compressed';
  return { kty: 'EC', crv, x: base64url(point.subarray(1, 1 + bytes)), y: base64url(point.subarray(1 + bytes)) };
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}

function refuse(reason: ApprovalRefusal['reason'], message: string): { ok: false; refusal: ApprovalRefusal } {
  return { ok: false, refusal: { reason, message } };
}
