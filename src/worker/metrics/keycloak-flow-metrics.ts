import type { Client } from '@temporalio/client';
import { Counter, Gauge, Registry } from 'prom-client';
import { passNames, type PassOutcome } from '../../domain/keycloak-flow/passes.ts';
import type { KeycloakFlowStatus } from '../../domain/keycloak-flow/status.ts';
import { KEYCLOAK_FLOW_WORKFLOW, keycloakFlowStatusQuery } from '../../workflows/keycloak-flow/messages.ts';
import { askStatuses, type Asked } from './ask-statuses.ts';
import { atMostOften } from './at-most-often.ts';

const OUTCOMES: readonly PassOutcome[] = ['Converged', 'Bound', 'PendingBind', 'Problem', 'Refused', 'Undetermined'];

/**
 * Metrics of KeycloakFlows as Temporal has them now, whichever worker answers.
 *
 * @returns the Prometheus text; one that does not answer is counted in `keycloak_flow_scrape_failures`
 */
export function createKeycloakFlowMetrics(client: Client): () => Promise<string> {
  return atMostOften(async () => {
    const ask = (id: string) => client.workflow.getHandle(id).query(keycloakFlowStatusQuery);
    return keycloakFlowMetricsText(await askStatuses(client, KEYCLOAK_FLOW_WORKFLOW, ask), Date.now());
  });
}

/**
 * @param now epoch milliseconds: an idle workflow's own clock stands still
 */
export function keycloakFlowMetricsText(
  { statuses, failures }: Asked<KeycloakFlowStatus>,
  now: number,
): Promise<string> {
  const registry = new Registry();
  const gauge = (name: string, help: string, ...labels: readonly string[]) =>
    new Gauge({ name: `keycloak_flow_${name}`, help, labelNames: [...labels], registers: [registry] });
  const counter = (name: string, help: string) =>
    new Counter({ name: `keycloak_flow_${name}_total`, help, labelNames: of, registers: [registry] });
  const of = ['flow', 'realm'];
  const ofPass = [...of, 'pass'];

  gauge('scrape_failures', 'KeycloakFlows that did not answer this scrape.').set(failures);
  const outcome = gauge(
    'pass_outcome',
    '1 for what a pass of the last run came to, 0 for the others.',
    ...ofPass,
    'outcome',
  );
  const reason = gauge('pass_reason', '1 for the reason that a pass of the last run gave.', ...ofPass, 'reason');
  const drift = gauge('drift', 'Differences that the last run found, put right or not.', ...ofPass);
  const missing = gauge('default_actions_missing', 'Default required actions that are missing in the realm.', ...of);
  const pendingSeconds = gauge('pending_bind_seconds', 'How long a candidate has waited; 0 where none does.', ...of);
  const held = gauge('bind_held', '1 while a person holds binding.', ...of);
  const waits = gauge('waiting_for_person', '1 while it goes on only when a person does something.', ...of);
  const lastRun = gauge('last_run_timestamp_seconds', 'When the last run ended; 0 before the first one.', ...of);
  const interval = gauge('interval_seconds', 'Between runs, as the spec says.', ...of);
  const runs = counter('runs', 'Runs of the three passes.');
  const binds = counter('binds', 'Flows that were bound.');
  const rollbacks = counter('rollbacks', 'Flows that were bound again by a rollback.');

  for (const status of statuses) {
    const labels = { flow: status.name, realm: status.realm };
    for (const pass of passNames) {
      const result = status.passes.find((other) => other.pass === pass);
      for (const each of OUTCOMES) outcome.set({ ...labels, pass, outcome: each }, result?.outcome === each ? 1 : 0);
      if (result !== undefined) reason.set({ ...labels, pass, reason: result.reason }, 1);
      drift.set({ ...labels, pass }, result?.differences.length ?? 0);
    }
    // Not known is not none.
    if (status.missingDefaultActions !== null) missing.set(labels, status.missingDefaultActions.length);
    pendingSeconds.set(labels, status.candidate === null ? 0 : secondsSince(status.candidate.since, now));
    held.set(labels, status.hold === null ? 0 : 1);
    waits.set(labels, status.waiting?.who === 'person' ? 1 : 0);
    lastRun.set(labels, Date.parse(status.lastRuns.at(-1)?.endedAt ?? '1970-01-01T00:00:00Z') / 1_000);
    interval.set(labels, status.intervalSeconds);
    runs.inc(labels, status.runs);
    binds.inc(labels, status.binds);
    rollbacks.inc(labels, status.rollbacks);
  }
  return registry.metrics();
}

function secondsSince(instant: string, now: number): number {
  return Math.max(0, (now - Date.parse(instant)) / 1_000);
}
