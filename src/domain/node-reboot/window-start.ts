import { nextOpening, remaining } from '../core/window.ts';
import type { NodeRebootSpec } from './spec.ts';

/**
 * The first instant from `from` on, in epoch milliseconds, at which a window is open for as long as one node may take. An
 * open window that has too little left does not count.
 */
export function earliestStart({ windows, worstCase }: Pick<NodeRebootSpec, 'windows' | 'worstCase'>, from: number) {
  let at = from;
  // A clock change shortens one opening at most, and windows repeat by the week.
  for (let tries = 0; tries < 20; tries++) {
    const left = remaining(windows, at);
    if (left >= worstCase) return at;
    at = nextOpening(windows, at + left);
  }
  return at;
}
