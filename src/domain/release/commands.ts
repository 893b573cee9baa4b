import { signCommand } from '../core/approval.ts';
import type { ResolvedLine } from './observation.ts';
import type { ReleaseSpec } from './spec.ts';
import { parseVersion } from './version.ts';

/*
 * Commands as messages name them: complete, so that people can paste them. What a message says without its object, or
 * without what else it needs, is refused when they do.
 */

/** Commands that are about one release. */
export type ReleaseCommand =
  | 'abort'
  | 'approve'
  | 'block'
  | 'pin'
  | 'reject'
  | 'release-ownership'
  | 'resume'
  | 'retry'
  | 'set-mode'
  | 'status'
  | 'unblock'
  | 'unpin';

/** `holdfast retry release/hive`, and what follows the object. */
export function command(verb: ReleaseCommand, release: string, ...rest: readonly string[]): string {
  return ['holdfast', verb, `release/${release}`, ...rest].join(' ');
}

/** What lets a plan or a step go on; where the spec names approvers, with the signature that it needs. */
export function approveCommand(
  release: string,
  planHash: string,
  { approvers }: Pick<ReleaseSpec, 'approvers'>,
): string {
  if (approvers === undefined) return command('approve', release, '--plan', planHash);
  const signature = 'approval.sig';
  const approve = command('approve', release, '--plan', planHash, '--signature', signature);
  return `${signCommand(planHash)} > ${signature} && ${approve}`;
}

/** What decides about a plan or a step, either way. */
export function decideCommands(release: string, planHash: string, spec: Pick<ReleaseSpec, 'approvers'>): string {
  return `${approveCommand(release, planHash, spec)}; or ${command('reject', release, '--plan', planHash)}`;
}

/** What ends a rollout, with either thing that may become of the target in progress. */
export function abortCommands(release: string): string {
  return `${command('abort', release, '--stop')} (or --roll-back)`;
}

/** What rolls just this image on purpose: a version names it, a tag that moves does not. */
export function pinCommand(release: string, { tag, digest }: Pick<ResolvedLine, 'tag' | 'digest'>): string {
  if (tag === null) return command('pin', release, digest);
  return command('pin', release, parseVersion(tag) === null ? `${tag}@${digest}` : tag);
}
