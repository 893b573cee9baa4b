import type { Client } from '@temporalio/client';
import { Gauge, Registry } from 'prom-client';
import { campaignPhases, nodeWishes, type NodeRebootStatus } from '../../domain/node-reboot/status.ts';
import { NODE_REBOOT_WORKFLOW, nodeRebootStatusQuery } from '../../workflows/node-reboot/messages.ts';
import { askStatuses, type Asked } from './ask-statuses.ts';
import { atMostOften } from './at-most-often.ts';

/**
 * Metrics of NodeReboots as Temporal has them now, whichever worker answers.
 *
 * @returns the Prometheus text; one that does not answer is counted in `node_reboot_scrape_failures`
 */
export function createNodeRebootMetrics(client: Client): () => Promise<string> {
  return atMostOften(async () => {
    const ask = (id: string) => client.workflow.getHandle(id).query(nodeRebootStatusQuery);
    return nodeRebootMetricsText(await askStatuses(client, NODE_REBOOT_WORKFLOW, ask), Date.now());
  });
}

/**
 * The labels of a node and its cluster are not called `node` and `cluster`: scrape configurations set those to where the worker
 * runs, and an alert would name a node that is well.
 *
 * @param now epoch milliseconds: an idle workflow's own clock stands still
 */
export function nodeRebootMetricsText({ statuses, failures }: Asked<NodeRebootStatus>, now: number): Promise<string> {
  const registry = new Registry();
  const gauge = (name: string, help: string, ...labels: readonly string[]) =>
    new Gauge({ name: `node_reboot_${name}`, help, labelNames: [...labels], registers: [registry] });
  const of = ['campaign', 'reboot_cluster'];
  const ofNode = [...of, 'reboot_node'];

  gauge('scrape_failures', 'NodeReboots that did not answer this scrape.').set(failures);
  const phase = gauge('phase', '1 for the phase that it is in, 0 for the others.', ...of, 'phase');
  const wish = gauge('node', '1 for how a node stands, 0 for the other ways.', ...ofNode, 'reboot');
  const others = gauge('other_node', '1 for a node of the cluster that it does not reboot.', ...ofNode);
  const gates = gauge('gate', '1 for what a gate said when it was last read.', ...of, 'gate', 'verdict', 'reason');
  const waiting = gauge('waiting', '1 for what it waits for, and who can lift that.', ...of, 'reason', 'who');
  const turn = gauge('turn_seconds', 'How long a node has had its turn.', ...ofNode);
  const hung = gauge('hung', '1 while the node whose turn it is has not come back in time.', ...ofNode);
  const stopped = gauge('stopped', '1 while only a person lets it go on.', ...ofNode, 'reason');
  const forced = gauge('overrides', 'Gates that a person has set aside and no node has used yet.', ...of);

  for (const status of statuses) {
    const labels = { campaign: status.name, reboot_cluster: status.cluster };
    const ofTurn = { ...labels, reboot_node: status.turn?.node ?? '' };
    for (const each of campaignPhases) phase.set({ ...labels, phase: each }, status.phase === each ? 1 : 0);
    for (const one of status.nodes) {
      for (const reboot of nodeWishes)
        wish.set({ ...labels, reboot_node: one.node, reboot }, one.reboot === reboot ? 1 : 0);
    }
    for (const node of status.otherNodes) others.set({ ...labels, reboot_node: node }, 1);
    for (const { gate, verdict, reason } of status.gates) {
      gates.set({ ...labels, gate, verdict, reason: reason ?? '' }, 1);
    }
    if (status.waiting !== null) {
      waiting.set({ ...labels, reason: status.waiting.reason, who: status.waiting.who }, 1);
    }
    if (status.turn !== null) turn.set(ofTurn, Math.max(0, now - Date.parse(status.turn.startedAt)) / 1_000);
    hung.set(ofTurn, status.phase === 'Hung' ? 1 : 0);
    if (status.stopped !== null) stopped.set({ ...ofTurn, reason: status.stopped.reason }, 1);
    forced.set(labels, status.overrides.filter(({ used, expiresAt }) => !used && Date.parse(expiresAt) > now).length);
  }
  return registry.metrics();
}
