import type { ReleaseStatus } from '../../domain/release/status.ts';
import type { TargetStatus } from '../../domain/release/target-status.ts';
import { span, toSeconds } from '../output/instants.ts';
import { paint, paintPhase } from '../output/paint.ts';
import { table } from '../output/table.ts';
import { shortImage } from './short-image.ts';

/** A release as `holdfast status` shows it to people: how it is, what it waits for, what people decided, its targets. */
export function statusView(status: ReleaseStatus): string {
  const { waiting, pinned, paused, blocked, rollout, conditions } = status;
  const asOf = Date.parse(status.asOf);
  const facts: (readonly [string, string])[] = [
    ['Phase', paintPhase(status.phase)],
    ['Mode', modeOf(status)],
    ...(waiting === null
      ? []
      : ([
          ['Waits for', waiting.for],
          [
            '  since',
            waiting.since === null
              ? 'not known'
              : `${toSeconds(waiting.since)}, ${span(asOf - Date.parse(waiting.since))} ago`,
          ],
          ['  lifted by', waiting.who],
          ['  next', waiting.next],
        ] as const)),
    ...(rollout === null
      ? []
      : ([
          [
            'Rollout',
            `${rollout.id}, plan ${rollout.planHash}${rollout.stopped === null ? '' : `; stopped: ${rollout.stopped}`}`,
          ],
        ] as const)),
    ...(rollout === null && status.plan.items.length > 0
      ? ([['Plan', `${status.planHash}: ${status.plan.items.map((item) => item.target).join(', ')}`]] as const)
      : []),
    ...(paused === null ? [] : ([['Paused', `by ${decision(paused)}`]] as const)),
    ...(pinned === null ? [] : ([['Pinned', `${pinned.image} by ${decision(pinned)}`]] as const)),
    ...blocked.map(
      (entry) =>
        [
          entry.cooldownOnly ? 'Cooling' : 'Blocked',
          `${entry.image} by ${decision(entry)}${entry.cooldownUntil === null ? '' : `; not tried again before ${toSeconds(entry.cooldownUntil)}`}`,
        ] as const,
    ),
  ];
  const width = Math.max(...facts.map(([name]) => name.length)) + 1;
  return [
    paint('bold', `release/${status.name}`),
    ...facts.map(([name, value]) => `  ${`${name}:`.padEnd(width)} ${value}`),
    '',
    targetTable(status.targets),
    '',
    table(
      ['CONDITION', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'],
      conditions.map((c) => [c.type, c.status, c.reason, span(asOf - Date.parse(c.lastTransitionTime)), c.message]),
    ),
  ].join('\n');
}

function modeOf(status: ReleaseStatus): string {
  if (status.mode === status.effectiveMode) return status.mode;
  return `${status.mode}, held down to ${status.effectiveMode}: ${status.modeReason ?? 'no reason was given'}`;
}

function decision(who: { readonly by: string; readonly reason: string; readonly at: string }): string {
  return `${who.by} at ${toSeconds(who.at)}${who.reason === '' ? '' : ` (${who.reason})`}`;
}

function targetTable(targets: readonly TargetStatus[]): string {
  if (targets.length === 0) return 'No target was looked at yet.';
  return table(
    ['TARGET', 'PHASE', 'REASON', 'CURRENT', 'WANTED', 'MESSAGE'],
    targets.map((target) => [
      target.name,
      target.step === null ? paintPhase(target.phase) : `${paintPhase(target.phase)}/${target.step}`,
      target.reason === '' ? '-' : target.reason,
      shortImage(target.current),
      target.desired === target.current ? '=' : (target.label ?? shortImage(target.desired)),
      target.message,
    ]),
  );
}
