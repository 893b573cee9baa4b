import type { Notification } from '../core/notification.ts';
import type { LockRecord } from './lock.ts';
import type { RebootOffer } from './offer.ts';

/** What the workflow is to do next. Asked again before anything has come of it, the state gives the same one. */
export type CampaignCommand =
  /** Read everything that a choice needs. */
  | { readonly do: 'look' }
  /** Wait until a message comes, what is read differs, or that instant. */
  | { readonly do: 'wait'; readonly for: Waiting; readonly until: number }
  | { readonly do: 'page'; readonly page: Notification }
  /** Take the lock; over from an earlier run where `replaces` says so. */
  | { readonly do: 'takeLock'; readonly record: LockRecord; readonly replaces: LockRecord | null }
  /** Read the gates, and how the node is before anything is done to it; after the drain once more. */
  | { readonly do: 'gatesBefore' | 'lastCheck'; readonly record: LockRecord }
  | StepCommand
  | { readonly do: 'done' };

/**
 * The steps that follow each other under the lock. Each first writes its record to the lock, on the condition that it is
 * still ours, and then does what it is named for: so that the lock always tells how far the node may be.
 */
export type StepName =
  | 'cordon'
  | 'movePrimaries'
  | 'drain'
  | 'reboot'
  | 'awaitReturn'
  | 'checkNode'
  | 'uncordon'
  | 'settle'
  | 'restore'
  /** Write to the lock that it stopped, and why: nothing else is done. */
  | 'noteStop'
  | 'releaseLock';

/** A step, and until when: epoch milliseconds. */
export type StepCommand = {
  [K in StepName]: { readonly do: K; readonly record: LockRecord; readonly deadline: number };
}[StepName];

/** What a campaign waits for. */
export type Waiting =
  | { readonly kind: 'sentinel' }
  | { readonly kind: 'approval'; readonly offer: RebootOffer; readonly hash: string }
  | { readonly kind: 'window'; readonly node: string; readonly opensAt: number }
  | { readonly kind: 'gates'; readonly node: string; readonly message: string }
  | { readonly kind: 'lock'; readonly message: string }
  | { readonly kind: 'enforce'; readonly node: string; readonly reasons: readonly string[] }
  | { readonly kind: 'resume' }
  | { readonly kind: 'refused'; readonly node: string; readonly reason: string; readonly message: string }
  | { readonly kind: 'unmeasured'; readonly message: string }
  | { readonly kind: 'person'; readonly reason: string; readonly message: string };

/** What waits or reads on and on; every other command ends by itself within moments, and is awaited. */
const interruptible: readonly CampaignCommand['do'][] = [
  'wait',
  'drain',
  'awaitReturn',
  'checkNode',
  'settle',
  'noteStop',
];

/** Whether a command that is under way is to be cut short, now that another one is due. */
export function isInterruptedBy(underWay: CampaignCommand, due: CampaignCommand): boolean {
  if (!interruptible.includes(underWay.do)) return false;
  if (underWay.do !== due.do) return true;
  // A wait for something else waits for other things to change.
  if (underWay.do === 'wait' && due.do === 'wait') return underWay.for.kind !== due.for.kind;
  return 'record' in underWay && 'record' in due && underWay.record.visit.step !== due.record.visit.step;
}
