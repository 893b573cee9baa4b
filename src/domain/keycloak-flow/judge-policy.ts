import { mayWrite } from '../core/mode.ts';
import { wouldDo, type EffectiveMode } from './effective-mode.ts';
import type { FlowObservation } from './observation.ts';
import { passResult, type PassResult } from './passes.ts';
import type { PolicyKey } from './policy-keys.ts';

/** A pass that needs no write, with its result; or the keys that it is to write. */
export type PolicyJudgement =
  | { readonly kind: 'result'; readonly result: PassResult }
  | { readonly kind: 'write'; readonly keys: readonly PolicyKey[] };

/** Decides the policy pass from what was read. */
export function judgePolicy({ realm }: FlowObservation, mode: EffectiveMode): PolicyJudgement {
  if (realm.kind === 'unmeasured') return is(passResult('policy', 'Undetermined', 'Unread', realm.message));
  const { policyDrift, hasEntityName } = realm.value;
  if (policyDrift.length === 0) {
    return is(passResult('policy', 'Converged', 'AsDeclared', 'the passwordless policy is as declared'));
  }
  const differences = policyDrift.map((drift) => drift.message);
  if (!hasEntityName) {
    const message =
      'the realm has no RpEntityName, without which Keycloak ignores the passwordless policy and answers that all is well; declare it';
    return is(passResult('policy', 'Problem', 'NoEntityName', message, { differences }));
  }
  if (!mayWrite(mode.mode)) {
    const message = `the passwordless policy differs in ${differences.length} keys${wouldDo(mode, 'put them right')}`;
    return is(passResult('policy', 'Problem', 'Drift', message, { differences }));
  }
  return { kind: 'write', keys: policyDrift.map((drift) => drift.key) };
}

function is(result: PassResult): PolicyJudgement {
  return { kind: 'result', result };
}
