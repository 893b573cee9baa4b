import { mayWrite } from '../core/mode.ts';
import { decideBind, type BindDecision } from './bind.ts';
import { hashOfCandidate, contentHash } from './candidate-name.ts';
import { chooseCandidate, type CandidateChoice } from './candidate.ts';
import { command } from './commands.ts';
import { effectiveMode, wouldDo, type EffectiveMode } from './effective-mode.ts';
import type { BoundFacts, FlowObservation } from './observation.ts';
import type { BindOffer } from './offer.ts';
import { passResult, type PassOutcome, type PassResult } from './passes.ts';
import { proofNotMade, proofRoles, requiredChecks, type ProofOutcome } from './proof.ts';
import type { RealmMarks } from './realm-marks.ts';
import type { FlowRun, RunCommand, VerifiedCandidate } from './run.ts';
import type { KeycloakFlowState, PersonMark } from './state.ts';
import { desiredTree } from './tree.ts';

/** What the flow pass comes to, or what is to be done for it next. */
export type FlowDecision =
  | { readonly kind: 'result'; readonly result: PassResult; readonly offer: BindOffer | null; readonly stop?: string }
  | { readonly kind: 'command'; readonly command: RunCommand };

/** A proof that was not made is tried again after this; each try costs the probe users a failed login. */
const proofAgainMs = 60 * 60 * 1_000;

interface Deciding {
  readonly state: KeycloakFlowState;
  readonly run: FlowRun;
  readonly observation: FlowObservation;
  readonly mode: EffectiveMode;
  readonly bound: BoundFacts;
  readonly marks: RealmMarks;
  readonly now: number;
}

/** Decides the flow pass, from what was read and what this run has done already. */
export function decideFlow(
  state: KeycloakFlowState,
  run: FlowRun,
  observation: FlowObservation,
  now: number,
): FlowDecision {
  const { realm, bound, requiredAction } = observation;
  if (realm.kind === 'unmeasured') return result('Undetermined', 'Unread', realm.message);
  if (realm.value.marks.kind === 'unmeasured') return result('Undetermined', 'MarksUnread', realm.value.marks.message);
  if (bound.kind === 'unmeasured') return result('Undetermined', 'Unread', bound.message);
  if (
    state.spec.desired.requiredAction !== null &&
    requiredAction.kind === 'read' &&
    requiredAction.value.state.kind === 'notOnServer'
  ) {
    return result('Problem', 'NotOnServer', requiredAction.value.state.message);
  }
  const marks = realm.value.marks.value;
  const deciding = { state, run, observation, mode: effectiveMode(state), bound: bound.value, marks, now };
  if (bound.value.asDeclared) {
    const undone = holdLost(deciding);
    if (undone !== null) return undone;
    return result('Converged', 'AsDeclared', `the bound flow "${bound.value.alias}" is as declared`);
  }
  return foreignOwner(deciding) ?? handEdited(deciding) ?? goOn(deciding);
}

/**
 * A rollback sticks: where the realm no longer carries the hold and the declared flow is bound again, somebody has written
 * an older copy of the realm over it. People may be unable to log in, so that it is no convergence; what is bound is left
 * to a person all the same.
 */
function holdLost({ state, marks, bound }: Deciding): FlowDecision | null {
  const { hold, rollback, lift, name } = state;
  if (hold === null || marks.hold !== null || rollback !== null || lift !== null) return null;
  const message = `"${bound.alias}" is bound although binding is held by ${hold.by}, and the realm does not carry the hold: somebody wrote an older copy of the realm over it; ${command('rollback', name)}, or ${command('lift-hold', name)} to leave it bound`;
  return result('Problem', 'HoldLost', message);
}

/** A realm has one login flow, so that it has one KeycloakFlow. */
function foreignOwner({ state, marks, bound }: Deciding): FlowDecision | null {
  if (marks.bound === null || marks.bound.of === state.name) return null;
  const message = `keycloakflow/${marks.bound.of} bound "${marks.bound.alias}" in this realm; a realm has one KeycloakFlow, so that nothing is built beside it: release the other one and remove the realm's attribute holdfast.browserFlow.bound`;
  return result('Problem', 'OtherFlow', message, bound.differences);
}

/** Somebody edited the bound candidate by hand, and binding is off: that edit is what people log in by, and stays. */
function handEdited(deciding: Deciding): FlowDecision | null {
  const { state, bound } = deciding;
  const { browserFlow } = state.spec.desired;
  if (hashOfCandidate(browserFlow, bound.alias) !== contentHash(state.spec.desired)) return null;
  if (isOn(deciding)) return null;
  const { off, on } = whyOff(deciding);
  const message = `the bound flow "${bound.alias}" was edited by hand, and ${off}: it is left alone, and nothing is built beside it; take the edit back, or declare it; ${on}`;
  return result('Problem', 'HandEdited', message, bound.differences);
}

/** Why binding is off, and what puts the declared flow back. */
function whyOff({ observation, state, marks, run }: Deciding): { readonly off: string; readonly on: string } {
  const hold = holdOf(state, marks);
  if (hold !== null) {
    return { off: `binding is held by ${hold.by}`, on: `${command('lift-hold', state.name)} lets it be built anew` };
  }
  if (run.noBind) return { off: 'this run was told not to bind', on: 'the next one is not told so' };
  const { bindSwitch } = observation;
  const says = bindSwitch.kind === 'read' ? said(bindSwitch.value) : 'not read';
  return { off: `the bind switch is ${says}`, on: 'with the bind switch "true" it is built anew and bound' };
}

/** True where a verified candidate would be bound without anybody being asked. */
function isOn({ observation, state, marks, run }: Deciding): boolean {
  const { bindSwitch } = observation;
  return bindSwitch.kind === 'read' && bindSwitch.value === 'true' && holdOf(state, marks) === null && !run.noBind;
}

function said(value: 'true' | 'false' | 'absent'): string {
  return value === 'absent' ? 'absent' : `"${value}"`;
}

function goOn(deciding: Deciding): FlowDecision {
  const { state, run, observation, bound } = deciding;
  if (run.built !== null) return withCandidate(deciding, run.built);
  const choice = chooseCandidate(observation.candidates ?? [], Object.keys(state.givenUp));
  switch (choice.kind) {
    case 'unmeasured':
      return result('Undetermined', 'Unread', choice.message, bound.differences);
    case 'exhausted':
      return result('Problem', 'Exhausted', choice.why, bound.differences);
    case 'reuse': {
      const { flowId, treeHash, ours } = choice;
      return withCandidate(deciding, { alias: choice.candidate.alias, flowId, treeHash, ours });
    }
    case 'build':
      return build(deciding, choice);
  }
}

function build(deciding: Deciding, { candidate, begun }: Extract<CandidateChoice, { kind: 'build' }>): FlowDecision {
  const { mode, observation, bound } = deciding;
  const unknown = observation.unknownAuthenticators;
  if (unknown?.kind === 'unmeasured') return result('Undetermined', 'Unread', unknown.message, bound.differences);
  if (unknown !== null && unknown.value.length > 0) {
    const message = `the server has no authenticator ${unknown.value.map((id) => `"${id}"`).join(', ')}, so that nothing is built; correct the declared flow`;
    return result('Problem', 'UnknownAuthenticator', message, bound.differences);
  }
  if (!mayWrite(mode.mode)) {
    const what = `${begun ? 'go on building' : 'build'} "${candidate.alias}"`;
    const message = `the bound flow "${bound.alias}" differs from what is declared${wouldDo(mode, what)}`;
    return result('Problem', 'Drift', message, bound.differences);
  }
  return { kind: 'command', command: { do: 'construct', candidate: candidate.alias } };
}

function withCandidate(deciding: Deciding, candidate: VerifiedCandidate): FlowDecision {
  const { state, run, bound, mode } = deciding;
  const proof = proofOf(deciding, candidate);
  if (proof === null) {
    const { alias, flowId, treeHash } = candidate;
    const checks = requiredChecks(desiredTree(state.spec.desired), rolesOf(state));
    return { kind: 'command', command: { do: 'prove', candidate: alias, flowId, treeHash, checks } };
  }
  const offer: BindOffer = {
    realm: state.spec.desired.realm,
    from: bound.alias,
    candidate: candidate.alias,
    treeHash: candidate.treeHash,
    proof: proof.kind,
    after: deciding.marks.bound?.at ?? null,
  };
  const decision = decisionOf(deciding, offer, proof);
  if (decision.kind !== 'bind') return undone(deciding, decision, offer);
  if (!mayWrite(mode.mode)) {
    const message = `"${candidate.alias}" is verified${wouldDo(mode, 'bind it')}`;
    return result('PendingBind', 'Mode', message, bound.differences, offer);
  }
  // A bind that was tried and did not end the pass is not known to have been one.
  if (run.tried.includes('bind')) return result('Undetermined', 'BindUnknown', 'it is not known whether it was bound');
  return { kind: 'command', command: bindCommand(deciding, candidate, decision) };
}

function decisionOf(
  { state, run, observation, marks, now }: Deciding,
  offer: BindOffer,
  proof: ProofOutcome,
): BindDecision {
  if (state.stopped !== null) return { kind: 'stop', message: state.stopped.message };
  const { bindSwitch } = observation;
  return decideBind({
    name: state.name,
    offer,
    // A run whose switch could not be read never comes this far; off is what it would be.
    bindSwitch: bindSwitch.kind === 'read' ? bindSwitch.value : 'false',
    proof,
    marks,
    hold: holdOf(state, marks),
    approval: state.approval,
    rejection: state.rejection,
    noBind: run.noBind,
    forgivenAt: state.forgivenAt,
    now,
  });
}

function undone(
  { bound }: Deciding,
  decision: Exclude<BindDecision, { kind: 'bind' }>,
  offer: BindOffer,
): FlowDecision {
  switch (decision.kind) {
    case 'pending':
      return result('PendingBind', decision.reason, decision.message, bound.differences, offer);
    case 'never':
      return result('Problem', decision.reason, decision.message, bound.differences);
    case 'stop': {
      const stopped = result('Problem', 'BoundAway', decision.message, bound.differences);
      return { ...stopped, stop: decision.message };
    }
  }
}

function bindCommand(
  { bound, observation }: Deciding,
  candidate: VerifiedCandidate,
  decision: Extract<BindDecision, { kind: 'bind' }>,
): RunCommand {
  const { alias, flowId, treeHash } = candidate;
  return {
    do: 'bind',
    candidate: alias,
    flowId,
    treeHash,
    from: bound.alias,
    bindSwitch: observation.bindSwitch.kind === 'read' ? observation.bindSwitch.value : 'false',
    by: decision.by,
    away: decision.away,
  };
}

/** What was shown of a candidate; null where it is to be shown now. A proof that failed stays, also without a probe. */
function proofOf({ state, run, mode, now }: Deciding, candidate: VerifiedCandidate): ProofOutcome | null {
  const kept = state.proofs[candidate.alias];
  const proving = run.tried.includes('prove');
  const counts = kept?.treeHash === candidate.treeHash && (proving || kept.at >= state.forgivenAt);
  const known = kept !== undefined && counts ? kept : null;
  if (known?.outcome.kind === 'failed') return known.outcome;
  if (state.spec.probe === undefined) {
    return proofNotMade('NoProbe', 'the spec names no probe client, so that no login can be shown');
  }
  if (!candidate.ours) {
    return proofNotMade(
      'NotOurs',
      `"${candidate.alias}" was not built by this workflow, so that the probe client is not aimed at it`,
    );
  }
  const due = known === null || (known.outcome.kind === 'notMade' && now - known.at >= proofAgainMs);
  if (!due || (known !== null && proving)) return known?.outcome ?? null;
  if (proving) return proofNotMade('NotShown', 'no login was shown in this run');
  if (!mayWrite(mode.mode))
    return known?.outcome ?? proofNotMade('Mode', `mode ${mode.mode} aims no probe client at it`);
  return null;
}

function rolesOf({ spec }: KeycloakFlowState) {
  return proofRoles.filter((role) => spec.probe?.users[role] !== undefined);
}

/** A hold counts as soon as either says it: the realm, which outlives the workflow, or the workflow, which asked for it. */
export function holdOf(state: Pick<KeycloakFlowState, 'hold'>, marks: RealmMarks): PersonMark | null {
  return marks.hold ?? state.hold;
}

function result(
  outcome: PassOutcome,
  reason: string,
  message: string,
  differences: readonly string[] = [],
  offer: BindOffer | null = null,
): Extract<FlowDecision, { kind: 'result' }> {
  return { kind: 'result', result: passResult('flow', outcome, reason, message, { differences }), offer };
}
