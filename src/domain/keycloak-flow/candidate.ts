import { clipped } from '../core/clipped.ts';
import type { Unmeasured } from '../core/verdict.ts';
import type { Candidate } from './candidate-name.ts';
import { nextConstruction } from './construction.ts';
import type { DesiredState } from './desired.ts';
import { isOurs, verify, type FlowReadBack } from './read-back.ts';

/** What a name of a candidate stands for in the realm. Plain JSON. */
export type CandidateState =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'verified';
      readonly flowId: string;
      readonly treeHash: string;
      /** True where this workflow built it: the probe client may be aimed at it. */
      readonly ours: boolean;
    }
  /** Begun by this workflow and cut off: it is continued. */
  | { readonly kind: 'partial' }
  | { readonly kind: 'other'; readonly why: string }
  | Unmeasured;

/**
 * What a candidate is.
 *
 * @param readBack the flow of that name; null where the list of flows lacks it
 * @param bound aliases that the realm binds: a half-built flow that somebody bound is not built on
 */
export function candidateState(
  desired: DesiredState,
  candidate: Candidate,
  name: string,
  readBack: FlowReadBack | null,
  bound: readonly string[],
): CandidateState {
  if (readBack === null) return { kind: 'absent' };
  const verification = verify(desired, readBack);
  if (verification.kind === 'unmeasured') return verification;
  const { flow } = readBack;
  if (verification.kind === 'verified') {
    return { kind: 'verified', flowId: flow.id, treeHash: verification.treeHash, ours: isOurs(flow, name) };
  }
  const different = clipped(`"${candidate.alias}" differs: ${verification.differences.join('; ')}`, 400);
  if (bound.includes(candidate.alias))
    return { kind: 'other', why: `${different}; it is bound, so that it is not built on` };
  const wants = nextConstruction(desired, candidate, name, readBack);
  if (wants.kind === 'unmeasured') return wants;
  if (wants.kind === 'write') return { kind: 'partial' };
  return { kind: 'other', why: wants.kind === 'foreign' ? wants.why : different };
}

/** A candidate with what it is. */
export interface CandidateReading {
  readonly candidate: Candidate;
  readonly state: CandidateState;
}

/** What is to become of the declared tree. */
export type CandidateChoice =
  | {
      readonly kind: 'reuse';
      readonly candidate: Candidate;
      readonly flowId: string;
      readonly treeHash: string;
      readonly ours: boolean;
    }
  /** Begun or yet to be begun. */
  | { readonly kind: 'build'; readonly candidate: Candidate; readonly begun: boolean }
  | { readonly kind: 'exhausted'; readonly why: string }
  | Unmeasured;

/**
 * The candidate to go on with: the first that is verified, begun by us or not there. One that cannot be told stops it:
 * the next name would be one candidate more for each answer that failed.
 *
 * @param candidates in the order of their names, each with what it is
 * @param givenUp aliases that turned out not to be buildable, such as where an alias in them is taken
 */
export function chooseCandidate(candidates: readonly CandidateReading[], givenUp: readonly string[]): CandidateChoice {
  const passedOver: string[] = [];
  for (const { candidate, state } of candidates) {
    switch (state.kind) {
      case 'unmeasured':
        return state;
      case 'verified': {
        const { flowId, treeHash, ours } = state;
        return { kind: 'reuse', candidate, flowId, treeHash, ours };
      }
      case 'other':
        passedOver.push(state.why);
        break;
      case 'absent':
      case 'partial':
        if (!givenUp.includes(candidate.alias)) {
          return { kind: 'build', candidate, begun: state.kind === 'partial' };
        }
        passedOver.push(`"${candidate.alias}" was given up`);
    }
  }
  const names = candidates.map(({ candidate }) => candidate.alias).join(', ');
  return {
    kind: 'exhausted',
    why: `all ${candidates.length} candidates of this content are used (${names}), so that nothing more is created; find out who changes them, then delete them by hand: ${passedOver.join('; ')}`,
  };
}
