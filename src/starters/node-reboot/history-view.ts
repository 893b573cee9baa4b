import { counted } from '../../domain/core/counted.ts';
import type { NodeRebootHistory } from '../../domain/node-reboot/history.ts';
import { toSeconds } from '../output/instants.ts';
import { table } from '../output/table.ts';

type Evidence = NodeRebootHistory['evidence'][number];

/** What was rebooted, and what was decided and written, as `holdfast history` shows them: the newest first. */
export function rebootHistoryView({ done, evidence, dropped }: NodeRebootHistory): string {
  const happened = evidence.filter(({ kind }) => kind !== 'gap').toReversed();
  return [
    ...(done.length === 0 ? [] : [doneTable(done.toReversed())]),
    ...(happened.length === 0 ? [] : [evidenceTable(happened, dropped)]),
  ].join('\n\n');
}

function doneTable(done: NodeRebootHistory['done']): string {
  const rows = done.map(({ node, at, kernel, bootId }) => [node, toSeconds(at), kernel, bootId]);
  return table(['REBOOTED', 'WHEN', 'KERNEL', 'BOOT'], rows);
}

const kinds: Readonly<Record<Evidence['kind'], string>> = {
  reading: 'read',
  write: 'written',
  decision: 'decided',
  override: 'override',
  notVerified: 'not verified',
  outcome: 'came to',
  gap: '',
};

function evidenceTable(entries: readonly Evidence[], dropped: number): string {
  const rows = entries.map(({ at, by, kind, outcome, message }) => [
    toSeconds(at),
    by ?? '-',
    outcome === 'refused' ? 'refused' : kinds[kind],
    message,
  ]);
  return [
    table(['WHEN', 'WHO', 'WHAT', ''], rows),
    ...(dropped > 0
      ? [
          `${counted(dropped, 'entry between the first and the last is', 'entries between the first and the last are')} left out`,
        ]
      : []),
  ].join('\n');
}
