import { appendEvidence, type EvidenceLog } from './evidence.ts';
import { redact } from './redact.ts';

/**
 * Keeps that a message without a sender to answer was refused, and why.
 *
 * @param now epoch milliseconds
 */
export function recordRefusal<State extends { readonly evidence: EvidenceLog }>(
  state: State,
  message: string,
  now: number,
): State {
  const evidence = appendEvidence(state.evidence, now, 'decision', redact(message), { outcome: 'refused' });
  return { ...state, evidence };
}
