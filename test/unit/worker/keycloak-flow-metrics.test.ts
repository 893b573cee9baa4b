import { describe, expect, test } from 'vitest';
import { enrolmentAction } from '../../../src/domain/keycloak-flow/desired.ts';
import { initialState } from '../../../src/domain/keycloak-flow/initial-state.ts';
import { passResult } from '../../../src/domain/keycloak-flow/passes.ts';
import { keycloakFlowSpec } from '../../../src/domain/keycloak-flow/spec.ts';
import type { KeycloakFlowState } from '../../../src/domain/keycloak-flow/state.ts';
import { keycloakFlowStatus } from '../../../src/domain/keycloak-flow/status.ts';
import { keycloakFlowMetricsText } from '../../../src/worker/metrics/keycloak-flow-metrics.ts';
import { Simulation } from '../../domain/keycloak-flow/simulation.ts';
import { exampleInput, HOUR, NOW, unread } from '../../domain/keycloak-flow/world.ts';

const fresh = initialState('shop', keycloakFlowSpec.parse({ desired: exampleInput(), interval: '10m' }), NOW);

async function metricsOf(more: Partial<KeycloakFlowState>, now = NOW): Promise<Map<string, number>> {
  const status = keycloakFlowStatus({ ...fresh, ...more }, NOW);
  const text = await keycloakFlowMetricsText({ statuses: [status], failures: 2 }, now);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

const labels = 'flow="shop",realm="shop"';

describe('metrics of login flows', () => {
  test('say what each pass came to and why, and what drifted', async () => {
    const summary = {
      id: 'shop-1',
      startedAt: NOW - 1_000,
      endedAt: NOW,
      outcome: 'Problem',
      passes: [
        passResult('policy', 'Converged', 'AsDeclared', 'as declared'),
        passResult('requiredAction', 'Problem', 'DefaultActionsMissing', 'missing', { differences: ['a', 'b'] }),
        passResult('flow', 'Undetermined', 'Unread', 'no answer'),
      ],
    } as const;
    const metrics = await metricsOf({ lastRun: summary, runs: [summary], runCount: 1 });
    expect(metrics.get(`keycloak_flow_pass_outcome{${labels},pass="policy",outcome="Converged"}`)).toBe(1);
    expect(metrics.get(`keycloak_flow_pass_outcome{${labels},pass="policy",outcome="Problem"}`)).toBe(0);
    expect(metrics.get(`keycloak_flow_pass_outcome{${labels},pass="flow",outcome="Undetermined"}`)).toBe(1);
    expect(metrics.get(`keycloak_flow_pass_reason{${labels},pass="flow",reason="Unread"}`)).toBe(1);
    expect(metrics.get(`keycloak_flow_drift{${labels},pass="requiredAction"}`)).toBe(2);
    expect(metrics.get(`keycloak_flow_last_run_timestamp_seconds{${labels}}`)).toBe(NOW / 1_000);
    expect(metrics.get(`keycloak_flow_interval_seconds{${labels}}`)).toBe(600);
    expect(metrics.get(`keycloak_flow_runs_total{${labels}}`)).toBe(1);
    expect(metrics.get('keycloak_flow_scrape_failures')).toBe(2);
  });

  test('default actions that are missing are counted whatever the pass gives as its reason; unread ones are no zero', async () => {
    const s = new Simulation({ mode: 'Shadow' });
    const name = 'keycloak_flow_default_actions_missing{flow="shop-login",realm="shop"}';
    const counted = async () => {
      const statuses = [keycloakFlowStatus(s.state, s.now)];
      const text = await keycloakFlowMetricsText({ statuses, failures: 0 }, s.now);
      return text.split('\n').find((line) => line.startsWith(name));
    };
    s.flow();
    expect(await counted()).toBe(`${name} 0`);
    s.keycloak.requiredActions = s.keycloak.requiredActions
      .filter(({ alias }) => alias !== 'CONFIGURE_TOTP' && alias !== 'VERIFY_EMAIL')
      .map((action) => (action.alias === enrolmentAction ? { ...action, enabled: false } : action));
    expect(s.outcomes()[1]).toBe('requiredAction Problem Drift');
    expect(await counted()).toBe(`${name} 2`);
    s.unreadable = { requiredActions: unread('timeout') };
    s.flow();
    expect(await counted()).toBeUndefined();
  });

  test('one that never ran shows no time of a run, so that its alert rings', async () => {
    expect((await metricsOf({})).get(`keycloak_flow_last_run_timestamp_seconds{${labels}}`)).toBe(0);
  });

  test('the age of what waits goes on while the workflow sleeps, and a hold is told', async () => {
    const offer = {
      realm: 'shop',
      from: 'browser',
      candidate: 'c',
      treeHash: 't',
      proof: 'notMade',
      after: null,
    } as const;
    const pending = { offer, offerHash: `sha256:${'0'.repeat(64)}`, reason: 'Held', since: NOW - HOUR };
    const hold = { by: 'ada', reason: '', at: NOW };
    const metrics = await metricsOf({ pending, hold }, NOW + HOUR);
    expect(metrics.get(`keycloak_flow_pending_bind_seconds{${labels}}`)).toBe(7_200);
    expect(metrics.get(`keycloak_flow_bind_held{${labels}}`)).toBe(1);
    expect((await metricsOf({})).get(`keycloak_flow_pending_bind_seconds{${labels}}`)).toBe(0);
  });
});
