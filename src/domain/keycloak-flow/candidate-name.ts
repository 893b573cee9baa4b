import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from '../core/plan-hash.ts';
import type { DesiredState } from './desired.ts';
import { desiredTree, type FlowTree } from './tree.ts';

/** A flow that is built beside the bound one. */
export interface Candidate {
  /** Its alias in the realm, such as `browser-mfa-0123456789ab` or `browser-mfa-0123456789ab-r2`. */
  readonly alias: string;
  /** What every flow and configuration alias in its tree ends with. */
  readonly suffix: string;
}

/** How many candidates of one content are ever created; nothing is deleted, so that a realm would fill up. */
export const mostCandidates = 5;

const hashDigits = 12;

/** 12 hexadecimal digits of the sha256 of everything that is compared. Equal for trees that are the same. */
export function treeHash(tree: FlowTree): string {
  // The first field changes with what is compared, so that trees verified by other rules are built anew.
  const compared = tree.map(({ level, kind, name, requirement, config }) => [level, kind, name, requirement, config]);
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(['tree/1', compared])))).slice(0, hashDigits);
}

/** The hash of a desired state's tree. */
export function contentHash(desired: DesiredState): string {
  return treeHash(desiredTree(desired));
}

/** The names that a desired state's candidates have, in the order in which they are used. */
export function candidates(desired: DesiredState): readonly Candidate[] {
  const first = `-${contentHash(desired)}`;
  return Array.from({ length: mostCandidates }, (_, index) => {
    const suffix = index === 0 ? first : `${first}-r${index + 1}`;
    return { alias: desired.browserFlow + suffix, suffix };
  });
}

/** The name that a declared flow or configuration has in a candidate. The browser flow's is the candidate itself. */
export function aliasIn(candidate: Candidate, alias: string): string {
  return alias + candidate.suffix;
}

/** The hash in the name of a candidate of a browser flow, whatever its content was; null for other flows. */
export function hashOfCandidate(browserFlow: string, alias: string): string | null {
  if (!alias.startsWith(`${browserFlow}-`)) return null;
  return /^([0-9a-f]{12})(-r[2-5])?$/.exec(alias.slice(browserFlow.length + 1))?.[1] ?? null;
}

/**
 * What the `description` of a flow says that this workflow built. Set by the POST that creates the flow, so that there
 * is no moment at which a flow of ours could be taken for somebody else's.
 *
 * @param name of the KeycloakFlow
 */
export function candidateDescription(name: string, hash: string): string {
  return `built by holdfast keycloakflow/${name}, content ${hash}`;
}
