import { clipped } from '../core/clipped.ts';
import { read, unmeasured, type Reading, type Unmeasured } from '../core/verdict.ts';
import type { SwitchReading } from './bind-switch.ts';
import { candidates, treeHash } from './candidate-name.ts';
import { candidateState, type CandidateReading } from './candidate.ts';
import type { DesiredState } from './desired.ts';
import { enrolmentAction } from './desired.ts';
import { describeDrift, policyDrift } from './policy.ts';
import { policyPrefix, type PolicyKey } from './policy-keys.ts';
import type { FlowReadBack } from './read-back.ts';
import { readRealmMarks, type RealmMarks } from './realm-marks.ts';
import type { FlowRepresentation, RealmRepresentation, RequiredAction, UnregisteredAction } from './representation.ts';
import { missingDefaultActions, requiredActionState, type RequiredActionState } from './required-action.ts';
import { diffLines, diffTrees } from './tree-diff.ts';
import { desiredTree, sameTree, treeRead } from './tree.ts';

/** What a pass reads before it decides anything, as Keycloak answers it. */
export interface FlowReadings {
  readonly bindSwitch: SwitchReading;
  readonly realm: Reading<RealmRepresentation>;
  readonly requiredActions: Reading<readonly RequiredAction[]>;
  /** Asked only where the enrolment action is missing; null otherwise. */
  readonly unregistered: Reading<readonly UnregisteredAction[]> | null;
  readonly flows: Reading<readonly FlowRepresentation[]>;
  /** The bound flow, and candidates that the list of flows has, by alias. */
  readonly readBacks: Readonly<Record<string, Reading<FlowReadBack>>>;
  /** Ids of the server's authenticators; asked only where something is to be built, null otherwise. */
  readonly authenticators: Reading<readonly string[]> | null;
}

/** What a pass decides by: no secret, and small enough to be kept. Plain JSON. */
export interface FlowObservation {
  /** Epoch milliseconds at which it was read. */
  readonly at: number;
  readonly bindSwitch: SwitchReading;
  readonly realm: Reading<RealmFacts>;
  readonly requiredAction: Reading<RequiredActionFacts>;
  readonly bound: Reading<BoundFacts>;
  /** Null where the bound flow is as declared, so that nobody looked. */
  readonly candidates: readonly CandidateReading[] | null;
  /** Declared authenticators that the server does not have; null where nobody asked. */
  readonly unknownAuthenticators: Reading<readonly string[]> | null;
}

export interface RealmFacts {
  readonly browserFlow: string;
  readonly policyDrift: readonly { readonly key: PolicyKey; readonly message: string }[];
  /** Without it Keycloak ignores the whole policy, and answers that all is well. */
  readonly hasEntityName: boolean;
  readonly marks: Reading<RealmMarks>;
}

export interface RequiredActionFacts {
  readonly state: RequiredActionState;
  readonly missingDefaults: readonly string[];
}

export interface BoundFacts {
  readonly alias: string;
  readonly treeHash: string;
  /** The declared tree, whatever its flows are called. */
  readonly asDeclared: boolean;
  readonly differences: readonly string[];
  /** Declared and bound tree as one, a line a row. */
  readonly diff: readonly string[];
}

/** Beside these nobody reads on, and an observation is kept in the history of a workflow. */
const mostLines = 200;
const longestLine = 300;

/**
 * Reduces what was read to what is decided by.
 *
 * @param name of the KeycloakFlow
 * @param at when it was read, epoch milliseconds
 */
export function observationOf(
  desired: DesiredState,
  name: string,
  readings: FlowReadings,
  at: number,
): FlowObservation {
  const bound = boundFacts(desired, readings);
  const asDeclared = bound.kind === 'read' && bound.value.asDeclared;
  return {
    at,
    bindSwitch: readings.bindSwitch,
    realm: realmFacts(desired, readings.realm),
    requiredAction: requiredActionFacts(readings),
    bound,
    candidates: asDeclared ? null : candidateReadings(desired, name, readings),
    unknownAuthenticators: readings.authenticators === null ? null : unknown(desired, readings.authenticators),
  };
}

/** The candidates to read: those of the declared content that the realm has. */
export function candidatesToRead(desired: DesiredState, flows: readonly FlowRepresentation[]): string[] {
  return candidates(desired)
    .map((candidate) => candidate.alias)
    .filter((alias) => flows.some((flow) => flow.alias === alias));
}

/** True where the enrolment action is not in the list, so that it is asked whether the server has it. */
export function asksUnregistered(actions: Reading<readonly RequiredAction[]>): boolean {
  return actions.kind === 'read' && !actions.value.some((action) => action.alias === enrolmentAction);
}

/** True where something is to be built, so that it is asked whether the server has every declared authenticator. */
export function asksAuthenticators({ bound, candidates }: FlowObservation): boolean {
  return bound.kind === 'read' && candidates !== null && candidates.every(({ state }) => state.kind !== 'verified');
}

function realmFacts(desired: DesiredState, realm: Reading<RealmRepresentation>): Reading<RealmFacts> {
  if (realm.kind === 'unmeasured') return realm;
  if (realm.value.realm !== desired.realm) {
    const message = `the server answered with realm "${realm.value.realm}" when it was asked for "${desired.realm}"`;
    return unmeasured('the realm', 'Keycloak', 'unparsed', message);
  }
  return read({
    browserFlow: realm.value.browserFlow,
    policyDrift: policyDrift(desired.webAuthnPolicyPasswordless, realm.value).map((drift) => ({
      key: drift.key,
      message: clipped(describeDrift(drift), longestLine),
    })),
    hasEntityName:
      (desired.webAuthnPolicyPasswordless.RpEntityName ?? realm.value[`${policyPrefix}RpEntityName`]) !== '',
    marks: readRealmMarks(realm.value.attributes),
  });
}

function requiredActionFacts({ requiredActions, unregistered }: FlowReadings): Reading<RequiredActionFacts> {
  if (requiredActions.kind === 'unmeasured') return requiredActions;
  const missingDefaults = missingDefaultActions(requiredActions.value);
  if (!asksUnregistered(requiredActions)) {
    return read({ state: requiredActionState(requiredActions.value, []), missingDefaults });
  }
  if (unregistered === null) return unread('which required actions are not registered was not asked');
  if (unregistered.kind === 'unmeasured') return unregistered;
  return read({ state: requiredActionState(requiredActions.value, unregistered.value), missingDefaults });
}

function boundFacts(desired: DesiredState, { realm, flows, readBacks }: FlowReadings): Reading<BoundFacts> {
  if (realm.kind === 'unmeasured') return realm;
  if (flows.kind === 'unmeasured') return flows;
  const alias = realm.value.browserFlow;
  const flow = flows.value.find((other) => other.alias === alias);
  if (flow === undefined) return unread(`the bound flow "${alias}" is not in the list of flows`);
  const readBack = Object.hasOwn(readBacks, alias) ? readBacks[alias] : undefined;
  if (readBack === undefined) return unread(`the bound flow "${alias}" was not read`);
  if (readBack.kind === 'unmeasured') return readBack;
  const tree = treeRead(readBack.value.rows, readBack.value.configs, readBack.value.flow);
  if (tree.kind === 'unmeasured') return tree;
  const wanted = desiredTree(desired);
  return read({
    alias,
    treeHash: treeHash(tree.value),
    asDeclared: sameTree(wanted, tree.value),
    differences: shown(diffTrees(wanted, tree.value).map((difference) => difference.message)),
    diff: shown(diffLines(wanted, tree.value)),
  });
}

function shown(lines: readonly string[]): string[] {
  return lines.slice(0, mostLines).map((line) => clipped(line, longestLine));
}

function candidateReadings(
  desired: DesiredState,
  name: string,
  { realm, flows, readBacks }: FlowReadings,
): readonly CandidateReading[] {
  const bound = realm.kind === 'read' ? [realm.value.browserFlow] : [];
  return candidates(desired).map((candidate) => {
    if (flows.kind === 'unmeasured') return { candidate, state: flows };
    if (!flows.value.some((flow) => flow.alias === candidate.alias)) return { candidate, state: { kind: 'absent' } };
    const readBack = readBacks[candidate.alias];
    if (readBack === undefined) return { candidate, state: unread(`candidate "${candidate.alias}" was not read`) };
    if (readBack.kind === 'unmeasured') return { candidate, state: readBack };
    return { candidate, state: candidateState(desired, candidate, name, readBack.value, bound) };
  });
}

/** A misspelt one would end a build half-way, on one of five candidates. */
function unknown(desired: DesiredState, authenticators: Reading<readonly string[]>): Reading<readonly string[]> {
  if (authenticators.kind === 'unmeasured') return authenticators;
  const declared = desiredTree(desired).filter((row) => row.kind === 'authenticator');
  const names = new Set(declared.map((row) => row.name));
  return read([...names].filter((name) => !authenticators.value.includes(name)));
}

function unread(message: string): Unmeasured {
  return unmeasured('the login flow', 'Keycloak', 'missing', message);
}
