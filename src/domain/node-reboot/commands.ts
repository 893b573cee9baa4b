import { signCommand } from '../core/approval.ts';
import type { NodeRebootSpec } from './spec.ts';

/*
 * Commands as messages name them: complete, so that people can paste them. What a message says without its object, or
 * without what else it needs, is refused when they do.
 */

/** Commands that are about one NodeReboot. */
export type CampaignVerb =
  'approve' | 'cancel' | 'force' | 'pause' | 'release-lock' | 'resume' | 'retry' | 'set-mode' | 'status';

/** `holdfast retry nodereboot/control-plane`, and what follows the object. */
export function command(verb: CampaignVerb, campaign: string, ...rest: readonly string[]): string {
  return ['holdfast', verb, `nodereboot/${campaign}`, ...rest].join(' ');
}

/** What approves a node; where the spec names approvers, with the signature that it needs. */
export function approveCommand(
  campaign: string,
  node: string,
  hash: string,
  { approvers }: Pick<NodeRebootSpec, 'approvers'>,
): string {
  const approve = command('approve', campaign, '--node', node, '--plan', hash);
  if (approvers === undefined) return approve;
  const signature = 'approval.sig';
  return `${signCommand(hash)} > ${signature} && ${approve} --signature ${signature}`;
}
