import { clipped } from '../core/clipped.ts';
import { command } from './commands.ts';
import type { ReleaseStatus } from './status.ts';
import type { TargetStatus } from './target-status.ts';
import type { Waiting } from './waiting.ts';

/** How many targets the text names: Temporal bounds a workflow's details. */
const TARGETS_NAMED = 30;

/** A release as the Temporal UI shows it: Markdown, short, the targets that are not Current first. */
export function statusText(status: ReleaseStatus): string {
  const { waiting, pinned, rollout } = status;
  const notCurrent = status.targets.filter((t) => t.phase !== 'Current');
  const shown = [...notCurrent, ...status.targets.filter((t) => t.phase === 'Current')].slice(0, TARGETS_NAMED);
  const more = status.targets.length - shown.length;
  const lines = [
    `**${status.phase}** in ${status.effectiveMode}${status.modeReason === null ? '' : ` (${clip(status.modeReason)})`}`,
    ...(rollout === null ? [] : [`Rollout ${rollout.id}, plan \`${rollout.planHash}\``]),
    ...(waiting === null ? [] : [waits(waiting)]),
    ...(pinned === null ? [] : [`Pinned to ${pinned.image} by ${pinned.by}`]),
  ];
  return [
    lines.join('\n\n'),
    '',
    ...shown.map(targetText),
    ...(more > 0 ? [`- and ${more} more, all told by ${command('status', status.name)}`] : []),
  ].join('\n');
}

function waits(waiting: Waiting): string {
  const since = waiting.since === null ? '' : `, since ${waiting.since}`;
  return `Waits for ${clip(waiting.for)}${since} (${waiting.who}); next: ${clip(waiting.next)}`;
}

function targetText(target: TargetStatus): string {
  const step = target.step === null ? '' : `/${target.step}`;
  const reason = target.reason === '' ? '' : ` ${target.reason}`;
  return `- ${target.name}: ${target.phase}${step}${reason}, ${clip(target.message)}`;
}

function clip(text: string): string {
  return clipped(text, 300);
}
