import type { Client } from '@temporalio/client';
import { Counter, Gauge, Registry } from 'prom-client';
import { unpack } from '../../domain/core/packed.ts';
import { packedStatusQuery, RELEASE_WORKFLOW } from '../../workflows/release/messages.ts';
import { askStatuses } from './ask-statuses.ts';
import { atMostOften } from './at-most-often.ts';

const PHASES = ['Current', 'Pending', 'Held', 'Drifted', 'RollingOut', 'RolledBack', 'Failed', 'Unknown'];

/**
 * Metrics of releases as Temporal has them now, whichever worker answers: phases and counters come from the workflows'
 * own state, so that no gauge lives on in a worker that ran last and no counter falls back to nothing with a restart.
 *
 * @returns the Prometheus text; a release that does not answer is counted in `holdfast_scrape_failures`
 */
export function createReleaseMetrics(client: Client): () => Promise<string> {
  return atMostOften(async () => {
    const { statuses, failures } = await askStatuses(client, RELEASE_WORKFLOW, async (id) =>
      unpack(await client.workflow.getHandle(id).query(packedStatusQuery)),
    );
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
  });
}
