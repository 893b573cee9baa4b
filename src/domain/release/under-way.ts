import type { RolloutState, TargetRollout } from './rollout.ts';

/** Steps in which something is written. */
const writes: ReadonlySet<TargetRollout['step']> = new Set(['Patching', 'Restoring', 'Passing', 'RollingBack']);

/**
 * What an answer that ends writing says of a write that is under way: none is sent any more, but a request that has left
 * already cannot be called back. Empty where there is none.
 */
export function underWay(rollout: RolloutState | null): string {
  const names = (rollout?.targets ?? []).filter(({ step }) => writes.has(step)).map(({ item }) => item.target);
  if (names.length === 0) return '';
  const shown = names.length <= 5 ? names.join(', ') : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more`;
  return `; a write to ${shown} is under way: no further try of it is sent, but one that was sent may still take effect`;
}
