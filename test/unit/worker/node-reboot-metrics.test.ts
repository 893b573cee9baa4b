import { describe, expect, test } from 'vitest';
import { fail, read } from '../../../src/domain/core/verdict.ts';
import { nodeRebootStatus } from '../../../src/domain/node-reboot/status.ts';
import { nodeRebootMetricsText } from '../../../src/worker/metrics/node-reboot-metrics.ts';
import { shippedText } from '../shipped/manifests.ts';
import { Campaign, HOUR, node, NOW, observation } from '../../domain/node-reboot/world.ts';

async function metricsOf(campaign: Campaign, now = NOW): Promise<Map<string, number>> {
  const status = nodeRebootStatus(campaign.state, NOW);
  const text = await nodeRebootMetricsText({ statuses: [status], failures: 2 }, now);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

const labels = 'campaign="control-plane",reboot_cluster="default"';

describe('metrics of reboots', () => {
  test('say which nodes want one, and what is waited for by whom', async () => {
    const campaign = new Campaign();
    campaign.sees(observation(['n1'], { nodes: read(['n1', 'n2', 'n3', 'n4'].map((name) => node(name))) }));
    const metrics = await metricsOf(campaign);
    expect(metrics.get(`node_reboot_phase{${labels},phase="Waiting"}`)).toBe(1);
    expect(metrics.get(`node_reboot_phase{${labels},phase="Stopped"}`)).toBe(0);
    expect(metrics.get(`node_reboot_node{${labels},reboot_node="n1",reboot="wanted"}`)).toBe(1);
    expect(metrics.get(`node_reboot_node{${labels},reboot_node="n2",reboot="wanted"}`)).toBe(0);
    expect(metrics.get(`node_reboot_waiting{${labels},reason="AwaitingApproval",who="person"}`)).toBe(1);
    expect(metrics.get(`node_reboot_other_node{${labels},reboot_node="n4"}`)).toBe(1);
    expect(metrics.get('node_reboot_scrape_failures')).toBe(2);
  });

  test('name the gate that blocks, and the reason as a label', async () => {
    const campaign = new Campaign({ approval: 'None' });
    const gates = [{ gate: 'dns', verdict: fail('TooFew', 'one replica is ready'), lift: null }];
    campaign.sees(observation(['n1'], { gates }));
    const metrics = await metricsOf(campaign);
    expect(metrics.get(`node_reboot_gate{${labels},gate="dns",verdict="fail",reason="TooFew"}`)).toBe(1);
    expect(metrics.get(`node_reboot_waiting{${labels},reason="Gates",who="outside"}`)).toBe(1);
  });

  test('tell a node that hangs, and how long its turn has lasted while the workflow sleeps', async () => {
    const campaign = new Campaign().at('Returning', { hungSince: NOW, rebootAt: NOW });
    const metrics = await metricsOf(campaign, NOW + HOUR);
    expect(metrics.get(`node_reboot_hung{${labels},reboot_node="n1"}`)).toBe(1);
    expect(metrics.get(`node_reboot_turn_seconds{${labels},reboot_node="n1"}`)).toBe(3_600);
  });

  test('tell why a campaign has stopped, and that a gate is set aside', async () => {
    const campaign = new Campaign().at('Returning', { rebootAt: NOW });
    campaign.take({ of: 'awaitReturn', outcome: 'didNothing', message: 'the reboot did nothing' });
    const metrics = await metricsOf(campaign);
    expect(metrics.get(`node_reboot_stopped{${labels},reboot_node="n1",reason="RebootDidNothing"}`)).toBe(1);
    expect(metrics.get(`node_reboot_waiting{${labels},reason="PageUndelivered",who="outside"}`)).toBe(1);
  });

  test('have no label that a scrape configuration sets to where the worker runs, and the labels that the rules ask for', async () => {
    const campaign = new Campaign().at('Returning', { rebootAt: NOW });
    campaign.take({ of: 'awaitReturn', outcome: 'didNothing', message: 'the reboot did nothing' });
    const series = [...(await metricsOf(campaign)).keys()].join('\n');
    const known = new Set([...series.matchAll(/[{,](\w+)="/g)].map(([, label = '']) => label));
    const ofTargets = 'instance job node cluster namespace pod container service endpoint host region zone'.split(' ');
    expect(ofTargets.filter((label) => known.has(label))).toEqual([]);
    const rules = shippedText('deploy/alerts/node-reboot.yaml');
    const grouped = [...rules.matchAll(/\b(?:by|on) \(([\w, ]+)\)/g)].flatMap(([, names = '']) => names.split(', '));
    const shown = [...rules.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
    expect(new Set([...grouped, ...shown])).toEqual(new Set(['campaign', 'reboot_cluster', 'reboot_node', 'reason']));
    expect([...grouped, ...shown].filter((label) => !known.has(label))).toEqual([]);
  });
});
