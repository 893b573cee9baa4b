import { droppedEvidence, type EvidenceEntry } from '../core/evidence.ts';
import type { CampaignState } from './state.ts';
import { iso } from './waiting.ts';

/**
 * What a NodeReboot has done and what people decided about it, as `history -o json` prints it. Fields are only ever added.
 * Instants are ISO strings; in every list the newest comes last.
 */
export interface NodeRebootHistory {
  readonly kind: 'NodeReboot';
  readonly name: string;
  /** What has been rebooted. */
  readonly done: readonly {
    readonly node: string;
    readonly bootId: string;
    readonly kernel: string;
    readonly at: string;
  }[];
  /** Readings, writes, decisions, overrides and refusals with who, what, why and when, and what was not verified. */
  readonly evidence: readonly (Omit<EvidenceEntry, 'at'> & { readonly at: string })[];
  /** How many entries of the evidence were left out, so that it stays small. */
  readonly dropped: number;
}

/** The history of a NodeReboot, as far as it is kept. */
export function nodeRebootHistory({ name, done, evidence }: CampaignState): NodeRebootHistory {
  return {
    kind: 'NodeReboot',
    name,
    done: Object.entries(done)
      .map(([node, { bootId, kernel, at }]) => ({ node, bootId, kernel, at: iso(at) }))
      .sort((a, b) => (a.at < b.at ? -1 : 1)),
    evidence: evidence.map((entry) => ({ ...entry, at: new Date(entry.at).toISOString() })),
    dropped: droppedEvidence(evidence),
  };
}
