import type { Mode } from '../../domain/core/mode.ts';
import type { DesiredState } from '../../domain/keycloak-flow/desired.ts';
import type { FlowObservation } from '../../domain/keycloak-flow/observation.ts';
import type { ProofOutcome } from '../../domain/keycloak-flow/proof.ts';
import type { BindCommand, BuildOutcome, RunCommand, WriteOutcome } from '../../domain/keycloak-flow/run.ts';
import type { BindSource, Probe } from '../../domain/keycloak-flow/spec.ts';
import type { PersonMark } from '../../domain/keycloak-flow/state.ts';

/**
 * The single calls of a KeycloakFlow, as its workflow sees them (by `import type` only). Each is safe to repeat, since
 * each reads before it writes. What Keycloak says is a value; thrown are cancellations and faults of ours.
 */
export interface KeycloakFlowActivities {
  /** Reads once what all three passes decide by. Writes nothing. */
  observeRealm(input: FlowInput): Promise<FlowObservation>;
  /**
   * Puts the declared policy keys that differ right, in one PUT of the whole realm, after reading it twice: what somebody
   * else changed between the two stops it. Reads back, and looks for an edit that it went over.
   */
  writePolicy(input: FlowInput): Promise<WriteOutcome>;
  /** Puts the two fields of the one required action right, in one PUT of all of it; reads back. */
  writeRequiredAction(input: FlowInput): Promise<WriteOutcome>;
  /**
   * Builds a candidate write by write, each after reading what the ones before came to, or goes on with one that was begun;
   * verifies it by reading all of it back. Heartbeats.
   */
  buildCandidate(input: BuildInput): Promise<BuildOutcome>;
  /**
   * Aims the probe client at the candidate, logs the probe users in through it over HTTP, and aims the client at nothing
   * again, also when it is cancelled. Heartbeats; takes seconds, and up to a minute where a one-time password was used
   * moments ago.
   */
  proveLogin(input: ProveInput): Promise<ProofOutcome>;
  /** Verifies the candidate anew, reads bind switch and realm again, and binds it in one PUT; reads back. */
  bindCandidate(input: BindInput): Promise<WriteOutcome>;
  /** Binds what was bound before, with the hold in the same PUT; reads back. */
  rollBack(input: RollbackInput): Promise<WriteOutcome>;
  /** Takes the hold out of the realm; reads back. */
  liftHold(input: LiftInput): Promise<WriteOutcome>;
}

export interface FlowInput {
  /** Of the KeycloakFlow, without `keycloakflow/`. */
  readonly name: string;
  /** One of the worker's configured Keycloak servers. */
  readonly server: string;
  /** The mode that is in force: only Enforce writes, whatever is asked for. */
  readonly mode: Mode;
  readonly desired: DesiredState;
  /** Where the bind switch stands; null where the spec names no place. */
  readonly bind: BindSource | null;
  /** The clientId of the probe client, whose own override protects nothing; null where there is none. */
  readonly probeClient: string | null;
}

export interface BuildInput extends FlowInput {
  /** The alias of one of the desired state's candidates. */
  readonly candidate: string;
}

export interface ProveInput extends FlowInput {
  readonly probe: Probe;
  readonly command: Extract<RunCommand, { do: 'prove' }>;
}

export interface BindInput extends FlowInput {
  readonly command: BindCommand;
}

export interface RollbackInput extends FlowInput {
  readonly hold: PersonMark;
}

export interface LiftInput extends FlowInput {
  readonly by: string;
}
