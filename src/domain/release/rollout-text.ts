import type { RolloutState } from './rollout.ts';

/** How many targets the text names: Temporal bounds a workflow's details. */
const TARGETS_NAMED = 30;

/** A rollout as the Temporal UI shows it: Markdown, short, the targets that are under way first. */
export function rolloutText(state: RolloutState): string {
  const done = state.targets.filter((t) => t.step === 'Done');
  const active = state.targets.filter((t) => t.step !== 'Done' && t.step !== 'Waiting');
  const waiting = state.targets.filter((t) => t.step === 'Waiting');
  const shown = [...active, ...done, ...waiting].slice(0, TARGETS_NAMED);
  const lines = [
    `Rollout **${state.id}**: ${done.length} of ${state.targets.length} targets done`,
    ...(state.mode === 'Enforce' ? [] : [`Frozen: the mode is ${state.mode}, so nothing is written`]),
    ...(state.paused ? ['Paused: nothing is begun or written until resumed'] : []),
    ...(state.stopped === null ? [] : [`No further target is started: ${state.stopped.message}`]),
  ];
  const targets = shown.map((t) => {
    const outcome = t.outcome === null ? t.step : `${t.outcome.phase} ${t.outcome.reason} ${t.outcome.message}`;
    return `- ${t.item.target}: ${outcome.trim()} (${t.item.toLabel})`;
  });
  const more = state.targets.length - shown.length;
  return [...lines, '', ...targets, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n');
}
