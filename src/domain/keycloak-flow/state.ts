import type { Condition } from '../core/conditions.ts';
import type { EvidenceLog } from '../core/evidence.ts';
import type { FlowObservation } from './observation.ts';
import type { BindOffer } from './offer.ts';
import type { PassOutcome, PassResult } from './passes.ts';
import type { ProofOutcome } from './proof.ts';
import type { KeycloakFlowSpec } from './spec.ts';

/** What a KeycloakFlow remembers between passes and through continue-as-new. Plain JSON. */
export interface KeycloakFlowState {
  readonly name: string;
  readonly spec: KeycloakFlowSpec;
  /** Grows with each change of the spec. */
  readonly generation: number;
  readonly paused: PersonMark | null;
  /**
   * A person's hold on binding, as the realm says it or as it is about to: binding stops at once, before the realm
   * could be written.
   */
  readonly hold: PersonMark | null;
  /** A rollback that a person asked for and that is still to be carried out. */
  readonly rollback: PersonMark | null;
  /** The lifting of the hold that a person asked for and that is still to be carried out. */
  readonly lift: PersonMark | null;
  readonly approval: Approval | null;
  /** What a person turned down; it is not asked for again. */
  readonly rejection: Rejection | null;
  /** What waits to be bound, and since when; null where nothing does. */
  readonly pending: PendingBind | null;
  /** What was shown of candidates, by alias; of the newest few. */
  readonly proofs: Readonly<Record<string, KeptProof>>;
  /** Candidates that could not be built, by alias, with the reason. */
  readonly givenUp: Readonly<Record<string, string>>;
  /** Binding has stopped, since others bind the realm away again and again; until a retry. */
  readonly stopped: { readonly message: string; readonly at: number } | null;
  /** Epoch milliseconds; that others bound it away before then no longer counts. */
  readonly forgivenAt: number;
  /** As it was last read; null before the first time. */
  readonly observation: FlowObservation | null;
  readonly lastRun: RunSummary | null;
  /** The newest last; bounded. */
  readonly runs: readonly RunSummary[];
  readonly runCount: number;
  readonly binds: number;
  readonly rollbacks: number;
  readonly conditions: readonly Condition[];
  readonly evidence: EvidenceLog;
  /** What people were told of last, by what it is about, so that it is not told at each pass. */
  readonly told: Readonly<Record<string, string>>;
}

/** A verified candidate that waits. */
export interface PendingBind {
  readonly offer: BindOffer;
  readonly offerHash: string;
  /** One CamelCase word: what it waits for. */
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly since: number;
}

export interface PersonMark {
  readonly by: string;
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A person's yes to one candidate, as it was offered. */
export interface Approval extends PersonMark {
  readonly candidate: string;
  readonly treeHash: string;
  readonly offerHash: string;
  /** The person said that they know that no login was shown. */
  readonly withoutProof: boolean;
}

export interface Rejection extends PersonMark {
  readonly offerHash: string;
  readonly candidate: string;
}

export interface KeptProof {
  readonly treeHash: string;
  readonly outcome: ProofOutcome;
  /** When the run began that made it, in epoch milliseconds: a retry after that asks for another. */
  readonly at: number;
}

/** How a run ended. */
export interface RunSummary {
  readonly id: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: PassOutcome;
  readonly passes: readonly PassResult[];
}
