import { appendEvidence } from '../core/evidence.ts';
import type { Notification } from '../core/notification.ts';
import { flowConditions } from './flow-conditions.ts';
import { runNotifications } from './notifications.ts';
import { offerHash } from './offer.ts';
import { passNames, runOutcome, type PassResult } from './passes.ts';
import type { FlowRun } from './run.ts';
import type { KeycloakFlowState, PendingBind, RunSummary } from './state.ts';

const keptRuns = 20;

/** What a run leaves behind. */
export interface Finished {
  readonly state: KeycloakFlowState;
  /** Of a run that was called off, as far as it came; it counts for nothing. */
  readonly summary: RunSummary;
  readonly notifications: readonly Notification[];
}

/**
 * Ends a run: its results become what is known, and people are told what is new.
 *
 * @param now epoch milliseconds
 */
export function finishRun(state: KeycloakFlowState, run: FlowRun, now: number): Finished {
  const passes = passNames.map((name) => run[name]).filter((result): result is PassResult => result !== null);
  const outcome = runOutcome(passes);
  const summary: RunSummary = { id: run.id, startedAt: run.startedAt, endedAt: now, outcome, passes };
  // What it wrote is told all the same; what it did not come to says nothing of the realm.
  if (run.calledOff) {
    const { notifications, told } = runNotifications(state, run, now);
    return { state: { ...state, told }, summary, notifications };
  }
  // A run that came to nothing (suspended, or cut short before it read) changes nothing of what waits.
  const pending = run.flow === null || run.flow.outcome === 'Undetermined' ? state.pending : pendingOf(state, run, now);
  const kept: KeycloakFlowState = {
    ...state,
    pending,
    lastRun: summary,
    runs: [...state.runs, withoutDifferences(summary)].slice(-keptRuns),
    runCount: state.runCount + 1,
    conditions: flowConditions(state, passes, now),
    evidence: sameAsBefore(state.lastRun, summary)
      ? state.evidence
      : appendEvidence(state.evidence, now, 'outcome', describeRun(summary), { what: run.id, outcome }),
  };
  const { notifications, told } = runNotifications(kept, run, now);
  return { state: { ...kept, told }, summary, notifications };
}

function pendingOf(state: KeycloakFlowState, { offer, flow }: FlowRun, now: number): PendingBind | null {
  if (offer === null || flow === null) return null;
  const hash = offerHash(offer);
  const since = state.pending?.offerHash === hash ? state.pending.since : now;
  return { offer, offerHash: hash, reason: flow.reason, since };
}

/** What differed then is told by what differs now; twenty times a whole tree would not fit a payload. */
function withoutDifferences(summary: RunSummary): RunSummary {
  return { ...summary, passes: summary.passes.map((pass) => ({ ...pass, differences: [] })) };
}

function describeRun({ outcome, passes }: RunSummary): string {
  return `${outcome}: ${passes.map((pass) => `${pass.pass} ${pass.outcome} (${pass.message})`).join('; ')}`;
}

/** A run every quarter of an hour that comes to the same is not evidence of anything new. */
function sameAsBefore(before: RunSummary | null, after: RunSummary): boolean {
  return before !== null && describeRun(before) === describeRun(after);
}
