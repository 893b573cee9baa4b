import { wishingNodes } from './observation.ts';
import { selectNode } from './select-node.ts';
import type { CampaignState } from './state.ts';
import type { NodeWish } from './status.ts';
import { iso, waitingOf } from './waiting.ts';

/**
 * Why a node is not rebooted now, as a sentence; null where it has its turn. What all of them wait for is worked out once, and
 * said in full for the one that goes first alone, since there may be hundreds.
 *
 * @param now epoch milliseconds
 */
export function whyNotNow(state: CampaignState, now: number): (name: string, reboot: NodeWish) => string | null {
  const { observation, visit, done } = state;
  const waiting = waitingOf(state, now);
  const first = firstOf(state);
  return (name, reboot) => {
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
        if (visit !== null) return `it is the turn of node ${visit.node} (${visit.phase})`;
        if (waiting === null) return 'it is being looked at';
        if (first === undefined || first === name) return `it waits for ${waiting.for}`;
        return `node ${first} goes first (${waiting.reason})`;
    }
  };
}

function firstOf({ spec, observation, done }: CampaignState): string | undefined {
  if (observation === null) return undefined;
  const selection = selectNode(spec, observation, done);
  if (selection.kind === 'next') return selection.next.node;
  return selection.kind === 'refused' ? selection.node : wishingNodes(observation)[0];
}
