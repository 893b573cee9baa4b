import type { Unmeasured } from '../core/verdict.ts';
import type { BindSwitch } from './bind-switch.ts';
import type { FlowObservation } from './observation.ts';
import type { BindOffer } from './offer.ts';
import type { PassResult } from './passes.ts';
import type { PolicyKey } from './policy-keys.ts';
import type { ProofCheckName, ProofOutcome } from './proof.ts';
import type { PersonMark } from './state.ts';

/** One run of the passes, step by step. Plain JSON. */
export interface FlowRun {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** A run that was told not to bind. */
  readonly noBind: boolean;
  /** A person decided something else meanwhile, so that it ended where it was. */
  readonly calledOff: boolean;
  /** Null until it was read. */
  readonly observation: FlowObservation | null;
  readonly policy: PassResult | null;
  readonly requiredAction: PassResult | null;
  readonly flow: PassResult | null;
  /** What waits to be bound, as the flow pass came to it. */
  readonly offer: BindOffer | null;
  /** What this run built, as it was verified after its last write. */
  readonly built: VerifiedCandidate | null;
  /** Steps that this run has tried: each once, so that a run always ends. */
  readonly tried: readonly ('rollBack' | 'liftHold' | 'prove' | 'bind')[];
  /** What people are to hear of besides the results. */
  readonly events: readonly RunEvent[];
}

export interface RunEvent {
  readonly what: 'RolledBack' | 'RollbackFailed' | 'HoldLifted' | 'LostEdit';
  readonly message: string;
}

export interface VerifiedCandidate {
  readonly alias: string;
  readonly flowId: string;
  readonly treeHash: string;
  /** True where this workflow built it. */
  readonly ours: boolean;
}

/** A run that has read nothing yet. */
export function newRun(id: string, now: number, options: { readonly noBind?: boolean } = {}): FlowRun {
  return {
    id,
    startedAt: now,
    noBind: options.noBind ?? false,
    calledOff: false,
    observation: null,
    policy: null,
    requiredAction: null,
    flow: null,
    offer: null,
    built: null,
    tried: [],
    events: [],
  };
}

/** What is to be done next. Each is one activity, safe to repeat. */
export type RunCommand =
  /** Binds the previous alias, with the hold in the same PUT. */
  | { readonly do: 'rollBack'; readonly hold: PersonMark }
  | { readonly do: 'liftHold'; readonly by: string }
  | { readonly do: 'observe' }
  | { readonly do: 'writePolicy'; readonly keys: readonly PolicyKey[] }
  | { readonly do: 'writeRequiredAction' }
  | { readonly do: 'construct'; readonly candidate: string }
  | {
      readonly do: 'prove';
      readonly candidate: string;
      readonly flowId: string;
      readonly treeHash: string;
      readonly checks: readonly ProofCheckName[];
    }
  | BindCommand
  | { readonly do: 'done' };

/** True for what a person asked for outright: it is done while passes are paused, and no other word calls it off. */
export function isAskedByPerson({ do: what }: Pick<RunCommand, 'do'>): boolean {
  return what === 'rollBack' || what === 'liftHold';
}

/**
 * Verifies the candidate anew, reads what is bound and the bind switch again, and sends one PUT. Anything that is not as
 * it says here stops it before that.
 */
export interface BindCommand {
  readonly do: 'bind';
  readonly candidate: string;
  readonly flowId: string;
  readonly treeHash: string;
  /** What is bound, as it was read at the start of the run. */
  readonly from: string;
  /** What the switch said. */
  readonly bindSwitch: BindSwitch;
  readonly by: string;
  readonly away: readonly number[];
}

/** What came of a write. */
export type WriteOutcome =
  /** It took effect, as was read back. */
  | {
      readonly kind: 'written';
      readonly message: string;
      /** Edits of others that it went over, with the values that were lost. */
      readonly lost?: readonly string[];
      /** What could not be looked at afterwards, such as events that the realm does not keep. */
      readonly notVerified?: readonly string[];
    }
  /** Nothing was written: something is no longer as it was read, or it was refused. */
  | { readonly kind: 'stopped'; readonly reason: string; readonly message: string }
  /** Nothing was written: what must be known before could not be read. */
  | { readonly kind: 'notRead'; readonly message: string }
  /** It was sent, and is not what was read back; or the server refused it. */
  | { readonly kind: 'failed'; readonly reason: string; readonly message: string }
  /** It is not known whether it took effect. */
  | Unmeasured;

/** What came of a build. */
export type BuildOutcome =
  /** Verified by reading all of it back. */
  | { readonly kind: 'built'; readonly flowId: string; readonly treeHash: string }
  /** The candidate is given up. `created` is false where not even its flow was. */
  | { readonly kind: 'left'; readonly why: string; readonly created: boolean }
  | { readonly kind: 'failed'; readonly reason: string; readonly message: string }
  | Unmeasured;

/** What came of a command. */
export type RunResult =
  | { readonly did: 'rollBack'; readonly outcome: WriteOutcome }
  | { readonly did: 'liftHold'; readonly outcome: WriteOutcome }
  | { readonly did: 'observe'; readonly observation: FlowObservation }
  | { readonly did: 'writePolicy'; readonly outcome: WriteOutcome }
  | { readonly did: 'writeRequiredAction'; readonly outcome: WriteOutcome }
  | { readonly did: 'construct'; readonly candidate: string; readonly outcome: BuildOutcome }
  | { readonly did: 'prove'; readonly candidate: string; readonly treeHash: string; readonly outcome: ProofOutcome }
  | { readonly did: 'bind'; readonly command: BindCommand; readonly outcome: WriteOutcome };
