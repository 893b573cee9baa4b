import { counted } from '../../domain/core/counted.ts';
import type { EvidenceView, ReleaseHistory, RolloutView, RunningView } from '../../domain/release/history.ts';
import { span, toSeconds } from '../output/instants.ts';
import { paintPhase } from '../output/paint.ts';
import { table } from '../output/table.ts';
import { shortImage } from './short-image.ts';
import { leftOut } from '../output/evidence-table.ts';

/** Rollouts, and who decided what, as `holdfast history` shows them: the newest first. */
export function historyView({ rollout, lastRollouts, rollouts, evidence, dropped }: ReleaseHistory): string {
  const decided = decisions(evidence);
  return [
    ...(lastRollouts.length === 0 && rollout === null
      ? []
      : [rolloutTable(rollout, lastRollouts.toReversed(), rollouts)]),
    ...(decided.length === 0 ? [] : [decisionTable(decided.toReversed(), dropped)]),
  ].join('\n\n');
}

/** What people did. How a rollout ended stands in the other table. */
function decisions(evidence: readonly EvidenceView[]): EvidenceView[] {
  return evidence.filter(({ kind }) => kind === 'decision' || kind === 'override');
}

function rolloutTable(running: RunningView | null, rollouts: readonly RolloutView[], all: number): string {
  const ended = rollouts.flatMap((rollout) => [
    [
      rollout.id,
      toSeconds(rollout.startedAt),
      span(Date.parse(rollout.endedAt) - Date.parse(rollout.startedAt)),
      paintPhase(rollout.outcome),
      rollout.attempts === undefined ? rollout.message : `${rollout.message} (${rollout.attempts} attempts)`,
    ],
    ...targetRows(rollout.targets),
  ]);
  const now = running === null ? [] : [runningRow(running), ...targetRows(running.targets)];
  // The one that is under way is counted, too.
  const older = all - rollouts.length - (running === null ? 0 : 1);
  return [
    table(['ROLLOUT', 'STARTED', 'TOOK', 'OUTCOME', 'MESSAGE'], [...now, ...ended]),
    ...(older > 0 ? [`${counted(older, 'older one is', 'older ones are')} in Temporal's own history`] : []),
  ].join('\n');
}

function runningRow({ id, startedAt, message }: RunningView): string[] {
  return [id, toSeconds(startedAt), '', 'under way', message];
}

function targetRows(targets: RunningView['targets']): string[][] {
  return targets.map((target) => [
    `  ${target.name}`,
    '',
    '',
    paintPhase(target.phase),
    `${shortImage(target.from)} to ${shortImage(target.to)}${target.reason === '' ? '' : `: ${target.reason}`}`,
  ]);
}

function decisionTable(entries: readonly EvidenceView[], dropped: number): string {
  const rows = entries.map(({ at, by, kind, outcome, message }) => [
    toSeconds(at),
    by ?? '-',
    outcome ?? (kind === 'override' ? 'override' : 'accepted'),
    message,
  ]);
  return [table(['WHEN', 'WHO', 'DECISION', 'WHAT'], rows), ...leftOut(dropped)].join('\n');
}
