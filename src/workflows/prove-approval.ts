import type { ApprovalToVerify, Approver } from '../domain/core/approver.ts';
import { refusal } from './hear-action.ts';
import { approvals } from './shared-activities.ts';

/** What a signature has proved of an approval. */
export interface ProvenApproval {
  /** The hash in full that was signed: the approval is about this, whatever else waits by now. */
  readonly plan: string;
  readonly verifiedBy: string;
  /** Fingerprint of the key. */
  readonly signedWith: string;
}

/**
 * Has a signature verified.
 *
 * @param by who claims to have signed
 * @param asked what is to have been signed, or why that is refused already
 * @param approversNow those of the spec as it stands when the answer is there
 * @throws ApplicationFailure `Refused` when it is none of an approver's, or the approvers were changed meanwhile
 */
export async function proveApproval(
  by: string,
  asked: ApprovalToVerify | { readonly message: string },
  approversNow: () => readonly Approver[] | undefined,
): Promise<ProvenApproval> {
  if ('message' in asked) throw refusal(asked.message);
  const answer = await approvals.verifyApproval.executeWithOptions({ summary: `signature of ${by}` }, [asked]);
  if (!answer.ok) throw refusal(answer.refusal.message);
  if (approversNow() !== asked.approvers) throw refusal('the spec was changed meanwhile; approve again');
  return { plan: asked.planHash, verifiedBy: answer.by, signedWith: answer.fingerprint };
}
