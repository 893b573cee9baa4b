import { selectNode } from './select-node.ts';
import type { CampaignState } from './state.ts';
import type { NodeWish } from './status.ts';
import { iso, waitingOf } from './waiting.ts';

/**
 * Why a node is not rebooted now, as a sentence; null where it has its turn.
 *
 * @param now epoch milliseconds
 */
export function whyNotNow(state: CampaignState, name: string, reboot: NodeWish, now: number): string | null {
  const { observation, visit, done } = state;
  switch (reboot) {
    case 'turn':
      return null;
    case 'none':
      return 'it wants no reboot';
    case 'done':
      return `it was rebooted at ${iso(done[name]?.at ?? now)}`;
    case 'unknown': {
      const sentinel = observation?.sentinels[name];
      return sentinel?.kind === 'unmeasured' ? sentinel.message : 'the cluster has no such node';
    }
    case 'wanted':
      return visit === null ? ofNext(state, name, now) : `it is the turn of node ${visit.node} (${visit.phase})`;
  }
}

/** What it waits for where it is next, and else who goes before it. */
function ofNext(state: CampaignState, name: string, now: number): string {
  const waiting = waitingOf(state, now);
  const why = waiting === null ? 'it is being looked at' : `it waits for ${waiting.for}`;
  const selection = state.observation === null ? null : selectNode(state.spec, state.observation, state.done);
  const first =
    selection?.kind === 'next' ? selection.next.node : selection?.kind === 'refused' ? selection.node : name;
  return first === name ? why : `node ${first} goes first, and ${why}`;
}
