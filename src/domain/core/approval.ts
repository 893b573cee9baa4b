import type { Approver } from './allowed-signers.ts';
import { namesPlanHash, planHashPattern, shortHash } from './plan-hash.ts';
import { parseSshSignature, signatureNamespace } from './ssh-signature.ts';
import type { SshSignature } from './ssh-signature.ts';

/**
 * What a decision is about. It always names it, so that what a person saw and what is carried out are the same: the
 * approval of one plan, digest or node never covers another.
 */
export type ApprovalSubject =
  | { readonly kind: 'plan'; readonly hash: string }
  | { readonly kind: 'digest'; readonly digest: string }
  | { readonly kind: 'node'; readonly node: string };

/** Why a decision is refused. Programs may branch on the reason; the message names the way out. */
export interface ApprovalRefusal {
  readonly reason: 'Malformed' | 'NotWaiting' | 'Stale' | 'NotTheirs';
  readonly message: string;
}

/** Accepted with the subject in full, or refused. */
export type ApprovalAnswer =
  { readonly ok: true; readonly subject: ApprovalSubject } | { readonly ok: false; readonly refusal: ApprovalRefusal };

/** A decision as it comes off the wire. */
export interface ApprovalRequest {
  readonly subject: ApprovalSubject;
  /** Who decides, as claimed. */
  readonly by: string;
}

/**
 * Judges a decision against what waits now.
 *
 * @param request what a person sent
 * @param waiting everything that a decision could be about at this moment
 * @returns the subject as it waits (a shortened hash in full), or the refusal
 */
export function checkApproval(request: ApprovalRequest, waiting: readonly ApprovalSubject[]): ApprovalAnswer {
  const { subject } = request;
  if (request.by.trim() === '') return refuse('Malformed', 'expected who decides this; give --by');
  const fault = faultOf(subject);
  if (fault !== undefined) return refuse('Malformed', fault);
  const alike = waiting.filter((other) => other.kind === subject.kind);
  const meant = alike.filter((other) => names(subject, other));
  const [one, another] = meant;
  if (one !== undefined && another === undefined) return { ok: true, subject: one };
  if (one !== undefined) {
    return refuse('Malformed', `${describeSubject(subject)} names ${meant.length} of what waits; give the whole hash`);
  }
  if (alike.length > 0) {
    const current = alike.map(describeSubject).join(', ');
    return refuse(
      'Stale',
      `${describeSubject(subject)} is not what waits; that is ${current}: look at it and decide anew`,
    );
  }
  const others =
    waiting.length === 0 ? 'nothing waits for a decision' : `${waiting.map(describeSubject).join(', ')} waits`;
  return refuse('NotWaiting', `${describeSubject(subject)} does not wait for a decision; ${others}`);
}

/** What a decision is about, in words. */
export function describeSubject(subject: ApprovalSubject): string {
  switch (subject.kind) {
    case 'plan':
      return `plan ${shortHash(subject.hash)}`;
    case 'digest':
      return `digest ${subject.digest}`;
    case 'node':
      return `node ${subject.node}`;
  }
}

/** The command with which an approver signs a plan. The hash is signed as it stands, without a line feed. */
export function signCommand(planHash: string): string {
  return `printf %s ${planHash} | ssh-keygen -Y sign -n ${signatureNamespace} -f ~/.ssh/id_ed25519`;
}

/**
 * The texts that a signature over a plan may be made of: the hash, and the hash with the line feed that `echo` adds. Both
 * say the same and nothing else.
 */
export function signedMessages(planHash: string): readonly string[] {
  return [planHash, `${planHash}\n`];
}

/** A signature that one of the approvers claims to have made. It is still to be verified. */
export type SignerAnswer =
  | { readonly ok: true; readonly approver: Approver; readonly signature: SshSignature }
  | { readonly ok: false; readonly refusal: ApprovalRefusal };

/**
 * Finds the approver of a signature, by the key inside it. Says nothing yet about whether the signature is right.
 *
 * @param armored the signature as `ssh-keygen -Y sign` prints it
 */
export function findSigner(armored: string, approvers: readonly Approver[]): SignerAnswer {
  const parsed = parseSshSignature(armored);
  if (!parsed.ok) return refuse('Malformed', parsed.message);
  const { key, namespace } = parsed.value;
  if (namespace !== signatureNamespace) {
    const message = `the signature is made for "${namespace}", not for "${signatureNamespace}"; sign with -n ${signatureNamespace}`;
    return refuse('Malformed', message);
  }
  const approver = approvers.find((other) => other.key.blob === key.blob);
  if (approver === undefined) {
    const known = approvers.map((other) => other.name).join(', ');
    const message = `the key ${key.fingerprint} is not that of an approver; approvers are ${known === '' ? 'none' : known}`;
    return refuse('NotTheirs', message);
  }
  return { ok: true, approver, signature: parsed.value };
}

function names(asked: ApprovalSubject, waiting: ApprovalSubject): boolean {
  if (asked.kind === 'plan' && waiting.kind === 'plan') return namesPlanHash(asked.hash, waiting.hash);
  if (asked.kind === 'digest' && waiting.kind === 'digest') return asked.digest === waiting.digest;
  return asked.kind === 'node' && waiting.kind === 'node' && asked.node === waiting.node;
}

function faultOf(subject: ApprovalSubject): string | undefined {
  switch (subject.kind) {
    case 'plan':
      return planHashPattern.test(subject.hash)
        ? undefined
        : `expected the hash of a plan, eight digits of it at least, got "${subject.hash.slice(0, 80)}"`;
    case 'digest':
      return /^sha256:[0-9a-f]{64}$/.test(subject.digest)
        ? undefined
        : `expected sha256: and 64 hexadecimal digits, got "${subject.digest.slice(0, 80)}"`;
    case 'node':
      return /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(subject.node)
        ? undefined
        : `expected the name of a node, got "${subject.node.slice(0, 80)}"`;
  }
}

function refuse(reason: ApprovalRefusal['reason'], message: string): { ok: false; refusal: ApprovalRefusal } {
  return { ok: false, refusal: { reason, message } };
}
