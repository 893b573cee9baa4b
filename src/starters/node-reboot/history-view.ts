import type { NodeRebootHistory } from '../../domain/node-reboot/history.ts';
import { toSeconds } from '../output/instants.ts';
import { table } from '../output/table.ts';
import { evidenceTable } from '../output/evidence-table.ts';

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
