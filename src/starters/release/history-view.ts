import type { EvidenceView, ReleaseHistory, RolloutView } from '../../domain/release/history.ts';
import { span, toSeconds } from '../output/instants.ts';
import { paintPhase } from '../output/paint.ts';
import { table } from '../output/table.ts';
import { shortImage } from './short-image.ts';

/** Rollouts, and who decided what, as `holdfast history` shows them: the newest first. */
export function historyView({ lastRollouts, rollouts, evidence, dropped }: ReleaseHistory): string {
  const decided = decisions(evidence);
  return [
    ...(lastRollouts.length === 0 ? [] : [rolloutTable(lastRollouts.toReversed(), rollouts)]),
    ...(decided.length === 0 ? [] : [decisionTable(decided.toReversed(), dropped)]),
  ].join('\n\n');
}

/** What people did. How a rollout ended stands in the other table. */
function decisions(evidence: readonly EvidenceView[]): EvidenceView[] {
  return evidence.filter(({ kind }) => kind === 'decision' || kind === 'override');
}

function rolloutTable(rollouts: readonly RolloutView[], all: number): string {
  const rows = rollouts.flatMap((rollout) => [
    [
      rollout.id,
      toSeconds(rollout.startedAt),
      span(Date.parse(rollout.endedAt) - Date.parse(rollout.startedAt)),
      paintPhase(rollout.outcome),
      rollout.attempts === undefined ? rollout.message : `${rollout.message} (${rollout.attempts} attempts)`,
    ],
    ...rollout.targets.map((target) => [
      `  ${target.name}`,
      '',
      '',
      paintPhase(target.phase),
      `${shortImage(target.from)} to ${shortImage(target.to)}${target.reason === '' ? '' : `: ${target.reason}`}`,
    ]),
  ]);
  const older = all - rollouts.length;
  return [
    table(['ROLLOUT', 'STARTED', 'TOOK', 'OUTCOME', 'MESSAGE'], rows),
    ...(older > 0 ? [`${older} older ones are in Temporal's own history`] : []),
  ].join('\n');
}

function decisionTable(entries: readonly EvidenceView[], dropped: number): string {
  const rows = entries.map(({ at, by, kind, outcome, message }) => [
    toSeconds(at),
    by ?? '-',
    outcome ?? (kind === 'override' ? 'override' : 'accepted'),
    message,
  ]);
  return [
    table(['WHEN', 'WHO', 'DECISION', 'WHAT'], rows),
    ...(dropped > 0 ? [`${dropped} entries between the first and the last are left out`] : []),
  ].join('\n');
}
