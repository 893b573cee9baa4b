import type { ReleaseStatus } from '../../domain/release/status.ts';
import { span, toSeconds } from '../output/instants.ts';
import { paintPhase } from '../output/paint.ts';
import { table } from '../output/table.ts';
import { shortImage } from './short-image.ts';

/**
 * Rollouts as `holdfast history` shows them.
 *
 * @param rollouts the newest first
 * @param all how many there ever were
 */
export function historyView(rollouts: ReleaseStatus['lastRollouts'], all: number): string {
  const rows = rollouts.flatMap((rollout) => [
    [
      rollout.id,
      toSeconds(rollout.startedAt),
      span(Date.parse(rollout.endedAt) - Date.parse(rollout.startedAt)),
      paintPhase(rollout.outcome),
      rollout.message,
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
