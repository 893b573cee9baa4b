import type { LockRecord } from './lock.ts';
import { cordonManager, type NodeReading } from './node.ts';

/**
 * What is to become of a node, decided by the activity that has just read it and holds the lock: the write follows with
 * the resource version that was read, so that it is refused when anything has changed since.
 */
export type NodeWriteJudgement =
  | { readonly kind: 'write' }
  /** It is so already: the answer to an earlier try was lost. */
  | { readonly kind: 'done'; readonly message: string }
  /** Nothing is written, since what it rests on was read too long ago. */
  | { readonly kind: 'stale'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string };

/** P4. @param deadline until when the gates that were read may be relied on, epoch milliseconds */
export function judgeCordon(node: NodeReading, record: LockRecord, deadline: number, now: number): NodeWriteJudgement {
  const { name, bootId, unschedulable, cordonedBy, lastVisitAt } = node;
  const { before, startedAt } = record.visit;
  if (before === null) throw new Error(`node ${name} was not looked at before it is cordoned`);
  if (cordonedBy?.campaign === record.campaign && cordonedBy.run === record.run && unschedulable) {
    return { kind: 'done', message: `node ${name} is cordoned by us already` };
  }
  if (cordonedBy !== null) {
    return {
      kind: 'refused',
      message: `node ${name} carries the mark of campaign ${cordonedBy.campaign}; look at it and remove the mark`,
    };
  }
  if (lastVisitAt !== null && lastVisitAt >= startedAt) {
    return { kind: 'refused', message: `node ${name} was given back already, so that this cordon comes too late` };
  }
  if (bootId !== before.bootId) return { kind: 'refused', message: `node ${name} has rebooted by itself meanwhile` };
  if (unschedulable !== before.unschedulable) {
    return {
      kind: 'refused',
      message: `somebody has ${unschedulable ? 'cordoned' : 'uncordoned'} node ${name} meanwhile`,
    };
  }
  if (now > deadline) return { kind: 'stale', message: `the gates of node ${name} were read too long ago` };
  return { kind: 'write' };
}

/** P8, with a command that can be told to be the same one. @param told whether this boot was told to end already */
export function judgeReboot(
  node: NodeReading,
  record: LockRecord,
  told: boolean,
  deadline: number,
  now: number,
): NodeWriteJudgement | { readonly kind: 'rebooted'; readonly message: string } {
  const { name, bootId, unschedulable, cordonedBy } = node;
  if (told) return { kind: 'done', message: `node ${name} was told to reboot already` };
  if (bootId !== record.visit.before?.bootId) {
    return {
      kind: 'rebooted',
      message: `node ${name} runs boot ${bootId} already, and nobody here has told it to reboot`,
    };
  }
  if (!unschedulable || cordonedBy?.run !== record.run) {
    const message = `somebody has uncordoned node ${name} or taken our mark off: pods may be on it again`;
    return { kind: 'refused', message };
  }
  if (now > deadline)
    return { kind: 'stale', message: `what was read of the cluster before the reboot of ${name} is too old` };
  return { kind: 'write' };
}

/** The mark goes; the cordon too, unless it is that of a person. */
export type UncordonJudgement =
  { readonly kind: 'refused'; readonly message: string } | { readonly kind: 'write'; readonly uncordon: boolean };

/**
 * P11, and the way back before a reboot. A cordon is taken back only where it carries our mark; before the reboot only on the
 * boot that was cordoned, after it only on the boot that was checked. When the visit began is written to the node each time, also where no mark is, so that a cordon
 * which comes late, from a worker that was taken for dead, is refused.
 */
export function judgeUncordon(node: NodeReading, record: LockRecord): UncordonJudgement {
  const { name, cordonedBy, bootId, unschedulable } = node;
  const { rebootAt, bootedAs, before } = record.visit;
  if (cordonedBy === null) {
    if (!unschedulable || before === null || before.unschedulable) return { kind: 'write', uncordon: false };
    const message = `node ${name} is cordoned, and somebody has taken our mark off, so that nobody can say whose cordon it is: uncordon it, or say release-lock to leave it`;
    return { kind: 'refused', message };
  }
  if (cordonedBy.campaign !== record.campaign) {
    return { kind: 'refused', message: `node ${name} carries the mark of campaign ${cordonedBy.campaign}` };
  }
  // A node that rebooted by itself before it was told to is no better proven than one that was told.
  const proven = rebootAt === null ? (before?.bootId ?? bootId) : bootedAs;
  if (bootId !== proven) {
    return { kind: 'refused', message: `node ${name} runs boot ${bootId}, which nobody has checked` };
  }
  const cordonedByOthers = before?.unschedulable === true || (node.cordonManager ?? cordonManager) !== cordonManager;
  return { kind: 'write', uncordon: !cordonedByOthers };
}
