import { read, type Reading } from '../../../src/domain/core/verdict.ts';
import { candidateDescription, candidates, contentHash } from '../../../src/domain/keycloak-flow/candidate-name.ts';
import { protectedSets, type ProtectedSets } from '../../../src/domain/keycloak-flow/protect.ts';
import { buildScope, readingScope, type Scope } from '../../../src/domain/keycloak-flow/screen-scope.ts';
import { desired, NAME, served, servedCandidate, type ServedFlow } from './world.ts';

/** Scopes of the example: the declared tree is bound under plain aliases, its candidate is being built. */

export const of = desired();
export const bound = served(of);
export const building = servedCandidate(of);
const [first] = candidates(of);
if (first === undefined) throw new Error('no candidate');
export const candidate = first;
export const description = candidateDescription(NAME, contentHash(of));

export const inUse: Reading<ProtectedSets> = protectedSets(read(['browser-mfa']), read([bound.flow]), {
  'browser-mfa': read(bound.rows),
});

/** A scope in which the candidate is built as far as given; null: not created yet. */
export function scopeOfBuild(flow: ServedFlow | null = building, overrides: Partial<Scope> = {}): Scope {
  return {
    ...readingScope('shop', 'shop', 'Enforce'),
    protected: inUse,
    build: buildScope(candidate, description, flow === null ? null : flow.rows),
    ...overrides,
  };
}
