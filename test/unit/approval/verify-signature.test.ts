import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redact } from '../../../src/domain/core/redact.ts';
import { createApprovalActivities, verifySignature } from '../../../src/activities/approval/verify-signature.ts';
import { signCommand } from '../../../src/domain/core/approval.ts';
import { decodeBase64, encodeBase64 } from '../../../src/domain/core/base64.ts';
import { parsePublicKey } from '../../../src/domain/core/ssh-key.ts';
import { parseSshSignature } from '../../../src/domain/core/ssh-signature.ts';
import { wireReader, wireString } from '../../../src/domain/core/ssh-wire.ts';

// Made once by ssh-keygen of OpenSSH 9.2: keys of every kind, and signatures with each.
interface Recorded {
  planHash: string;
  keys: Record<string, { key: string; fingerprint: string }>;
  signatures: Record<string, string>;
  others: Record<'withLineFeed' | 'forGit' | 'sha256' | 'rsaSha256' | 'otherPlan', string>;
}
const recorded = JSON.parse(readFileSync(new URL('signatures.json', import.meta.url), 'utf8')) as Recorded;
const { planHash } = recorded;
const approvers = Object.entries(recorded.keys).map(([name, { key }]) => ({ name, key }));
const strong = Object.keys(recorded.keys).filter((name) => name !== 'rsa1024');

function signatureOf(name: string): string {
  return recorded.signatures[name] ?? '';
}

function refusal(approval: Partial<Parameters<typeof verifySignature>[0]>) {
  const answer = verifySignature({ planHash, signature: signatureOf('ed25519'), approvers, ...approval });
  return answer.ok ? undefined : answer.refusal;
}

describe('what ssh-keygen -Y sign made', () => {
  test.each(strong)('approves with a key of kind %s, and names who signed', (name) => {
    expect(verifySignature({ planHash, signature: signatureOf(name), approvers })).toEqual({
      ok: true,
      by: name,
      fingerprint: recorded.keys[name]?.fingerprint,
    });
  });

  test.each([
    ['withLineFeed', 'ed25519'],
    ['sha256', 'ed25519'],
    ['rsaSha256', 'rsa3072'],
  ] as const)('approves in the form %s too', (form, by) => {
    expect(verifySignature({ planHash, signature: recorded.others[form], approvers })).toMatchObject({ ok: true, by });
  });

  test('of another plan does not approve this one', () => {
    expect(refusal({ signature: recorded.others.otherPlan })).toEqual({
      reason: 'NotTheirs',
      message: `the signature of ed25519 is not over plan ${planHash}; sign it with: printf %s ${planHash} | ssh-keygen -Y sign -n holdfast -f ~/.ssh/id_ed25519`,
    });
  });

  test('for git does not approve', () => {
    expect(refusal({ signature: recorded.others.forGit })).toEqual({
      reason: 'Malformed',
      message: 'the signature is made for "git", not for "holdfast"; sign with -n holdfast',
    });
  });

  test('by somebody who is no approver does not approve', () => {
    const others = approvers.filter(({ name }) => name === 'ecdsa256' || name === 'rsa3072');
    expect(refusal({ approvers: others })).toEqual({
      reason: 'NotTheirs',
      message: `the key ${recorded.keys['ed25519']?.fingerprint ?? ''} is not that of an approver; approvers are ecdsa256, rsa3072`,
    });
  });

  test('with a weak RSA key does not approve', () => {
    expect(refusal({ signature: signatureOf('rsa1024') })).toEqual({
      reason: 'NotTheirs',
      message: 'the key of approver rsa1024 cannot be used: its 1024 bits are fewer than 2048',
    });
  });

  test.each(strong)('is worthless once a byte of the %s signature is changed', (name) => {
    const lines = signatureOf(name).trim().split('\n');
    const bytes = decodeBase64(lines.slice(1, -1).join('')) ?? new Uint8Array();
    const opened = parseSshSignature(signatureOf(name));
    if (!opened.ok) throw new Error(opened.message);
    const start = bytes.length - opened.value.signature.length;
    fc.assert(
      fc.property(fc.integer({ min: start, max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ flip : byte));
        const armored = [lines[0], encodeBase64(changed), lines.at(-1)].join('\n');
        expect(verifySignature({ planHash, signature: armored, approvers })).toMatchObject({ ok: false });
      }),
      { numRuns: 30 },
    );
  });

  test('passed off as made by another key does not approve', () => {
    // The envelope of one key around the signature of another.
    const mixed = resealed(signatureOf('ed25519'), (fields) => {
      fields[0] = decodeBase64(recorded.keys['ecdsa256']?.key.split(' ')[1] ?? '') ?? new Uint8Array();
    });
    expect(refusal({ signature: mixed })?.reason).toBe('NotTheirs');
  });

  test.each(['ssh-rsa', 'constructor', 'ssh-ed25519', 'rsa-sha2-256'])(
    'that calls itself %s is not what an RSA key made with SHA-512',
    (algorithm) => {
      const renamed = resealed(recorded.others.rsaSha256, (fields) => {
        const inner = wireReader(fields[4] ?? new Uint8Array());
        inner.text();
        fields[4] = Buffer.concat([wireString(algorithm), wireString(inner.bytes() ?? '')]);
      });
      expect(refusal({ signature: renamed })?.reason).toBe('NotTheirs');
    },
  );
});

describe('what is no signature', () => {
  test.each([
    [
      '',
      'expected the output of ssh-keygen -Y sign as it is, from its line BEGIN SSH SIGNATURE to its line END SSH SIGNATURE',
    ],
    [
      'yes',
      'expected the output of ssh-keygen -Y sign as it is, from its line BEGIN SSH SIGNATURE to its line END SSH SIGNATURE',
    ],
    [armor('a'), 'the signature is not base64 between its first and last line'],
    [armor('AAAA'), 'the signature does not begin with SSHSIG'],
    [armor(encodeBase64(Buffer.from('SSHSIG'))), 'expected version 1 of the signature, got none'],
    [armor(encodeBase64(Buffer.from('SSHSIG\0\0\0\x02'))), 'expected version 1 of the signature, got 2'],
    [armor(encodeBase64(Buffer.from('SSHSIG\0\0\0\x01'))), 'the signature is cut off'],
    [
      resealed(signatureOf('ed25519'), (fields) => fields.push(new Uint8Array([1]))),
      'something follows the signature inside its base64',
    ],
    [
      resealed(signatureOf('ed25519'), (fields) => (fields[3] = Buffer.from('md5'))),
      'expected the hash sha256 or sha512, got md5',
    ],
    [resealed(signatureOf('ed25519'), (fields) => (fields[4] = Buffer.from('\0\0\0\x01'))), 'the signature is cut off'],
    [
      resealed(
        signatureOf('ed25519'),
        (fields) => (fields[4] = Buffer.concat([fields[4] ?? Buffer.of(), Buffer.of(0)])),
      ),
      'the signature is cut off',
    ],
    [
      resealed(signatureOf('ed25519'), (fields) => (fields[0] = wireString('sk-ssh-ed25519@openssh.com'))),
      'keys of type sk-ssh-ed25519@openssh.com cannot approve; use ssh-ed25519, ecdsa-sha2-nistp256, ecdsa-sha2-nistp384, ecdsa-sha2-nistp521, ssh-rsa',
    ],
  ])('%j is refused as malformed', (signature, message) => {
    expect(refusal({ signature })).toEqual({ reason: 'Malformed', message });
    // As the command line prints it.
    expect(redact(message)).toBe(message);
  });

  test('cut off anywhere it is refused, and nothing throws', () => {
    const bytes = decodeBase64(signatureOf('ecdsa256').trim().split('\n').slice(1, -1).join('')) ?? new Uint8Array();
    for (let length = 0; length < bytes.length; length++) {
      const cut = armor(encodeBase64(bytes.subarray(0, length)));
      expect(verifySignature({ planHash, signature: cut, approvers })).toMatchObject({ ok: false });
    }
  });

  test('whatever bytes stand in the place of key and signature, nothing throws', () => {
    const anyBytes = fc.uint8Array({ maxLength: 80 });
    fc.assert(
      fc.property(fc.constantFrom(...strong), anyBytes, anyBytes, (name, inside, signature) => {
        const type = recorded.keys[name]?.key.split(' ')[0] ?? '';
        const blob = Buffer.concat([wireString(type), inside]);
        const armored = resealed(signatureOf(name), (fields) => {
          fields[0] = blob;
          fields[4] = Buffer.concat([wireString(type), wireString(signature)]);
        });
        const approver = { name: 'x', key: `${type} ${encodeBase64(blob)}` };
        expect(verifySignature({ planHash, signature: armored, approvers: [approver] }).ok).toBe(false);
      }),
    );
  });

  test('an approver whose key cannot be read is named', () => {
    expect(refusal({ approvers: [{ name: 'ada', key: 'ssh-ed25519 ???' }] })).toEqual({
      reason: 'Malformed',
      message: 'the key of approver ada cannot be read: expected the base64 of a public key after its type',
    });
  });
});

test('the activity answers as the function does', async () => {
  const { verifyApproval } = createApprovalActivities();
  await expect(verifyApproval({ planHash, signature: signatureOf('ed25519'), approvers })).resolves.toMatchObject({
    ok: true,
  });
});

const noKeygen = spawnSync('ssh-keygen', ['-?']).error !== undefined;

test.skipIf(noKeygen)(
  'the command that people are told signs what is verified, with the ssh-keygen of this machine',
  () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-sign-'));
    try {
      const key = path.join(folder, 'key');
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
      const command = signCommand(planHash).replace('~/.ssh/id_ed25519', key);
      const signature = execFileSync('sh', ['-c', command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
      const publicKey = readFileSync(`${key}.pub`, 'utf8');
      const parsed = parsePublicKey(publicKey);
      expect(verifySignature({ planHash, signature, approvers: [{ name: 'ada', key: publicKey }] })).toEqual({
        ok: true,
        by: 'ada',
        fingerprint: parsed.ok ? parsed.value.fingerprint : '',
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

function armor(base64: string): string {
  return `-----BEGIN SSH SIGNATURE-----\n${base64}\n-----END SSH SIGNATURE-----\n`;
}

/** The same envelope with fields changed: key, namespace, reserved, hash, signature. */
function resealed(armored: string, change: (fields: Uint8Array[]) => unknown): string {
  const blob = decodeBase64(armored.trim().split('\n').slice(1, -1).join('')) ?? new Uint8Array();
  const reader = wireReader(blob.subarray(10));
  const fields = Array.from({ length: 5 }, () => reader.bytes() ?? new Uint8Array());
  change(fields);
  return armor(encodeBase64(Buffer.concat([blob.subarray(0, 10), ...fields.map((field) => wireString(field))])));
}
