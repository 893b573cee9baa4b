import { z } from 'zod';
import { findSigner } from './approval.ts';
import { parsePublicKey } from './ssh-key.ts';

/**
 * Somebody whose signature approves, in a spec. A key that cannot be read would approve nothing, and be noticed only
 * when somebody is to approve.
 */
export const approverSchema = z.strictObject({
  name: z.string().min(1).describe('Who it is, as history names them.'),
  key: z
    .string()
    .superRefine((key, context) => {
      const parsed = parsePublicKey(key);
      if (!parsed.ok) context.addIssue({ code: 'custom', message: parsed.message });
    })
    .describe('An OpenSSH public key, as it stands in a .pub file.'),
});

export type Approver = z.output<typeof approverSchema>;

/** True for an approval whose signature is still to be verified: it counts once `verifiedBy` names who signed. */
export function needsVerification(
  { spec }: { readonly spec: { readonly approvers?: readonly Approver[] | undefined } },
  action: { readonly signature?: string | undefined; readonly verifiedBy?: string | undefined },
): boolean {
  return spec.approvers !== undefined && action.verifiedBy === undefined && action.signature !== undefined;
}

/** What an approver is to have signed: what the approval is about, by its hash in full. */
export interface ApprovalToVerify {
  readonly planHash: string;
  readonly signature: string;
  readonly approvers: Approver[];
}

/** What is to be verified about a signature, or why it is refused already: it is none of an approver's. */
export function signatureToVerify(
  planHash: string,
  signature: string,
  approvers: Approver[],
): ApprovalToVerify | { readonly message: string } {
  const known = approvers.flatMap(({ name, key }) => {
    const parsed = parsePublicKey(key);
    return parsed.ok ? [{ name, key: parsed.value }] : [];
  });
  const signer = findSigner(signature, known);
  return signer.ok ? { planHash, signature, approvers } : { message: signer.refusal.message };
}
