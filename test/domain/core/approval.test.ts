import { describe, expect, test } from 'vitest';
import { parseAllowedSigner } from '../../../src/domain/core/allowed-signers.ts';
import {
  checkApproval,
  describeSubject,
  findSigner,
  signCommand,
  signedMessages,
} from '../../../src/domain/core/approval.ts';
import type { ApprovalSubject } from '../../../src/domain/core/approval.ts';
import { decodeBase64, encodeBase64 } from '../../../src/domain/core/base64.ts';
import { parsePublicKey } from '../../../src/domain/core/ssh-key.ts';

const hash = `sha256:${'43258cff783f'.padEnd(64, '0')}`;
const digest = `sha256:${'a'.repeat(64)}`;
const plan: ApprovalSubject = { kind: 'plan', hash };

describe('a decision is about what waits', () => {
  test.each<[ApprovalSubject, ApprovalSubject]>([
    [plan, plan],
    [{ kind: 'plan', hash: '43258cff' }, plan],
    [
      { kind: 'digest', digest },
      { kind: 'digest', digest },
    ],
    [
      { kind: 'node', node: 'node-1.example.com' },
      { kind: 'node', node: 'node-1.example.com' },
    ],
  ])('%j is %j', (subject, waiting) => {
    const others: ApprovalSubject[] = [{ kind: 'node', node: 'other' }, waiting];
    expect(checkApproval({ subject, by: 'ada' }, others)).toEqual({ ok: true, subject: waiting });
  });

  test.each<[string, ApprovalSubject, ApprovalSubject[], string]>([
    ['NotWaiting', plan, [], 'plan 43258cff783f does not wait for a decision; nothing waits for a decision'],
    [
      'NotWaiting',
      plan,
      [{ kind: 'node', node: 'n1' }],
      'plan 43258cff783f does not wait for a decision; node n1 waits',
    ],
    [
      'Stale',
      { kind: 'plan', hash: `sha256:${'b'.repeat(64)}` },
      [plan],
      'plan bbbbbbbbbbbb is not what waits; that is plan 43258cff783f: look at it and decide anew',
    ],
    [
      'Stale',
      { kind: 'node', node: 'n2' },
      [{ kind: 'node', node: 'n1' }],
      'node n2 is not what waits; that is node n1: look at it and decide anew',
    ],
    [
      'Stale',
      { kind: 'digest', digest: digest.replace(/a$/, 'b') },
      [{ kind: 'digest', digest }],
      `digest ${digest.replace(/a$/, 'b')} is not what waits; that is digest ${digest}: look at it and decide anew`,
    ],
    [
      'Malformed',
      { kind: 'plan', hash: '43258cff' },
      [plan, { kind: 'plan', hash: hash.replace(/0$/, '1') }],
      'plan 43258cff names 2 of what waits; give the whole hash',
    ],
    [
      'Malformed',
      { kind: 'plan', hash: '43258cf' },
      [plan],
      'expected the hash of a plan, eight digits of it at least, got "43258cf"',
    ],
    [
      'Malformed',
      { kind: 'digest', digest: 'sha256:abc' },
      [],
      'expected sha256: and 64 hexadecimal digits, got "sha256:abc"',
    ],
    [
      'Malformed',
      { kind: 'digest', digest: `x${digest}` },
      [],
      `expected sha256: and 64 hexadecimal digits, got "x${digest}"`,
    ],
    [
      'Malformed',
      { kind: 'digest', digest: `${digest}0` },
      [],
      `expected sha256: and 64 hexadecimal digits, got "${digest}0"`,
    ],
    ['Malformed', { kind: 'node', node: 'Node 1' }, [], 'expected the name of a node, got "Node 1"'],
    ['Malformed', { kind: 'node', node: 'node-' }, [], 'expected the name of a node, got "node-"'],
    ['Malformed', { kind: 'node', node: 'X'.repeat(100) }, [], `expected the name of a node, got "${'X'.repeat(80)}"`],
    [
      'Malformed',
      { kind: 'digest', digest: 'x'.repeat(100) },
      [],
      `expected sha256: and 64 hexadecimal digits, got "${'x'.repeat(80)}"`,
    ],
    [
      'Stale',
      { kind: 'node', node: 'a' },
      [
        { kind: 'node', node: 'n1' },
        { kind: 'node', node: 'n2' },
      ],
      'node a is not what waits; that is node n1, node n2: look at it and decide anew',
    ],
    [
      'NotWaiting',
      plan,
      [
        { kind: 'node', node: 'n1' },
        { kind: 'node', node: 'n2' },
      ],
      'plan 43258cff783f does not wait for a decision; node n1, node n2 waits',
    ],
    ['Malformed', { kind: 'node', node: '' }, [], 'expected the name of a node, got ""'],
    [
      'Malformed',
      { kind: 'plan', hash: 'x'.repeat(100) },
      [],
      `expected the hash of a plan, eight digits of it at least, got "${'x'.repeat(80)}"`,
    ],
  ])('%s: %j', (reason, subject, waiting, message) => {
    expect(checkApproval({ subject, by: 'ada' }, waiting)).toEqual({ ok: false, refusal: { reason, message } });
  });

  test('and somebody makes it', () => {
    expect(checkApproval({ subject: plan, by: ' ' }, [plan])).toEqual({
      ok: false,
      refusal: { reason: 'Malformed', message: 'expected who decides this; give --by' },
    });
  });

  test('is said in words', () => {
    expect(describeSubject(plan)).toBe('plan 43258cff783f');
    expect(describeSubject({ kind: 'digest', digest })).toBe(`digest ${digest}`);
    expect(describeSubject({ kind: 'node', node: 'n1' })).toBe('node n1');
  });
});

describe('what is signed', () => {
  test('is the hash of the plan, as printf or echo gives it', () => {
    expect(signedMessages(hash)).toEqual([hash, `${hash}\n`]);
    expect(signCommand(hash)).toBe(`printf %s ${hash} | ssh-keygen -Y sign -n holdfast -f ~/.ssh/id_ed25519`);
  });

  test('where there are no approvers, nobody is one', () => {
    const answer = findSigner(ed25519Signature, []);
    expect(answer).toEqual({
      ok: false,
      refusal: {
        reason: 'NotTheirs',
        message: `the key ${fingerprint} is not that of an approver; approvers are none`,
      },
    });
  });

  test('an approver is found by the key inside the signature', () => {
    const [other, ada] = [secondKey, key].map((text) => parsePublicKey(text));
    if (other?.ok !== true || ada?.ok !== true) throw new Error('both are keys');
    const approvers = [
      { name: 'bob', key: other.value },
      { name: 'eve', key: other.value },
    ];
    expect(findSigner(ed25519Signature, approvers)).toMatchObject({
      ok: false,
      refusal: { message: `the key ${fingerprint} is not that of an approver; approvers are bob, eve` },
    });
    expect(findSigner(ed25519Signature, [...approvers, { name: 'ada', key: ada.value }])).toMatchObject({
      ok: true,
      approver: { name: 'ada' },
      signature: { namespace: 'holdfast', hash: 'sha512', algorithm: 'ssh-ed25519' },
    });
    expect(findSigner('yes', approvers)).toMatchObject({ ok: false, refusal: { reason: 'Malformed' } });
  });
});

// Made by ssh-keygen.
const secondKey =
  'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBNXv7tjaAZWznpcYhZpolQzph7EEnfDDjn+y6qEViLEIqtTeb1ONZEcRYACE/JhiC4zzvcVpCl5AiEIZdxnYsPw= ecdsa256@example.com';
const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAJVnqyh6ozJJ9smLqu5RGrnqaBIj7RavdGODbRG8Ild ed25519@example.com';
const fingerprint = 'SHA256:7kaiiudoKD3FYdMTMmOfwrLwE0DpluNCNOV0y1S3o7g';
const ed25519Signature = `-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgAlWerKHqjMkn2yYuq7lEauepoE
iPtFq90Y4NtEbwiV0AAAAIaG9sZGZhc3QAAAAAAAAABnNoYTUxMgAAAFMAAAALc3NoLWVk
MjU1MTkAAABAPxFpmtTi4Ak6Yop/ea8nZS3qiYdYMBzHpd7SBy8sARif0I2KgJyvymAKrl
xfJVlp+eSwiwsLpIR5AmfaFsn0Ag==
-----END SSH SIGNATURE-----
`;

describe('public keys', () => {
  const blob = key.split(' ')[1] ?? '';

  test('are read with their fingerprint, whatever the comment', () => {
    const read = { ok: true, value: { type: 'ssh-ed25519', blob, fingerprint } };
    expect(parsePublicKey(key)).toEqual(read);
    expect(parsePublicKey(`  ssh-ed25519\t${blob}  a comment of several words\n`)).toEqual(read);
  });

  test.each([
    [
      '',
      'expected a key of type ssh-ed25519, ecdsa-sha2-nistp256, ecdsa-sha2-nistp384, ecdsa-sha2-nistp521, ssh-rsa, got ""',
    ],
    [
      `ssh-dss ${blob}`,
      'expected a key of type ssh-ed25519, ecdsa-sha2-nistp256, ecdsa-sha2-nistp384, ecdsa-sha2-nistp521, ssh-rsa, got "ssh-dss"',
    ],
    ['ssh-ed25519', 'expected the base64 of a public key after its type'],
    ['ssh-ed25519 ???', 'expected the base64 of a public key after its type'],
    [`ssh-rsa ${blob}`, 'the key says it is ssh-ed25519, and ssh-rsa stands before it'],
    [
      'ssh-rsa AAAAAA==',
      'keys of type  cannot approve; use ssh-ed25519, ecdsa-sha2-nistp256, ecdsa-sha2-nistp384, ecdsa-sha2-nistp521, ssh-rsa',
    ],
    [
      'ssh-rsa AAAA',
      'keys of type (unreadable) cannot approve; use ssh-ed25519, ecdsa-sha2-nistp256, ecdsa-sha2-nistp384, ecdsa-sha2-nistp521, ssh-rsa',
    ],
    [`ssh-ed25519 ${blob.slice(0, 64)}`, 'the key is cut off, or something stands after its end'],
    [
      `ssh-ed25519 ${encodeBase64(Uint8Array.of(...(decodeBase64(blob) ?? []), 0))}`,
      'the key is cut off, or something stands after its end',
    ],
  ])('%j is refused', (text, message) => {
    expect(parsePublicKey(text)).toEqual({ ok: false, message });
  });
});

describe('lines of an allowed_signers file', () => {
  const parsed = parsePublicKey(key);
  const value = parsed.ok ? parsed.value : undefined;

  test.each(['', '   ', '# ada ssh-ed25519 AAAA'])('%j says nothing', (line) => {
    expect(parseAllowedSigner(line)).toBeUndefined();
  });

  test.each([
    [`ada ${key}`, ['ada']],
    [`ada@example.com,bob ${key}`, ['ada@example.com', 'bob']],
    [`"ada l,bob" ${key}`, ['ada l', 'bob']],
    [`ada namespaces="holdfast" ${key}`, ['ada']],
    [`ada NAMESPACES="git,holdfast" ${key}`, ['ada']],
  ])('%j names %j', (line, names) => {
    expect(parseAllowedSigner(line)).toEqual({ ok: true, value: names.map((name) => ({ name, key: value })) });
  });

  test.each([
    ['ada', 'expected principals, then a key'],
    [`*@example.com ${key}`, 'expected names, got "*@example.com": patterns do not say who approved'],
    [`ada,!bob ${key}`, 'expected names, got "!bob": patterns do not say who approved'],
    [`ada, ${key}`, 'expected names, got "": patterns do not say who approved'],
    [`ada namespaces="git" ${key}`, 'the key may sign for the namespaces "git" only, not for holdfast'],
    [`ada namespaces ${key}`, 'the key may sign for the namespaces "" only, not for holdfast'],
    [`ada cert-authority ${key}`, 'the option cert-authority is not supported; only namespaces="holdfast" is'],
    [
      `ada namespaces="holdfast",valid-before="20300101" ${key}`,
      'the option valid-before is not supported; only namespaces="holdfast" is',
    ],
    [
      `ada valid-before=20300101 namespaces="holdfast" ${key}`,
      'expected a key of type ssh-ed25519, ecdsa-sha2-nistp256, ecdsa-sha2-nistp384, ecdsa-sha2-nistp521, ssh-rsa, got "valid-before=20300101"',
    ],
    ['ada ssh-ed25519 ???', 'expected the base64 of a public key after its type'],
    ['ada namespaces="holdfast" ssh-ed25519 ???', 'expected the base64 of a public key after its type'],
  ])('%j is refused', (line, message) => {
    expect(parseAllowedSigner(line)).toEqual({ ok: false, message });
  });
});
