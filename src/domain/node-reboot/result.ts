import type { Reading, Verdict } from '../core/verdict.ts';
import type { GateReading } from './gate.ts';
import type { CampaignObservation } from './observation.ts';
import type { Sentinel } from './sentinel.ts';
import type { NodeBefore } from './visit.ts';

/**
 * What came of a command. Activities try again by themselves as long as nobody answers, so that each of these is an answer:
 * what could not be measured until the deadline says so.
 */
export type CampaignResult =
  | { readonly of: 'look'; readonly observation: CampaignObservation }
  /** A wait was cut short by a message, or its time was over. */
  | { readonly of: 'woken' }
  | { readonly of: 'page' }
  | VisitResult;

/** What came of a command that is about the node whose turn it is. Messages are sentences for people. */
export type VisitResult =
  | { readonly of: 'takeLock'; readonly outcome: 'held' | 'refused'; readonly message: string }
  | {
      readonly of: 'gatesBefore';
      readonly readings: readonly GateReading[];
      readonly before: Reading<NodeBefore>;
      /** When they were read, epoch milliseconds. */
      readonly at: number;
    }
  /** `stale`: nothing was written, since the gates were read too long ago by now. */
  | { readonly of: 'cordon'; readonly outcome: 'cordoned' | 'stale' | 'refused'; readonly message: string }
  | { readonly of: 'movePrimaries'; readonly verdict: Verdict }
  /** `interrupted`: a message came, and the drain can go on where it was. */
  | { readonly of: 'drain'; readonly outcome: 'drained' | 'blocked' | 'interrupted'; readonly message: string }
  | {
      readonly of: 'lastCheck';
      readonly readings: readonly GateReading[];
      readonly sentinel: Reading<Sentinel | null>;
      readonly at: number;
    }
  | { readonly of: 'reboot'; readonly outcome: RebootOutcome; readonly message: string }
  | { readonly of: 'awaitReturn'; readonly outcome: 'hung' | 'didNothing'; readonly message: string }
  | { readonly of: 'awaitReturn'; readonly outcome: 'returned'; readonly bootId: string; readonly message: string }
  | { readonly of: 'checkNode'; readonly verdict: Verdict; readonly kernel: string }
  | { readonly of: 'uncordon'; readonly outcome: 'done' | 'refused'; readonly message: string }
  | { readonly of: 'settle'; readonly verdict: Verdict }
  | { readonly of: 'restore'; readonly outcome: 'done' | 'refused'; readonly message: string }
  /** The lock says that it stopped, and why. */
  | { readonly of: 'noteStop'; readonly written: boolean }
  | { readonly of: 'releaseLock'; readonly message: string }
  /** The lock is not ours any more: nothing was done. */
  | { readonly of: 'lockLost'; readonly message: string };

/** One kind of result by its name. */
export type ResultOf<K extends CampaignResult['of']> = Extract<CampaignResult, { readonly of: K }>;

/**
 * `sent`: this boot was told to end, once. `stale`: nothing was sent, since what was read before is too old by now.
 * `rebooted`: it runs another boot already, and nothing was sent. `unknown`: nobody can tell whether it was sent, and it is
 * not sent again. `refused`: it was not sent, and will not be.
 */
export type RebootOutcome = 'sent' | 'stale' | 'rebooted' | 'unknown' | 'refused';
