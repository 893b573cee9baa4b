import { planHash } from '../core/plan-hash.ts';
import type { ProofOutcome } from './proof.ts';

/**
 * What a person approves: one candidate with the tree that was read back, in place of one flow, with what was shown of
 * it. Its hash changes when any of them does, so that an approval never covers something else.
 */
export interface BindOffer {
  readonly realm: string;
  /** The alias that is bound now. */
  readonly from: string;
  readonly candidate: string;
  readonly treeHash: string;
  readonly proof: ProofOutcome['kind'];
  /**
   * When something was bound last from here, as the realm says it, epoch milliseconds; null for never. A yes from before
   * a bind or a rollback is none to what is offered after it, so that no signature serves twice.
   */
  readonly after: number | null;
}

/** `sha256:` and 64 hexadecimal digits. */
export function offerHash(offer: BindOffer): string {
  return planHash(offer);
}
