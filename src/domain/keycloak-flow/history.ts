import { droppedEvidence, type EvidenceEntry } from '../core/evidence.ts';
import type { KeycloakFlowState } from './state.ts';
import { runStatus, type RunStatus } from './status.ts';

/**
 * What a KeycloakFlow has done and what people decided about it, as `history -o json` prints it. Fields are only ever
 * added. Instants are ISO strings; in every list the newest comes last.
 */
export interface KeycloakFlowHistory {
  readonly kind: 'KeycloakFlow';
  readonly name: string;
  /** How many there ever were. */
  readonly runs: number;
  readonly binds: number;
  readonly rollbacks: number;
  /** The last ones. */
  readonly lastRuns: readonly RunStatus[];
  /** Decisions, overrides, refusals and writes with who, what, why and when, and what was not verified. */
  readonly evidence: readonly FlowEvidence[];
  /** How many entries of the evidence were left out, so that it stays small. */
  readonly dropped: number;
}

export type FlowEvidence = Omit<EvidenceEntry, 'at'> & { readonly at: string };

/** The history of a KeycloakFlow, as far as it is kept. */
export function keycloakFlowHistory(state: KeycloakFlowState): KeycloakFlowHistory {
  const { name, runCount, binds, rollbacks, runs, evidence } = state;
  return {
    kind: 'KeycloakFlow',
    name,
    runs: runCount,
    binds,
    rollbacks,
    lastRuns: runs.map(runStatus),
    evidence: evidence.map((entry) => ({ ...entry, at: new Date(entry.at).toISOString() })),
    dropped: droppedEvidence(evidence),
  };
}
