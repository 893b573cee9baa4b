import type { Mode } from '../core/mode.ts';
import type { Reading } from '../core/verdict.ts';
import type { Candidate } from './candidate-name.ts';
import type { Policy } from './policy-keys.ts';
import type { ProtectedSets } from './protect.ts';
import type { ClientRepresentation, ExecutionRow, RealmRepresentation, RequiredAction } from './representation.ts';
import { isSubFlow, subFlowAlias } from './tree.ts';

/**
 * What a request may touch: read in the same activity that sends it. What is null was not read, and whatever needs it
 * is refused.
 */
export interface Scope {
  readonly realm: string;
  /** The realm that the token is of. */
  readonly tokenRealm: string;
  /** Only Enforce writes. */
  readonly mode: Mode;
  readonly protected: Reading<ProtectedSets> | null;
  readonly build: BuildScope | null;
  readonly realmWrite: RealmWrite | null;
  /** The required action as it was read right before. */
  readonly requiredAction: RequiredAction | null;
  readonly probe: ProbeScope | null;
}

/** A scope that reads and writes nothing. */
export function readingScope(realm: string, tokenRealm: string, mode: Mode): Scope {
  return {
    realm,
    tokenRealm,
    mode,
    protected: null,
    build: null,
    realmWrite: null,
    requiredAction: null,
    probe: null,
  };
}

/** The candidate that is being built, as it was read back. */
export interface BuildScope {
  readonly candidate: Candidate;
  /** What `description` its POST sets. */
  readonly description: string;
  /** False before its POST. */
  readonly exists: boolean;
  /** Aliases of the candidate and of the sub-flows in it. */
  readonly flows: ReadonlySet<string>;
  readonly executions: ReadonlyMap<string, BuildExecution>;
}

interface BuildExecution {
  /** Null where the server does not say it; then its requirement cannot be written. */
  readonly priority: number | null;
  readonly hasConfig: boolean;
}

/**
 * The scope of a build.
 *
 * @param rows the candidate's executions as they were read back; null where there is no such flow yet
 */
export function buildScope(
  candidate: Candidate,
  description: string,
  rows: readonly ExecutionRow[] | null,
): BuildScope {
  const subFlows = (rows ?? []).filter(isSubFlow).flatMap((row) => subFlowAlias(row) ?? []);
  const executions = (rows ?? []).map(
    (row) => [row.id, { priority: row.priority ?? null, hasConfig: (row.authenticationConfig ?? '') !== '' }] as const,
  );
  return {
    candidate,
    description,
    exists: rows !== null,
    flows: new Set(rows === null ? [] : [candidate.alias, ...subFlows]),
    executions: new Map(executions),
  };
}

/** Why the realm is written, and what it was right before. */
export type RealmWrite =
  | { readonly purpose: 'policy'; readonly before: RealmRepresentation; readonly policy: Policy }
  | {
      readonly purpose: 'bind';
      readonly before: RealmRepresentation;
      /** The alias that is to be bound: a verified candidate, or the previous flow. */
      readonly to: string;
    }
  /** Holding and lifting: marks alone. */
  | { readonly purpose: 'marks'; readonly before: RealmRepresentation };

/** The probe client that the spec names. */
export interface ProbeScope {
  readonly id: string;
  /** As it was read right before; null where it was not yet. */
  readonly before: ClientRepresentation | null;
  /** Ids of candidates that this workflow built: what its override may be aimed at. */
  readonly candidateIds: ReadonlySet<string>;
}
