import { planHash } from '../core/plan-hash.ts';
import type { Reading, Verdict } from '../core/verdict.ts';
import type { CampaignObservation } from './observation.ts';

/**
 * A hash over what a choice depends on, so that a wait need only end with what changes something. Left out are when it was
 * read, heartbeats, versions of objects and the words of readings that failed. What a gate fails for is in it: status names it.
 */
export function campaignFingerprint(observation: CampaignObservation): string {
  const { nodes, order, sentinels, lock, holderRun, foreignLock, incumbents, gates } = observation;
  return planHash([
    of(nodes, (all) =>
      all.map(({ name, uid, ready, unschedulable, cordonedBy, bootId, kernel }) => [
        ...[name, uid, ready, unschedulable, cordonedBy],
        ...[bootId, kernel],
      ]),
    ),
    of(order, (names) => names),
    Object.entries(sentinels).map(([node, sentinel]) => [node, of(sentinel, (value) => value)]),
    of(lock, ({ holder }) => (holder === null ? null : [holder.campaign, holder.run, holder.visit.step])),
    holderRun,
    of(foreignLock, (holder) => holder),
    incumbents.map(({ ref, state }) => [ref, of(state, (value) => value)]),
    gates.map(({ gate, verdict }) => [gate, ...whyNot(verdict)]),
  ]);
}

function whyNot(verdict: Verdict): readonly string[] {
  switch (verdict.kind) {
    case 'pass':
      return [verdict.kind];
    case 'fail':
      return [verdict.kind, verdict.reason, verdict.message];
    case 'unmeasured':
      return [verdict.kind, verdict.what, verdict.why];
  }
}

function of<T>(reading: Reading<T>, value: (read: T) => unknown): unknown {
  return reading.kind === 'read' ? { read: value(reading.value) } : { unmeasured: reading.why };
}
