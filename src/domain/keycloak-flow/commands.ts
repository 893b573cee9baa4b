import { signCommand } from '../core/approval.ts';
import type { KeycloakFlowSpec } from './spec.ts';
import type { PendingBind } from './state.ts';

/*
 * Commands as messages name them: complete, so that people can paste them. What a message says without its object, or
 * without what else it needs, is refused when they do.
 */

/** Commands that are about one KeycloakFlow. */
export type FlowCommand =
  'approve' | 'lift-hold' | 'pause' | 'reject' | 'resume' | 'retry' | 'rollback' | 'set-mode' | 'status';

/** `holdfast retry keycloakflow/shop`, and what follows the object. */
export function command(verb: FlowCommand, flow: string, ...rest: readonly string[]): string {
  return ['holdfast', verb, `keycloakflow/${flow}`, ...rest].join(' ');
}

/** What is asked for, by what spec. */
export interface Asked {
  readonly name: string;
  readonly spec: Pick<KeycloakFlowSpec, 'approvers'>;
  readonly pending: PendingBind | null;
}

/** What approves the candidate that waits; where the spec names approvers, with the signature that it needs. */
export function approveCommand({ name, spec, pending }: Asked): string {
  if (pending === null) return 'nothing waits';
  const { offer, offerHash } = pending;
  const withoutProof = offer.proof === 'passed' ? [] : ['--without-proof'];
  const approve = command('approve', name, '--candidate', offer.candidate, '--plan', offerHash, ...withoutProof);
  if (spec.approvers === undefined) return approve;
  const signature = 'approval.sig';
  return `${signCommand(offerHash)} > ${signature} && ${approve} --signature ${signature}`;
}

/** What decides about the candidate that waits, either way. */
export function decideCommands(asked: Asked): string {
  if (asked.pending === null) return approveCommand(asked);
  const { offer, offerHash } = asked.pending;
  return `${approveCommand(asked)}; or ${command('reject', asked.name, '--candidate', offer.candidate, '--plan', offerHash)}`;
}
