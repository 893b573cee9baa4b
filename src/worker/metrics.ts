import type { Client } from '@temporalio/client';
import { Counter, Gauge, Registry } from 'prom-client';
import { unpack } from '../domain/core/packed.ts';
import type { ReleaseStatus } from '../domain/release/status.ts';
import { packedStatusQuery, RELEASE_WORKFLOW } from '../workflows/release/messages.ts';

const PHASES = ['Current', 'Pending', 'Held', 'Drifted', 'RollingOut', 'RolledBack', 'Failed', 'Unknown'];

/** Statuses are asked for at most this often, however many scrapers there are. */
const FRESH_MS = 10_000;
const QUERY_TIMEOUT_MS = 5_000;
const CONCURRENT_QUERIES = 20;

/**
 * Metrics of releases as Temporal has them now, whichever worker answers: phases and counters come from the workflows'
 * own state, so that no gauge lives on in a worker that ran last and no counter falls back to nothing with a restart.
 *
 * @returns the Prometheus text; a release that does not answer is counted in `holdfast_scrape_failures`
 */
export function createReleaseMetrics(client: Client): () => Promise<string> {
  let text = '';
  let at = 0;
  let running: Promise<string> | null = null;

  async function gather(): Promise<string> {
    const statuses: ReleaseStatus[] = [];
    let failures = 0;
    const ids: string[] = [];
    for await (const execution of client.workflow.list({
      query: `WorkflowType = "${RELEASE_WORKFLOW}" AND ExecutionStatus = "Running"`,
    })) {
      ids.push(execution.workflowId);
    }
    const ask = async (id: string): Promise<void> => {
      try {
        statuses.push(
          unpack(
            await client.withDeadline(Date.now() + QUERY_TIMEOUT_MS, () =>
              client.workflow.getHandle(id).query(packedStatusQuery),
            ),
          ),
        );
      } catch {
        failures += 1;
      }
    };
    for (let i = 0; i < ids.length; i += CONCURRENT_QUERIES)
      await Promise.all(ids.slice(i, i + CONCURRENT_QUERIES).map(ask));
    return render(statuses, failures);
  }

  return async () => {
    if (Date.now() - at < FRESH_MS) return text;
    running ??= gather().finally(() => {
      running = null;
    });
    text = await running;
    at = Date.now();
    return text;
  };
}

async function render(statuses: readonly ReleaseStatus[], failures: number): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  const phase = new Gauge({
    name: 'release_target_phase',
    help: '1 for the phase that a target is in, 0 for the others.',
    labelNames: ['release', 'target', 'cluster', 'phase'],
    registers,
  });
  const rollbacks = new Counter({
    name: 'release_rollbacks_total',
    help: 'Targets rolled back, by reason; starts at 0.',
    labelNames: ['release', 'reason'],
    registers,
  });
  const waiting = new Gauge({
    name: 'release_waiting_for_person',
    help: '1 while a release waits for a person.',
    labelNames: ['release'],
    registers,
  });
  const failed = new Gauge({
    name: 'holdfast_scrape_failures',
    help: 'Releases that did not answer this scrape.',
    registers,
  });
  failed.set(failures);
  for (const status of statuses) {
    for (const target of status.targets) {
      for (const p of PHASES)
        phase.set(
          { release: status.name, target: target.name, cluster: target.cluster, phase: p },
          p === target.phase ? 1 : 0,
        );
    }
    rollbacks.inc({ release: status.name, reason: 'gate' }, status.rollbacks);
    waiting.set({ release: status.name }, status.waiting?.who === 'person' ? 1 : 0);
  }
  return registry.metrics();
}
