import { clipped } from '../../domain/core/clipped.ts';
import type { NodeRebootStatus } from '../../domain/node-reboot/status.ts';
import type { Listed } from '../list-entities.ts';
import { paintPhase } from '../output/paint.ts';
import { table } from '../output/table.ts';

/** NodeReboots as `holdfast get` lists them. */
export function rebootListView(listed: readonly Listed<NodeRebootStatus>[]): string {
  return table(['NAME', 'PHASE', 'MODE', 'CLUSTER', 'NODE', 'DONE', 'WANTED', 'WAITS FOR'], listed.map(row));
}

function row({ name, status, problem }: Listed<NodeRebootStatus>): string[] {
  const object = `nodereboot/${name}`;
  if (status === null) return [object, 'no answer', '-', '-', '-', '-', '-', problem];
  const { mode, effectiveMode, cluster, turn, nodes, waiting } = status;
  return [
    object,
    paintPhase(status.phase),
    mode === effectiveMode ? mode : `${mode} (${effectiveMode})`,
    cluster,
    turn?.node ?? '-',
    `${nodes.filter(({ reboot }) => reboot === 'done').length}`,
    `${nodes.filter(({ reboot }) => reboot === 'wanted').length}`,
    waiting === null ? '-' : `${clipped(waiting.for, 100)} (${waiting.who})`,
  ];
}
