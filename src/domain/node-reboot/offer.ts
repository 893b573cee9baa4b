import { planHash } from '../core/plan-hash.ts';
import type { NextNode } from './select-node.ts';
import { sentinelId } from './sentinel.ts';
import type { CampaignState } from './state.ts';

/** What a person is asked to approve: this node, on this boot, for these packages. */
export interface RebootOffer {
  readonly node: string;
  readonly bootId: string;
  readonly running: string;
  /** The kernel that it is to come back with; null where no package names one. */
  readonly kernel: string | null;
  readonly packages: readonly string[];
  /** Everything that the campaign has to do, by node: what an approval of the campaign covers. */
  readonly covers: Readonly<Record<string, string>>;
}

/** @param next the node whose turn it would be */
export function rebootOffer(
  state: Pick<CampaignState, 'spec' | 'observation' | 'personNext'>,
  next: NextNode,
): RebootOffer {
  const { node, bootId, running, sentinel } = next;
  const own = { [node]: sentinelId(sentinel) };
  const covers = asksPerNode(state) ? own : { ...everyWish(state), ...own };
  return { node, bootId, running, kernel: sentinel.kernel, packages: sentinel.packages, covers };
}

/** What an approval names. */
export function offerHash(campaign: string, offer: RebootOffer): string {
  return planHash({ campaign, ...offer });
}

/** True where each node is asked for by itself. */
export function asksPerNode({ spec, personNext }: Pick<CampaignState, 'spec' | 'personNext'>): boolean {
  return spec.approval === 'PerNode' || personNext !== null;
}

/** True where nobody needs to be asked, or somebody has said yes to just this. */
export function isApproved(state: CampaignState, offer: RebootOffer): boolean {
  if (state.spec.approval === 'None' && state.personNext === null) return true;
  const hash = offerHash(state.name, offer);
  if (asksPerNode(state)) return state.approvals.some((one) => one.offerHash === hash);
  return state.approvals.some(({ covers }) => covers[offer.node] === offer.covers[offer.node]);
}

function everyWish({ observation }: Pick<CampaignState, 'observation'>): Record<string, string> {
  const wishes: Record<string, string> = {};
  for (const [node, sentinel] of Object.entries(observation?.sentinels ?? {})) {
    if (sentinel.kind === 'read' && sentinel.value !== null) wishes[node] = sentinelId(sentinel.value);
  }
  return wishes;
}
