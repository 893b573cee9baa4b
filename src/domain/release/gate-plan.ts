import { planHash } from '../core/plan-hash.ts';
import { approveCommand, command } from './commands.ts';
import { own } from '../core/own.ts';
import { earliest, heldAfterAll, type Consideration } from './consideration.ts';
import { hold, instant, type Hold } from './hold.ts';
import type { Observation } from './observation.ts';
import { isHeldReason, type PlanItem } from './plan.ts';
import { planOf } from './plan-terms.ts';
import { targetName } from './spec.ts';
import type { ReleaseState, TargetMemory } from './state.ts';
import { gateOfTimes, timeHold, type Times } from './time-hold.ts';

/** The targets once the plan as a whole was looked at, and what is left of the plan. */
export interface GatedPlan {
  readonly considered: readonly Consideration[];
  readonly items: readonly PlanItem[];
}

/** What holds the plan as a whole: blocks that are not known, a preflight that failed, a person who rejected it, the time. */
export function gatePlan(
  state: ReleaseState,
  observation: Observation,
  considered: readonly Consideration[],
  memories: ReadonlyMap<string, TargetMemory>,
  now: number,
): GatedPlan {
  const unread = unreadMarksHold(state, observation);
  const known = considered.map((c) => holdItem(c, (i) => (i.action === 'verify' || i.why === 'pin' ? null : unread)));
  const waited = afterLastAttempts(known, memories, now);
  const rejection = rejectionOf(state, itemsOf(waited));
  const decided = waited.map((c) => holdItem(c, () => rejection));
  const byTime = timeHold(state, now);
  const timed = decided.map((c) => holdItem(c, (i) => (i.action === 'verify' ? null : byTime)));
  return { considered: timed, items: itemsOf(timed) };
}

/** The next instant at which time alone may change the answer; null where it cannot. Always later than `now`. */
export function changesAt({ considered, items }: GatedPlan, times: Times, now: number): number | null {
  const lifted = considered.map((c) => c.until).reduce(earliest, null);
  const gate = gateOfTimes(times, now);
  if (items.length === 0 || gate.kind !== 'open' || !Number.isFinite(gate.remainingMs)) return lifted;
  return earliest(lifted, now + gate.remainingMs);
}

/**
 * Until a run has read the marks of every target once, a digest that an earlier run blocked may be among those it does
 * not know: what was not read is not absent. A workload that does not exist has no marks.
 */
function unreadMarksHold(state: ReleaseState, observation: Observation): Hold | null {
  for (const target of state.spec.targets) {
    const name = targetName(target);
    const seen = own(observation.targets, name)?.workload;
    if (own(state.targets, name) !== undefined || seen?.kind === 'read') continue;
    if (seen?.why === 'missing') continue;
    const why = seen?.message ?? 'it was not observed';
    return hold('MarksUnread', `${name} may carry a block from an earlier run, and it has not been read yet: ${why}`);
  }
  return null;
}

/** The order of the spec is the order of the rollout, so what comes after a target that could not begin waits for it. */
function afterLastAttempts(
  considered: readonly Consideration[],
  memories: ReadonlyMap<string, TargetMemory>,
  now: number,
): Consideration[] {
  const waiting = new Map<string, Hold>();
  return considered.map((c) =>
    holdItem(c, (item) => {
      const first = waiting.get(item.to);
      if (first !== undefined) return first;
      const { notBefore = 0, notBegun = null } = memories.get(item.target) ?? {};
      if (notBefore <= now) return null;
      const why = notBegun?.reason ?? '';
      const common = { reason: isHeldReason(why) ? why : ('PreflightFailed' as const), until: notBefore };
      const next = `${notBegun?.message ?? 'it could not begin'}; the next attempt is at ${instant(notBefore)}`;
      waiting.set(item.to, { ...common, message: `waits for ${item.target}: ${next}` });
      return { ...common, message: next };
    }),
  );
}

function holdItem(of: Consideration, why: (item: PlanItem) => Hold | null): Consideration {
  const against = of.item === null ? null : why(of.item);
  return against === null ? of : heldAfterAll(of, against);
}

function itemsOf(considered: readonly Consideration[]): PlanItem[] {
  return considered.map((c) => c.item).filter((item) => item !== null);
}

/** A rejection is of one plan: of another that comes about it says nothing. */
function rejectionOf({ approval, name, spec }: ReleaseState, items: readonly PlanItem[]): Hold | null {
  if (approval === null || approval.approved) return null;
  if (approval.planHash !== planHash(planOf(name, spec, items))) return null;
  const why = approval.reason === '' ? '' : `: ${approval.reason}`;
  return hold(
    'Rejected',
    `${approval.by} rejected this plan${why}; ${command('retry', name)} takes that back, and so does ${approveCommand(name, approval.planHash, spec)}`,
  );
}
