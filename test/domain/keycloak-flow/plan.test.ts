import { describe, expect, test } from 'vitest';
import { keycloakFlowHistory } from '../../../src/domain/keycloak-flow/history.ts';
import { planFlow } from '../../../src/domain/keycloak-flow/plan.ts';
import { Simulation } from './simulation.ts';
import { unread } from './world.ts';

/** A plan from what the simulated realm is now. */
function planOf(s: Simulation) {
  const { observation } = s.state;
  if (observation === null) throw new Error('nothing was read');
  return planFlow(s.state.name, s.state.spec, observation, s.now);
}

describe('a plan', () => {
  test('says what Enforce would do although the spec says Enforce, and gives the tree', () => {
    const s = new Simulation({ mode: 'Observe' });
    s.flow();
    const plan = planOf(s);
    expect(plan).toMatchObject({ realm: 'shop', outcome: 'Problem', bound: { alias: 'browser', asDeclared: false } });
    expect(plan.passes.find(({ pass }) => pass === 'flow')).toMatchObject({
      reason: 'Drift',
      message: expect.stringMatching(/Enforce would build "browser-mfa-\w+"$/) as string,
      wrote: false,
    });
    expect(plan.bound?.diff.some((line) => line.startsWith('+'))).toBe(true);
  });

  test('of a realm as declared is that nothing is to do', () => {
    const s = new Simulation();
    s.flow();
    s.approve({ withoutProof: true });
    s.flow();
    s.flow();
    expect(planOf(s)).toMatchObject({ outcome: 'Converged', bound: { asDeclared: true } });
  });

  test('of a realm that could not be read is undetermined, and shows no tree', () => {
    const s = new Simulation();
    s.flow();
    const { observation } = s.state;
    if (observation === null) throw new Error('nothing was read');
    const dark = { ...observation, realm: unread(), bound: unread(), requiredAction: unread() };
    expect(planFlow('shop', s.state.spec, dark, s.now)).toMatchObject({ outcome: 'Undetermined', bound: null });
  });

  test('of a suspended spec is that of its passes', () => {
    const s = new Simulation({ mode: 'Observe' });
    s.flow();
    const { observation } = s.state;
    if (observation === null) throw new Error('nothing was read');
    const plan = planFlow('shop', { ...s.state.spec, suspend: true }, observation, s.now);
    expect(plan.passes.map(({ pass }) => pass)).toEqual(['policy', 'requiredAction', 'flow']);
  });
});

test('the history says who bound what without a proof, and what a later status no longer shows', () => {
  const s = new Simulation();
  s.flow();
  s.approve({ withoutProof: true });
  s.flow();
  const history = keycloakFlowHistory(s.state);
  expect(history).toMatchObject({ kind: 'KeycloakFlow', binds: 1, rollbacks: 0, dropped: 0 });
  expect(history.lastRuns.map(({ outcome }) => outcome)).toEqual(['PendingBind', 'Bound']);
  expect(history.evidence.find(({ kind }) => kind === 'override')).toMatchObject({
    by: 'ana',
    message: expect.stringMatching(/^approves "browser-mfa-/) as string,
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
  });
});
