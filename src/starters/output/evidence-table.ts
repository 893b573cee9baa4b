import { counted } from '../../domain/core/counted.ts';
import type { EvidenceEntry } from '../../domain/core/evidence.ts';
import { toSeconds } from './instants.ts';
import { table } from './table.ts';

/** An entry of the evidence as a history gives it, its instant written out. */
type Entry = Omit<EvidenceEntry, 'at'> & { readonly at: string };

const kinds: Readonly<Record<Entry['kind'], string>> = {
  reading: 'read',
  write: 'written',
  decision: 'decided',
  override: 'override',
  notVerified: 'not verified',
  outcome: 'came to',
  gap: '',
};

/**
 * What was decided and done, one line an entry.
 *
 * @param dropped how many entries were left out to keep it small
 */
export function evidenceTable(entries: readonly Entry[], dropped: number): string {
  const rows = entries.map(({ at, by, kind, outcome, message }) => [
    toSeconds(at),
    by ?? '-',
    outcome === 'refused' ? 'refused' : kinds[kind],
    message,
  ]);
  return [table(['WHEN', 'WHO', 'WHAT', ''], rows), ...leftOut(dropped)].join('\n');
}

/** The line that says how many entries are missing; none where none are. */
export function leftOut(dropped: number): string[] {
  if (dropped === 0) return [];
  return [
    `${counted(dropped, 'entry between the first and the last is', 'entries between the first and the last are')} left out`,
  ];
}
