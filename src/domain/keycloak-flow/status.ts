import type { Condition } from '../core/conditions.ts';
import type { Mode } from '../core/mode.ts';
import { effectiveMode } from './effective-mode.ts';
import { approveCommand } from './commands.ts';
import type { PassOutcome, PassResult } from './passes.ts';
import { describeProof } from './proof.ts';
import { noRealmMarks, type RealmMarks } from './realm-marks.ts';
import type { KeycloakFlowState, PersonMark, RunSummary } from './state.ts';
import { iso, waitingOf, type Waiting } from './waiting.ts';

export type FlowPhase = PassOutcome | 'Suspended' | 'Unknown';

/** A KeycloakFlow as `status -o json` prints it. Fields are only ever added. Instants are ISO strings. */
export interface KeycloakFlowStatus {
  readonly kind: 'KeycloakFlow';
  readonly name: string;
  readonly realm: string;
  readonly mode: Mode;
  readonly effectiveMode: Mode;
  /** Why the effective mode is lower than the spec's; null where it is not. */
  readonly modeReason: string | null;
  readonly phase: FlowPhase;
  /** Between runs. */
  readonly intervalSeconds: number;
  readonly generation: number;
  readonly conditions: readonly Condition[];
  /** What people log in by; null where it could not be read. */
  readonly bound: BoundStatus | null;
  /** The way back: what `holdfast rollback` binds; null where there is none. */
  readonly previous: string | null;
  readonly bindSwitch: 'true' | 'false' | 'absent' | 'invalid' | 'unknown';
  readonly hold: Who | null;
  /** What waits to be bound. */
  readonly candidate: CandidateStatus | null;
  /** Whose yes is yet to be used, or is kept. */
  readonly approval: (Who & { readonly candidate: string; readonly withoutProof: boolean }) | null;
  readonly rejection: (Who & { readonly candidate: string }) | null;
  readonly paused: Who | null;
  /** Default actions that the realm lacks, whatever else its pass came to; null where that is not known. */
  readonly missingDefaultActions: readonly string[] | null;
  /** The passes of the last run. */
  readonly passes: readonly PassResult[];
  /** Null where the realm is as declared. */
  readonly waiting: Waiting | null;
  /** The newest last. */
  readonly lastRuns: readonly RunStatus[];
  readonly runs: number;
  readonly binds: number;
  readonly rollbacks: number;
  /** When everything was last read; null before the first time. */
  readonly readAt: string | null;
  readonly asOf: string;
}

export interface Who {
  readonly by: string;
  readonly reason: string;
  readonly at: string;
}

export interface BoundStatus {
  readonly alias: string;
  readonly asDeclared: boolean;
  /** Bound and declared tree as one, a line a row: `-` is bound and not declared, `+` declared and not bound. */
  readonly diff: readonly string[];
  /** Who let this workflow bind it; null where others did. */
  readonly by: string | null;
  readonly since: string | null;
  /** What was shown of it before it was bound; null where this workflow does not know. */
  readonly proof: string | null;
}

export interface CandidateStatus {
  readonly alias: string;
  readonly treeHash: string;
  /** What is approved: the hash of the candidate, of what it replaces and of what was shown of it. */
  readonly planHash: string;
  readonly proof: string;
  /** One CamelCase word: what it waits for. */
  readonly reason: string;
  readonly since: string;
  readonly approve: string;
}

export interface RunStatus {
  readonly id: string;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly outcome: PassOutcome;
  readonly message: string;
}

/**
 * What people and programs are told of a KeycloakFlow.
 *
 * @param now epoch milliseconds
 */
export function keycloakFlowStatus(state: KeycloakFlowState, now: number): KeycloakFlowStatus {
  const { spec, observation, lastRun, approval, rejection } = state;
  const mode = effectiveMode(state);
  const marks = marksOf(state);
  return {
    kind: 'KeycloakFlow',
    name: state.name,
    realm: spec.desired.realm,
    mode: spec.mode,
    effectiveMode: mode.mode,
    modeReason: mode.reason,
    phase: phaseOf(state),
    intervalSeconds: spec.interval / 1_000,
    generation: state.generation,
    conditions: state.conditions,
    bound: boundStatus(state, marks),
    previous: marks.previous,
    bindSwitch: switchOf(state),
    hold: state.hold === null ? null : who(state.hold),
    candidate: candidateStatus(state),
    approval:
      approval === null
        ? null
        : { ...who(approval), candidate: approval.candidate, withoutProof: approval.withoutProof },
    rejection: rejection === null ? null : { ...who(rejection), candidate: rejection.candidate },
    paused: state.paused === null ? null : who(state.paused),
    missingDefaultActions:
      observation?.requiredAction.kind === 'read' ? observation.requiredAction.value.missingDefaults : null,
    passes: lastRun?.passes ?? [],
    waiting: waitingOf(state),
    lastRuns: state.runs.map(runStatus),
    runs: state.runCount,
    binds: state.binds,
    rollbacks: state.rollbacks,
    readAt: observation === null ? null : iso(observation.at),
    asOf: iso(now),
  };
}

/** The phase in one word, for tables and search attributes. */
export function phaseOf({ spec, lastRun }: Pick<KeycloakFlowState, 'spec' | 'lastRun'>): FlowPhase {
  if (spec.suspend) return 'Suspended';
  return lastRun?.outcome ?? 'Unknown';
}

function boundStatus({ observation, proofs }: KeycloakFlowState, marks: RealmMarks): BoundStatus | null {
  if (observation?.bound.kind !== 'read') return null;
  const { alias, asDeclared, diff, treeHash } = observation.bound.value;
  const kept = Object.hasOwn(proofs, alias) ? proofs[alias] : undefined;
  const proof = kept?.treeHash === treeHash ? describeProof(kept.outcome) : null;
  const ours = marks.bound?.alias === alias ? marks.bound : null;
  return { alias, asDeclared, diff, by: ours?.by ?? null, since: ours === null ? null : iso(ours.at), proof };
}

function candidateStatus(state: KeycloakFlowState): CandidateStatus | null {
  const { pending } = state;
  if (pending === null) return null;
  const { offer, offerHash, reason, since } = pending;
  const kept = state.proofs[offer.candidate];
  const known = kept !== undefined && kept.treeHash === offer.treeHash ? kept.outcome : null;
  return {
    alias: offer.candidate,
    treeHash: offer.treeHash,
    planHash: offerHash,
    proof:
      known === null && offer.proof === 'notMade'
        ? 'no login was shown: the spec names no probe, or the candidate is not ours'
        : describeProof(known),
    reason,
    since: iso(since),
    approve: approveCommand(state),
  };
}

function switchOf({ observation }: KeycloakFlowState): KeycloakFlowStatus['bindSwitch'] {
  switch (observation?.bindSwitch.kind) {
    case 'read':
      return observation.bindSwitch.value;
    case 'invalid':
      return 'invalid';
    default:
      return 'unknown';
  }
}

function marksOf({ observation }: KeycloakFlowState): RealmMarks {
  const realm = observation?.realm;
  return realm?.kind === 'read' && realm.value.marks.kind === 'read' ? realm.value.marks.value : noRealmMarks;
}

/** A run, as people are shown it. */
export function runStatus({ id, startedAt, endedAt, outcome, passes }: RunSummary): RunStatus {
  const worst = passes.find((pass) => pass.outcome === outcome);
  const message = outcome === 'Converged' ? converged(passes) : (worst?.message ?? '');
  return { id, startedAt: iso(startedAt), endedAt: iso(endedAt), outcome, message };
}

function converged(passes: readonly PassResult[]): string {
  const repairs = passes.filter((pass) => pass.reason === 'Repaired').map((pass) => pass.message);
  return repairs.length === 0 ? 'the realm is as declared' : repairs.join('; ');
}

function who({ by, reason, at }: PersonMark): Who {
  return { by, reason, at: iso(at) };
}
