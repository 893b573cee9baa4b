import { clipped } from '../../domain/core/clipped.ts';
import { paintPhase } from '../output/paint.ts';
import { table } from '../output/table.ts';
import type { ReleaseStatus } from '../../domain/release/status.ts';
import type { Listed } from '../list-entities.ts';

/** Releases as `holdfast get` lists them. */
export function listView(listed: readonly Listed<ReleaseStatus>[]): string {
  return table(['NAME', 'PHASE', 'MODE', 'CURRENT', 'WANTED', 'WAITS FOR'], listed.map(row));
}

function row({ name, status, problem }: Listed<ReleaseStatus>): string[] {
  const object = `release/${name}`;
  if (status === null) return [object, 'no answer', '-', '-', '-', problem];
  const { targets, mode, effectiveMode, waiting } = status;
  const current = targets.filter((target) => target.phase === 'Current').length;
  const labels = [...new Set(targets.flatMap((target) => target.label ?? []))];
  return [
    object,
    paintPhase(status.phase),
    mode === effectiveMode ? mode : `${mode} (${effectiveMode})`,
    `${current}/${targets.length}`,
    labels.length <= 2 ? labels.join(', ') || '-' : `${labels[0]} and ${labels.length - 1} more`,
    waiting === null ? '-' : `${clipped(waiting.for, 100)} (${waiting.who})`,
  ];
}
