import { describe, expect, test } from 'vitest';
import { initialState } from '../../../src/domain/keycloak-flow/initial-state.ts';
import { passResult, type PassOutcome } from '../../../src/domain/keycloak-flow/passes.ts';
import type { FlowPlan } from '../../../src/domain/keycloak-flow/plan.ts';
import { keycloakFlowSpec } from '../../../src/domain/keycloak-flow/spec.ts';
import { keycloakFlowStatus, type KeycloakFlowStatus } from '../../../src/domain/keycloak-flow/status.ts';
import { describeFlowChanges } from '../../../src/starters/keycloak-flow/changes.ts';
import {
  approvalOutcome,
  flowOutcome,
  liftOutcome,
  rollbackOutcome,
} from '../../../src/starters/keycloak-flow/outcome.ts';
import { flowPlanExitCode, flowPlanView } from '../../../src/starters/keycloak-flow/plan-view.ts';
import { flowStatusView } from '../../../src/starters/keycloak-flow/status-view.ts';
import { exampleInput, NOW } from '../../domain/keycloak-flow/world.ts';

const fresh = keycloakFlowStatus(initialState('shop', keycloakFlowSpec.parse({ desired: exampleInput() }), NOW), NOW);
const who = { by: 'ada', reason: 'page is blank', at: '2026-03-02T12:00:00Z' };

function status(more: Partial<KeycloakFlowStatus> = {}): KeycloakFlowStatus {
  return { ...fresh, waiting: null, ...more };
}

describe('what a run comes to, for scripts', () => {
  test.each<[PassOutcome, number]>([
    ['Converged', 0],
    ['Bound', 0],
    ['Problem', 1],
    ['Refused', 2],
    ['Undetermined', 3],
    ['PendingBind', 4],
  ])('%s ends with %i and names the pass that came to it', (phase, exitCode) => {
    const passes = [passResult('flow', phase, 'Reason', 'what is so')];
    const outcome = flowOutcome(status({ phase, passes }));
    expect(outcome.exitCode).toBe(exitCode);
    if (phase !== 'Converged') expect(outcome.message).toBe(`${phase}: flow: what is so`);
  });

  test('one that nobody ran is undetermined, and a suspended one waits for a person', () => {
    expect(flowOutcome(status()).exitCode).toBe(3);
    expect(flowOutcome(status({ phase: 'Suspended' })).exitCode).toBe(4);
  });
});

describe('what a decision comes to', () => {
  test('an approval that bound nothing is no success, whatever else is well', () => {
    const after = status({ phase: 'PendingBind', passes: [passResult('flow', 'PendingBind', 'Held', 'held')] });
    expect(approvalOutcome(status(), after)).toEqual({
      exitCode: 4,
      message: 'it is not bound: PendingBind: flow: held',
    });
    expect(approvalOutcome(status(), status({ binds: 1 })).exitCode).toBe(0);
  });

  test('an approval that bound nothing says what became of the flow, whatever the worst pass is', () => {
    const passes = [
      passResult('policy', 'Problem', 'Drift', 'differs'),
      passResult('flow', 'PendingBind', 'Mode', 'Enforce would bind it'),
    ];
    const waiting = { for: 'resume', since: null, who: 'person', next: 'holdfast resume keycloakflow/shop' } as const;
    expect(approvalOutcome(status(), status({ phase: 'Problem', passes, waiting }))).toEqual({
      exitCode: 4,
      message: 'it is not bound: PendingBind: flow: Enforce would bind it; next: holdfast resume keycloakflow/shop',
    });
  });

  test('what several passes say alike is said once, and what was put right is said', () => {
    const passes = (['policy', 'requiredAction', 'flow'] as const).map((pass) =>
      passResult(pass, 'Refused', 'InvalidSwitch', 'the switch says "maybe"'),
    );
    const refused = status({ phase: 'Refused', passes });
    expect(flowOutcome(refused).message).toBe('Refused: policy, requiredAction, flow: the switch says "maybe"');
    expect(describeFlowChanges(null, refused)[0]).toBe(
      'policy, requiredAction, flow: Refused (InvalidSwitch): the switch says "maybe"',
    );
    const repaired = passResult('policy', 'Converged', 'Repaired', 'the policy was put right: RpId');
    expect(flowOutcome(status({ phase: 'Converged', passes: [repaired] })).message).toBe(
      'Converged: the realm is as declared; the policy was put right: RpId',
    );
  });

  test('a rollback is done only where one more was counted; one that is tried again is undetermined', () => {
    expect(rollbackOutcome(status(), status({ rollbacks: 1 }), '').exitCode).toBe(0);
    const waiting = { for: 'the rollback of ada', since: null, who: 'outside', next: 'it is tried' } as const;
    expect(rollbackOutcome(status(), status({ waiting }), 'no answer')).toEqual({
      exitCode: 3,
      message: 'it is not known to be carried out: no answer; it is tried again within a minute, until it is',
    });
    const failed = rollbackOutcome(status(), status({ phase: 'Converged' }), 'there is no way back');
    expect(failed).toEqual({ exitCode: 1, message: 'the previous flow was NOT bound: there is no way back' });
  });

  test('a hold that is still there is not lifted', () => {
    expect(liftOutcome(status({ hold: who })).exitCode).toBe(3);
    expect(liftOutcome(status()).exitCode).toBe(0);
  });
});

describe('the view of a login flow', () => {
  const bound = {
    alias: 'browser',
    asDeclared: false,
    diff: ['  auth-cookie ALTERNATIVE', '- auth-spnego DISABLED', '+ flow browser-mfa-forms ALTERNATIVE'],
    by: null,
    since: null,
    proof: null,
  };

  test('says what is bound and by whom, the way back, the hold, and the difference as a tree', () => {
    const view = flowStatusView(status({ bound, previous: 'old', hold: who, phase: 'PendingBind' }));
    expect(view).toContain('  Bound:       browser, not as declared; not bound from here');
    expect(view).toContain('  Previous:    old; to go back: holdfast rollback keycloakflow/shop');
    expect(view).toContain('  Held:        binding is held by ada at 2026-03-02T12:00:00Z (page is blank)');
    expect(view).toContain('  - auth-spnego DISABLED\n  + flow browser-mfa-forms ALTERNATIVE');
  });

  test('what was put right is not shown as if it differed still', () => {
    const repaired = passResult('policy', 'Converged', 'Repaired', 'put right', { differences: ['RpId is ""'] });
    const view = flowStatusView(status({ passes: [repaired], readAt: '2026-03-02T12:00:00Z', runs: 1 }));
    expect(view).toContain('\npolicy, before it was put right:\n  RpId is ""');
    expect(view).toContain(', 1 run in all');
  });

  test('what could not be read is said, and nothing is called bound', () => {
    expect(flowStatusView(status())).toContain('  Bound:       what people log in by could not be read');
  });

  test('a change of what is bound, a hold and a mode are told once', () => {
    const before = status({ bound });
    const after = status({ bound: { ...bound, alias: 'browser-mfa-1' }, hold: who, effectiveMode: 'Enforce' });
    expect(describeFlowChanges(before, after)).toEqual([
      '"browser-mfa-1" is bound, was "browser"',
      'binding is held by ada',
      'mode Enforce, was Shadow',
    ]);
    expect(describeFlowChanges(after, after)).toEqual([]);
  });
});

describe('a plan', () => {
  function plan(...passes: FlowPlan['passes']): FlowPlan {
    return { realm: 'shop', mode: 'Shadow', outcome: 'Converged', passes, bound: null };
  }
  const converged = passResult('policy', 'Converged', 'AsDeclared', '');
  const drift = passResult('flow', 'Problem', 'Drift', 'differs');
  const unread = passResult('flow', 'Undetermined', 'Unread', 'no answer');
  const wrong = passResult('flow', 'Problem', 'Exhausted', 'all five are used');

  test.each<[string, FlowPlan, number, string]>([
    ['everything is as declared', plan(converged), 0, 'nothing to do'],
    ['something would be put right', plan(converged, drift), 6, 'changes pending'],
    ['something could not be read, whatever else', plan(drift, unread), 3, 'undetermined: not everything'],
    ['something is wrong that is not put right', plan(converged, wrong), 1, 'something is wrong'],
  ])('where %s', (_, asked, exitCode, headline) => {
    expect(flowPlanExitCode(asked)).toBe(exitCode);
    expect(flowPlanView({ kind: 'KeycloakFlow', name: 'shop', ...asked })).toContain(`keycloakflow/shop: ${headline}`);
  });
});
