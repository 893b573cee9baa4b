import { mayWrite } from '../core/mode.ts';
import type { DesiredState } from './desired.ts';
import { wouldDo, type EffectiveMode } from './effective-mode.ts';
import type { FlowObservation, RequiredActionFacts } from './observation.ts';
import { passResult, type PassResult } from './passes.ts';

/** A pass that needs no write, with its result; or that its two fields are to be written. */
export type RequiredActionJudgement =
  { readonly kind: 'result'; readonly result: PassResult } | { readonly kind: 'write' };

/** Decides the required-action pass from what was read. */
export function judgeRequiredAction(
  desired: DesiredState,
  { requiredAction }: FlowObservation,
  mode: EffectiveMode,
): RequiredActionJudgement {
  if (requiredAction.kind === 'unmeasured') {
    return is(passResult('requiredAction', 'Undetermined', 'Unread', requiredAction.message));
  }
  const { state } = requiredAction.value;
  if (desired.requiredAction === null) return is(audited(requiredAction.value, 'no required action is declared'));
  switch (state.kind) {
    case 'asDeclared':
      return is(audited(requiredAction.value, 'the required action is as declared'));
    case 'unregistered':
      return is(passResult('requiredAction', 'Problem', 'Unregistered', state.message));
    case 'notOnServer':
      return is(passResult('requiredAction', 'Problem', 'NotOnServer', state.message));
    case 'drifted': {
      if (mayWrite(mode.mode)) return { kind: 'write' };
      const message = `the required action differs${wouldDo(mode, 'put it right')}`;
      return is(passResult('requiredAction', 'Problem', 'Drift', message, { differences: state.differences }));
    }
  }
}

/** The result, unless default actions are missing: those are never put back, so that a person must hear of it. */
export function audited({ missingDefaults }: RequiredActionFacts, message: string, wrote = false): PassResult {
  if (missingDefaults.length === 0) return passResult('requiredAction', 'Converged', 'AsDeclared', message, { wrote });
  return passResult(
    'requiredAction',
    'Problem',
    'DefaultActionsMissing',
    `default actions are missing, as after an import with a requiredActions block, which replaces them all: ${missingDefaults.join(', ')}; register them again in the admin console`,
    { differences: missingDefaults.map((alias) => `${alias} is not registered`), wrote },
  );
}

function is(result: PassResult): RequiredActionJudgement {
  return { kind: 'result', result };
}
