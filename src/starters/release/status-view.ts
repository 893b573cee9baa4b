import type { ReleaseStatus } from '../../domain/release/status.ts';
import type { TargetStatus } from '../../domain/release/target-status.ts';
import { factLine, type Fact } from '../output/facts.ts';
import { span, toSeconds } from '../output/instants.ts';
import { paint, paintPhase } from '../output/paint.ts';
import { table } from '../output/table.ts';
import { shortImage } from './short-image.ts';

/** A release as `holdfast status` shows it to people: how it is, what it waits for, what people decided, its targets. */
export function statusView(status: ReleaseStatus): string {
  const facts: Fact[] = [
    ['Phase', paintPhase(status.phase)],
    ['Mode', modeOf(status)],
    ...waitingFacts(status),
    ...workFacts(status),
    ...decisionFacts(status),
    ['Evaluated', evaluatedAt(status)],
  ];
  return [
    paint('bold', `release/${status.name}`),
    ...facts.map(factLine),
    '',
    targetTable(status.targets),
    ...longMessages(status),
    '',
    conditionTable(status),
  ].join('\n');
}

function evaluatedAt({ evaluatedAt: at, asOf, rollout, phase }: ReleaseStatus): string {
  if (at === null) return 'not yet';
  const since = rollout === null && phase !== 'Suspended' ? '; at each poll since then nothing differed' : '';
  return `${toSeconds(at)}, ${ago(at, asOf)} ago${since}`;
}

function modeOf(status: ReleaseStatus): string {
  if (status.mode === status.effectiveMode) return status.mode;
  return `${status.mode}, held down to ${status.effectiveMode}: ${status.modeReason ?? 'no reason was given'}`;
}

function waitingFacts({ waiting, asOf }: ReleaseStatus): Fact[] {
  if (waiting === null) return [];
  const { since } = waiting;
  return [
    ['Waits for', waiting.for],
    ['  since', since === null ? 'not known' : `${toSeconds(since)}, ${ago(since, asOf)} ago`],
    ['  lifted by', waiting.who],
    ['  next', waiting.next],
  ];
}

function workFacts({ rollout, plan, planHash }: ReleaseStatus): Fact[] {
  if (rollout !== null) {
    const stopped = rollout.stopped === null ? '' : `; stopped: ${rollout.stopped}`;
    return [['Rollout', `${rollout.id}, plan ${rollout.planHash}${stopped}`]];
  }
  if (plan.items.length === 0) return [];
  return [['Plan', `${planHash}: ${plan.items.map((item) => item.target).join(', ')}`]];
}

function decisionFacts({ paused, pinned, blocked }: ReleaseStatus): Fact[] {
  return [
    ...(paused === null ? [] : [['Paused', `by ${decision(paused)}`] as const]),
    ...(pinned === null ? [] : [['Pinned', `${pinned.image} by ${decision(pinned)}`] as const]),
    ...blocked.map((entry): Fact => {
      const until = entry.cooldownUntil === null ? '' : `; not tried again before ${toSeconds(entry.cooldownUntil)}`;
      return [entry.cooldownOnly ? 'Cooling' : 'Blocked', `${entry.image} by ${decision(entry)}${until}`];
    }),
  ];
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

/** Messages with commands to look at things, in full; a table has only their first line. */
function longMessages({ targets, waiting }: ReleaseStatus): string[] {
  return targets
    .filter(({ message }) => message.includes('\n') && waiting?.for.includes(message) !== true)
    .map(({ name, message }) => `\n${name}: ${message}`);
}

function conditionTable({ conditions, asOf }: ReleaseStatus): string {
  return table(
    ['CONDITION', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'],
    conditions.map((c) => [c.type, c.status, c.reason, ago(c.lastTransitionTime, asOf), c.message]),
  );
}

function ago(instant: string, asOf: string): string {
  return span(Date.parse(asOf) - Date.parse(instant));
}
