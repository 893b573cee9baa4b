import { appendEvidence, type EvidenceKind } from '../core/evidence.ts';
import { isSpent } from './bind.ts';
import { candidates } from './candidate-name.ts';
import { audited } from './judge-required-action.ts';
import type { FlowObservation } from './observation.ts';
import { passResult, type PassName, type PassResult } from './passes.ts';
import { describeProof, type ProofOutcome } from './proof.ts';
import { marksOfBind } from './check-bind.ts';
import { noRealmMarks, type RealmMarks } from './realm-marks.ts';
import type { BindCommand, BuildOutcome, FlowRun, RunEvent, RunResult, WriteOutcome } from './run.ts';
import type { KeycloakFlowState } from './state.ts';
import { treeLines } from './tree-diff.ts';
import { desiredTree } from './tree.ts';

interface Applied {
  readonly state: KeycloakFlowState;
  readonly run: FlowRun;
}

/**
 * Takes what came of a command into the run and the state. Whatever it was, the command is not given again in this run,
 * so that a run always ends.
 *
 * @param now epoch milliseconds
 */
export function applyRunResult(state: KeycloakFlowState, run: FlowRun, result: RunResult, now: number): Applied {
  switch (result.did) {
    case 'rollBack':
      return rolledBack(state, run, result.outcome, now);
    case 'liftHold':
      return lifted(state, run, result.outcome, now);
    case 'observe':
      return observed(state, run, result.observation);
    case 'writePolicy':
      return policyWritten(state, run, result.outcome, now);
    case 'writeRequiredAction':
      return requiredActionWritten(state, run, result.outcome, now);
    case 'construct':
      return constructed(state, run, result.candidate, result.outcome, now);
    case 'prove':
      return proven(state, run, result, now);
    case 'bind':
      return bound(state, run, result.command, result.outcome, now);
  }
}

function rolledBack(state: KeycloakFlowState, run: FlowRun, outcome: WriteOutcome, now: number): Applied {
  const done = outcome.kind === 'written';
  // Tried again within seconds, so that each reason is said once.
  if (isUnknown(outcome) && isSaid(state, outcome.message)) {
    return { state, run: { ...run, tried: [...run.tried, 'rollBack'] } };
  }
  const event: RunEvent = { what: done ? 'RolledBack' : 'RollbackFailed', message: outcome.message };
  const tried = { ...withLost(run, outcome, event), tried: [...run.tried, 'rollBack' as const] };
  const after = noted(state, outcome, 'rollback', now);
  // Not known to have happened: it is asked for again by the next run, which reads before it writes.
  if (isUnknown(outcome)) return { state: after, run: tried };
  const rollbacks = state.rollbacks + (done ? 1 : 0);
  return { state: { ...after, rollback: null, rollbacks }, run: tried };
}

function isSaid({ rollback, evidence }: KeycloakFlowState, message: string): boolean {
  const since = rollback?.at ?? 0;
  return evidence.some((entry) => entry.what === 'rollback' && entry.at >= since && entry.message === message);
}

function lifted(state: KeycloakFlowState, run: FlowRun, outcome: WriteOutcome, now: number): Applied {
  const done: RunEvent[] = outcome.kind === 'written' ? [{ what: 'HoldLifted', message: outcome.message }] : [];
  const tried = { ...withLost(run, outcome, ...done), tried: [...run.tried, 'liftHold' as const] };
  const after = noted(state, outcome, 'hold', now);
  if (isUnknown(outcome)) return { state: after, run: tried };
  if (outcome.kind !== 'written') return { state: { ...after, lift: null }, run: tried };
  return { state: { ...after, lift: null, hold: null }, run: tried };
}

function observed(state: KeycloakFlowState, run: FlowRun, observation: FlowObservation): Applied {
  const names = candidates(state.spec.desired).map((candidate) => candidate.alias);
  const kept = <T>(entries: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(entries).filter(([alias]) => names.includes(alias)));
  const marks = marksOf(observation) ?? noRealmMarks;
  const hold = marks.hold ?? state.hold;
  // What says that it is spent may be gone tomorrow. With the switch on it is what keeps the candidate bound.
  const isOff = observation.bindSwitch.kind === 'read' && observation.bindSwitch.value !== 'true';
  const approval = state.approval !== null && isOff && isSpent(state.approval, marks) ? null : state.approval;
  const after = { ...state, observation, hold, approval, givenUp: kept(state.givenUp), proofs: kept(state.proofs) };
  return { state: after, run: { ...run, observation } };
}

function policyWritten(state: KeycloakFlowState, run: FlowRun, outcome: WriteOutcome, now: number): Applied {
  const drift = run.observation?.realm.kind === 'read' ? run.observation.realm.value.policyDrift : [];
  const differences = drift.map((d) => d.message);
  const policy = written('policy', outcome, differences, (message) =>
    passResult('policy', 'Converged', 'Repaired', message, { differences, wrote: true }),
  );
  return {
    state: noted(state, outcome, 'policy', now),
    run: { ...withLost(run, outcome), policy },
  };
}

function requiredActionWritten(state: KeycloakFlowState, run: FlowRun, outcome: WriteOutcome, now: number): Applied {
  const facts = run.observation?.requiredAction;
  const requiredAction = written('requiredAction', outcome, [], (message) =>
    facts?.kind === 'read'
      ? audited(facts.value, message, true)
      : passResult('requiredAction', 'Converged', 'Repaired', message, { wrote: true }),
  );
  return { state: noted(state, outcome, 'required action', now), run: { ...run, requiredAction } };
}

/** The result of a pass from what came of its write. An edit of somebody else that was written over is a problem. */
function written(
  pass: PassName,
  outcome: WriteOutcome,
  differences: readonly string[],
  done: (message: string) => PassResult,
): PassResult {
  switch (outcome.kind) {
    case 'written': {
      const lost = lostOf(outcome);
      if (lost.length === 0) return done(outcome.message);
      const message = `${outcome.message}; an edit by somebody else was written over: ${lost.join('; ')}`;
      return passResult(pass, 'Problem', 'LostEdit', message, { differences, wrote: true });
    }
    case 'stopped':
    case 'failed':
      return passResult(pass, 'Problem', outcome.reason, outcome.message, {
        differences,
        wrote: outcome.kind === 'failed',
      });
    case 'notRead':
      return passResult(pass, 'Undetermined', 'Unread', outcome.message, { differences });
    case 'unmeasured':
      return passResult(pass, 'Undetermined', 'WriteUnknown', outcome.message, { differences });
  }
}

function constructed(
  state: KeycloakFlowState,
  run: FlowRun,
  candidate: string,
  outcome: BuildOutcome,
  now: number,
): Applied {
  const differences = run.observation?.bound.kind === 'read' ? run.observation.bound.value.differences : [];
  const end = (result: PassResult): FlowRun => ({ ...run, flow: result });
  switch (outcome.kind) {
    case 'built': {
      const { flowId, treeHash } = outcome;
      const message = `candidate "${candidate}" is built and verified (tree ${treeHash})`;
      const built = { alias: candidate, flowId, treeHash, ours: true };
      return { state: evidence(state, now, 'write', message, candidate), run: { ...run, built } };
    }
    case 'left': {
      const message = `candidate "${candidate}" is given up: ${outcome.why}`;
      const after = {
        ...evidence(state, now, 'outcome', message, candidate),
        givenUp: { ...state.givenUp, [candidate]: outcome.why },
      };
      // Nothing of it was created, so that the next name costs nothing.
      if (!outcome.created) return { state: after, run };
      return {
        state: after,
        run: end(passResult('flow', 'Problem', 'CandidateLeft', message, { differences, wrote: true })),
      };
    }
    case 'failed': {
      const result = passResult('flow', 'Problem', outcome.reason, outcome.message, { differences });
      return { state: evidence(state, now, 'outcome', outcome.message, candidate), run: end(result) };
    }
    case 'unmeasured': {
      const result = passResult('flow', 'Undetermined', 'Unread', outcome.message, { differences });
      return { state: evidence(state, now, 'notVerified', outcome.message, candidate), run: end(result) };
    }
  }
}

function proven(
  state: KeycloakFlowState,
  run: FlowRun,
  { candidate, treeHash, outcome }: { candidate: string; treeHash: string; outcome: ProofOutcome },
  now: number,
): Applied {
  const kind = outcome.kind === 'notMade' ? 'notVerified' : 'reading';
  const after = evidence(state, now, kind, `"${candidate}": ${describeProof(outcome)}`, candidate);
  const proofs = { ...state.proofs, [candidate]: { treeHash, outcome, at: run.startedAt } };
  return { state: { ...after, proofs }, run: { ...run, tried: [...run.tried, 'prove'] } };
}

function bound(
  state: KeycloakFlowState,
  run: FlowRun,
  command: BindCommand,
  outcome: WriteOutcome,
  now: number,
): Applied {
  const tried = { ...withLost(run, outcome), tried: [...run.tried, 'bind' as const] };
  const after = noted(state, outcome, command.candidate, now);
  const differences = run.observation?.bound.kind === 'read' ? run.observation.bound.value.differences : [];
  if (outcome.kind === 'written') {
    const message = `"${command.candidate}" is bound, let by ${command.by}; before it was "${command.from}"`;
    const flow = passResult('flow', 'Bound', 'Bound', message, { differences, wrote: true });
    const observation = run.observation === null ? null : afterBind(state, run.observation, command, now);
    // Without a switch a yes binds once; with it, the yes to what was not proven is what keeps it bound.
    const approval = command.bindSwitch === 'true' ? state.approval : null;
    return {
      state: { ...after, approval, observation, binds: state.binds + 1, pending: null },
      run: { ...tried, flow, observation },
    };
  }
  return {
    state: after,
    run: { ...tried, flow: written('flow', outcome, differences, (m) => passResult('flow', 'Bound', 'Bound', m)) },
  };
}

/** What is known after a bind, without reading it all again. */
function afterBind(
  state: KeycloakFlowState,
  before: FlowObservation,
  command: BindCommand,
  now: number,
): FlowObservation {
  const marks = marksOfBind(state.name, marksOf(before) ?? noRealmMarks, command, now);
  const diff = treeLines(desiredTree(state.spec.desired)).map((line) => `  ${line}`);
  return {
    ...before,
    realm:
      before.realm.kind === 'read'
        ? {
            kind: 'read',
            value: { ...before.realm.value, browserFlow: command.candidate, marks: { kind: 'read', value: marks } },
          }
        : before.realm,
    bound: {
      kind: 'read',
      value: { alias: command.candidate, treeHash: command.treeHash, asDeclared: true, differences: [], diff },
    },
    candidates: null,
  };
}

function marksOf({ realm }: FlowObservation): RealmMarks | null {
  return realm.kind === 'read' && realm.value.marks.kind === 'read' ? realm.value.marks.value : null;
}

function withLost(run: FlowRun, outcome: WriteOutcome, ...events: readonly RunEvent[]): FlowRun {
  const lost = lostOf(outcome).map((message): RunEvent => ({ what: 'LostEdit', message }));
  return { ...run, events: [...run.events, ...events, ...lost] };
}

/** Not done, or not known to be: what a person asked for is tried again. */
function isUnknown(outcome: WriteOutcome): boolean {
  return outcome.kind === 'unmeasured' || outcome.kind === 'notRead';
}

function lostOf(outcome: WriteOutcome): readonly string[] {
  return outcome.kind === 'written' ? (outcome.lost ?? []) : [];
}

/** Keeps what came of a write, and what of it could not be looked at. */
function noted(state: KeycloakFlowState, outcome: WriteOutcome, what: string, now: number): KeycloakFlowState {
  if (outcome.kind !== 'written') {
    return evidence(state, now, isUnknown(outcome) ? 'notVerified' : 'outcome', outcome.message, what);
  }
  const after = evidence(state, now, 'write', outcome.message, what);
  const lost = lostOf(outcome).reduce((s, message) => evidence(s, now, 'outcome', `lost: ${message}`, what), after);
  return (outcome.notVerified ?? []).reduce((s, message) => evidence(s, now, 'notVerified', message, what), lost);
}

function evidence(
  state: KeycloakFlowState,
  now: number,
  kind: Exclude<EvidenceKind, 'gap'>,
  message: string,
  what: string,
): KeycloakFlowState {
  return { ...state, evidence: appendEvidence(state.evidence, now, kind, message, { what }) };
}
