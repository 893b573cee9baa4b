import { own, setOwn } from '../core/own.ts';
import { accepted, refused, type ActionAnswer } from './action-answer.ts';
import type { ActionOf } from './actions.ts';
import { blockOfImage } from './block-list.ts';
import { command } from './commands.ts';
import { imageParts } from './deployed-image.ts';
import { targetName } from './spec.ts';
import type { ReleaseState, TargetMemory } from './state.ts';

/**
 * Tries again now: ends phases that outlived their rollout, cooldowns, the wait after a failed preflight, counted
 * drifts and a rejection. What is blocked stays blocked.
 */
export function retry(state: ReleaseState, action: ActionOf<'retry'>, now: number): ActionAnswer {
  const names = state.spec.targets.map(targetName);
  if (action.target !== undefined && !names.includes(action.target)) {
    return refused(`there is no target ${action.target}; the targets are: ${shown(names)}`);
  }
  const chosen = new Set(action.target === undefined ? names : [action.target]);
  const settled = new Set(state.evaluation?.targets.filter((t) => t.phase === 'Current').map((t) => t.name) ?? []);
  const failed = new Set<string | null>();
  const skipped: string[] = [];
  const targets: Record<string, TargetMemory> = { ...state.targets };
  for (const name of names) {
    if (!chosen.has(name)) continue;
    const memory = own(targets, name);
    // Nothing holds what was never read, and its marks are still to be read.
    if (memory === undefined) continue;
    if (memory.stuck !== null) failed.add(imageParts(memory.stuck.image).digest);
    const skips = action.skipPreflight && !settled.has(name);
    if (skips) skipped.push(name);
    const skip = skips ? { by: action.by, reason: action.reason, at: now } : null;
    setOwn(targets, name, tryAgain(memory, skip));
  }

  const ends = (image: string): boolean => action.target === undefined || failed.has(image);
  const over = state.blocked.filter((entry) => entry.cooldownOnly && ends(entry.image)).map((entry) => entry.image);
  const blocked = state.blocked
    .filter((entry) => !over.includes(entry.image))
    .map((entry) => (ends(entry.image) && entry.cooldownUntil > 0 ? { ...entry, cooldownUntil: 0 } : entry));
  const unblocked = { ...state.unblocked, ...Object.fromEntries(over.map((image) => [image, now])) };
  const stops = (state.stops ?? []).filter((stop) => action.target !== undefined && stop.target !== action.target);
  const approval = state.approval?.approved === false ? null : state.approval;
  const candidates = Object.fromEntries(
    Object.entries(state.candidates).map(([key, candidate]) => [key, { ...candidate, tried: false }]),
  );
  return accepted(
    { ...state, targets, blocked, unblocked, approval, candidates, stops },
    [
      `retries ${action.target ?? 'every target'} now`,
      ...(skipped.length === 0 ? [] : [`without the preflight gate on ${shown(skipped)}`]),
      ...stillBlocked(state, chosen, now),
    ].join('; '),
    { effect: 'evaluate' },
  );
}

function tryAgain(memory: TargetMemory, skipPreflight: TargetMemory['skipPreflight']): TargetMemory {
  return {
    ...memory,
    stuck: null,
    notBefore: 0,
    notBegun: null,
    drifts: null,
    skipPreflight: skipPreflight ?? memory.skipPreflight,
  };
}

function stillBlocked(state: ReleaseState, chosen: ReadonlySet<string>, now: number): string[] {
  const held = state.evaluation?.targets.find((t) => chosen.has(t.name) && t.reason === 'Blocked');
  if (held === undefined) return [];
  const { desiredLabel, desired } = held;
  const entry = blockOfImage(state, desired ?? '', desiredLabel, now);
  const until = command('unblock', state.name, entry?.image ?? imageParts(desired ?? '').digest ?? '');
  return [`${desiredLabel ?? desired ?? ''} stays blocked until ${until}`];
}

function shown(names: readonly string[]): string {
  return names.length <= 20 ? names.join(', ') : `${names.slice(0, 20).join(', ')} and ${names.length - 20} more`;
}
