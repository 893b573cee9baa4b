import { remaining } from '../core/window.ts';
import { adopted } from './adopt.ts';
import type { Waiting } from './command.ts';
import { effectiveMode } from './effective-mode.ts';
import { describeBlocking, judgeGates } from './gate.ts';
import { lockStanding, type LockRecord } from './lock.ts';
import { isLeftCordoned, leftCordoned } from './node.ts';
import { isApproved, offerHash, rebootOffer } from './offer.ts';
import { selectNode, type NextNode } from './select-node.ts';
import { sentinelId } from './sentinel.ts';
import type { CampaignState } from './state.ts';
import { newVisit, type Visit } from './visit.ts';
import { earliestStart } from './window-start.ts';

/** The visit that would begin now, or why none does. */
export function nextVisit(
  state: CampaignState,
  now: number,
): { readonly visit: Visit; readonly replaces: LockRecord | null } | { readonly waiting: Waiting } {
  const { observation, spec } = state;
  if (observation === null) return { waiting: { kind: 'unmeasured', message: 'nothing was read yet' } };
  const mode = effectiveMode(state);
  const { lock } = observation;
  if (lock.kind === 'unmeasured') return { waiting: { kind: 'unmeasured', message: lock.message } };
  const standing = lockStanding(lock.value, { campaign: state.name, run: state.run }, observation.holderRun);
  if (standing.kind === 'foreign') return { waiting: { kind: 'lock', message: standing.message } };
  if (standing.kind !== 'free') {
    const node = standing.record.visit.node;
    if (mode.mode !== 'Enforce') return { waiting: { kind: 'enforce', node, reasons: mode.reasons } };
    return { visit: adopted(standing.record.visit, now), replaces: standing.record };
  }
  const left = observation.nodes.kind === 'read' ? observation.nodes.value.find(isLeftCordoned) : undefined;
  if (left !== undefined) {
    return { waiting: { kind: 'refused', node: left.name, reason: 'LeftCordoned', message: leftCordoned(left) } };
  }
  const selection = selectNode(spec, observation, state.done);
  if (selection.kind === 'none') return { waiting: { kind: 'sentinel' } };
  if (selection.kind !== 'next') return { waiting: selection };
  const held = whatHolds(state, selection.next, mode, now);
  if (held !== null) return { waiting: held };
  const { node, sentinel, bootId } = selection.next;
  return { visit: newVisit(node, sentinelId(sentinel), sentinel.kernel, now, bootId), replaces: null };
}

/** P1, and the gates as they were seen from outside the lock. */
function whatHolds(
  state: CampaignState,
  next: NextNode,
  mode: ReturnType<typeof effectiveMode>,
  now: number,
): Waiting | null {
  const { spec, observation } = state;
  const { node } = next;
  if (mode.mode !== 'Enforce') return { kind: 'enforce', node, reasons: mode.reasons };
  const offer = rebootOffer(state, next);
  if (!isApproved(state, offer)) return { kind: 'approval', offer, hash: offerHash(state.name, offer) };
  if (remaining(spec.windows, now) < spec.worstCase) {
    return { kind: 'window', node, opensAt: earliestStart(spec, now) };
  }
  const foreign = observation?.foreignLock;
  if (foreign?.kind === 'unmeasured') return { kind: 'unmeasured', message: foreign.message };
  if (foreign?.kind === 'read' && foreign.value !== null) return { kind: 'lock', message: foreign.value };
  const { blocking } = judgeGates(observation?.gates ?? [], state.overrides, node, now, now);
  return blocking.length === 0 ? null : { kind: 'gates', node, message: describeBlocking(blocking) };
}
