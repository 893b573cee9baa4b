import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { decodeBase64 } from './base64.ts';
import { publicKeyOf } from './ssh-key.ts';
import type { SshParse, SshPublicKey } from './ssh-key.ts';
import { wireReader, wireString } from './ssh-wire.ts';

/** The namespace of every signature (`ssh-keygen -Y sign -n holdfast`): one made for git or mail never approves. */
export const signatureNamespace = 'holdfast';

/** A signature as `ssh-keygen -Y sign` makes it (OpenSSH, PROTOCOL.sshsig), opened but not verified. */
export interface SshSignature {
  readonly key: SshPublicKey;
  readonly namespace: string;
  /** What the message was hashed with before it was signed. */
  readonly hash: 'sha256' | 'sha512';
  /** Such as `ssh-ed25519` or `rsa-sha2-512`. */
  readonly algorithm: string;
  readonly signature: Uint8Array;
}

const begin = '-----BEGIN SSH SIGNATURE-----';
const end = '-----END SSH SIGNATURE-----';
const magic = utf8ToBytes('SSHSIG');

/**
 * Opens an armored signature.
 *
 * @param armored the text from `-----BEGIN SSH SIGNATURE-----` to `-----END SSH SIGNATURE-----`
 */
export function parseSshSignature(armored: string): SshParse<SshSignature> {
  const text = armored.trim();
  if (!text.startsWith(begin) || !text.endsWith(end)) {
    // The lines themselves would look like a key to whoever scrubs the message.
    return refuse(
      'expected the output of ssh-keygen -Y sign as it is, from its line BEGIN SSH SIGNATURE to its line END SSH SIGNATURE',
    );
  }
  const blob = decodeBase64(text.slice(begin.length, -end.length).replace(/[\r\n\t ]/g, ''));
  if (blob === undefined) return refuse('the signature is not base64 between its first and last line');
  if (!magic.every((byte, index) => blob[index] === byte)) return refuse('the signature does not begin with SSHSIG');

  const reader = wireReader(blob.subarray(magic.length));
  const version = reader.number();
  if (version !== 1) return refuse(`expected version 1 of the signature, got ${version ?? 'none'}`);
  const [keyBytes, namespace, reserved] = [reader.bytes(), reader.text(), reader.bytes()];
  const [hash, signed] = [reader.text(), reader.bytes()];
  if (keyBytes === undefined || namespace === undefined || reserved === undefined || signed === undefined) {
    return refuse('the signature is cut off');
  }
  if (!reader.done()) return refuse('something follows the signature inside its base64');
  if (hash !== 'sha256' && hash !== 'sha512')
    return refuse(`expected the hash sha256 or sha512, got ${hash ?? 'none'}`);
  const key = publicKeyOf(keyBytes);
  if (!key.ok) return key;

  const inner = wireReader(signed);
  const [algorithm, signature] = [inner.text(), inner.bytes()];
  if (algorithm === undefined || signature === undefined || !inner.done()) return refuse('the signature is cut off');
  return { ok: true, value: { key: key.value, namespace, hash, algorithm, signature } };
}

/** The bytes that a signature in our namespace signs for a message: what a verifier is given. */
export function signedBytes(message: string, hash: SshSignature['hash']): Uint8Array {
  const digest = (hash === 'sha256' ? sha256 : sha512)(utf8ToBytes(message));
  return concatBytes(magic, wireString(signatureNamespace), wireString(''), wireString(hash), wireString(digest));
}

function refuse(message: string): { ok: false; message: string } {
  return { ok: false, message };
}
