import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createPrometheus } from '../../../src/activities/prometheus/create.ts';
import type { PrometheusClient } from '../../../src/activities/prometheus/port.ts';
import { setPrometheusRules, setPrometheusTargets } from '../../lab/access.ts';
import { installKinds, longhornKinds, putAddon } from '../../lab/addon-crds.ts';
import { startLab, type Lab } from '../../lab/lab.ts';
import { waitFor } from '../../lab/wait.ts';
import { openGateStage, type GateStage } from './gate-stage.ts';

/** Gates that rest on a Prometheus, on a real one that scrapes what the test serves. */
let lab: Lab;
let prometheus: PrometheusClient;
let stage: GateStage;
let metrics: Server;
let served = '';

beforeAll(async () => {
  lab = await startLab({ parts: ['control-plane', 'prometheus'], log: () => {} });
  prometheus = createPrometheus({ url: lab.env.prometheus });
  stage = await openGateStage(lab, prometheus);
  metrics = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(served);
  });
  await new Promise<void>((resolve) => metrics.listen(0, '127.0.0.1', resolve));
  setPrometheusTargets(lab, [{ targets: [`127.0.0.1:${(metrics.address() as AddressInfo).port}`] }]);
  await setPrometheusRules(lab, rules);
});

afterAll(async () => {
  await stage.close();
  await prometheus.close();
  await new Promise<void>((resolve) => {
    metrics.close(() => resolve());
    metrics.closeAllConnections();
  });
  await lab.stop();
});

const firing = (alert: string) => ({ alert, expr: `trouble{of="${alert}"} == 1` });
const blocking = ['LonghornVolumeDegraded', 'LonghornVolumeFaulted', 'KubeNodeNotReady', 'NodeExporterDown'];
const chronic = ['KubePodNotReady', 'NodeEtcdRequestsSlow', 'XLonghornVolumeDegraded'];
const slow = { ...firing('LonghornVolumeFaulted'), for: '1h' };
const rules = [...blocking, ...chronic].map((name) => (name === 'LonghornVolumeFaulted' ? slow : firing(name)));

const verdict = (alerts: object = {}) => stage.verdict('alerts', { alerts });

/** What is wrong from now on, once Prometheus knows. */
async function trouble(...names: string[]): Promise<void> {
  served = ['trouble{of="nothing"} 1', ...names.map((name) => `trouble{of="${name}"} 1`), ''].join('\n');
  await waitFor(`${names.join()} and no other alert is active`, async () => {
    const answer = await prometheus.series('ALERTS', { timeoutMs: 5_000 });
    if (answer.kind === 'unmeasured') return false;
    const { data } = answer.value as { data: { result: { metric: { alertname: string } }[] } };
    const active = new Set(data.result.map(({ metric }) => metric.alertname));
    return active.size === names.length && names.every((name) => active.has(name));
  });
}

beforeEach(async () => {
  await trouble();
  await waitFor('the rules are evaluated', async () => (await verdict()).kind === 'pass');
});

test('NR-20 NR-23 NR-24 alerts that are always active, or that only sound like one that blocks, hold nothing back', async () => {
  await trouble(...chronic);
  expect((await verdict()).kind).toBe('pass');
});

test('NR-21 a degraded volume holds the node back, and one that is pending does as the spec says', async () => {
  await trouble('LonghornVolumeDegraded');
  expect(await verdict()).toMatchObject({ reason: 'AlertActive', message: 'LonghornVolumeDegraded is firing' });
  await trouble('LonghornVolumeFaulted');
  expect(await verdict()).toMatchObject({ reason: 'AlertActive', message: 'LonghornVolumeFaulted is pending' });
  expect((await verdict({ pendingBlocks: false })).kind).toBe('pass');
});

test('NR-19 NR-22 no alert is unmeasured where its rule is not loaded, or cannot be evaluated', async () => {
  await setPrometheusRules(lab, []);
  expect(await verdict()).toMatchObject({ kind: 'unmeasured', why: 'missing' });
  await setPrometheusRules(lab, [...rules, { alert: 'Ambiguous', expr: 'trouble * on() trouble' }]);
  served = 'trouble{of="one"} 1\ntrouble{of="two"} 1\n';
  const failing = () => verdict({ blocking: ['Ambiguous'] });
  await waitFor('its rule fails', async () => (await failing()).message?.includes('duplicate series') === true);
  expect(await failing()).toMatchObject({ kind: 'unmeasured', why: 'not-ready' });
  await setPrometheusRules(lab, rules);
});

test('NR-18 a Prometheus that is down is unmeasured, for alerts and for a query of your own', async () => {
  const gate = { name: 'healthy', query: 'healthy', results: 2 };
  const own = () => stage.verdict('custom.healthy', { custom: [gate] });
  served = 'healthy{shard="a"} 1\nhealthy{shard="b"} 1\n';
  await waitFor('both samples are there', async () => (await own()).kind === 'pass');
  served = 'healthy{shard="a"} 1\nhealthy{shard="b"} 0\n';
  await waitFor('one is not', async () => (await own()).kind === 'fail');
  expect(await own()).toMatchObject({ reason: 'NotAsExpected' });
  await lab.kill('prometheus');
  // A connection that was open is found broken, a new one is refused.
  for (const ask of [verdict, own]) {
    expect((await ask()).kind).toBe('unmeasured');
    await waitFor('nobody is reached', async () => {
      const said = await ask();
      return said.kind === 'unmeasured' && said.why === 'unreachable';
    });
  }
  await lab.start('prometheus');
});

test('NR-28 volumes whose series are not all there are unmeasured', async () => {
  const [volumeKind, replicaKind] = longhornKinds;
  if (volumeKind === undefined || replicaKind === undefined) throw new Error('Longhorn has two kinds');
  await installKinds(lab.env, longhornKinds);
  const where = { namespace: 'default' };
  const status = { state: 'attached', robustness: 'healthy' };
  await putAddon(lab.env, volumeKind, { ...where, name: 'v1', spec: { numberOfReplicas: 3 }, status });
  for (const nodeID of ['n2', 'n3']) {
    const spec = { volumeName: 'v1', nodeID, healthyAt: '2026-05-01T00:00:00Z' };
    await putAddon(lab.env, replicaKind, { ...where, name: `v1-${nodeID}`, spec, status: { currentState: 'running' } });
  }
  const own = () => stage.verdict('longhorn', { longhorn: { ...where, volumes: 1, prometheus: 'default' } });
  const series = ['unknown', 'healthy', 'degraded', 'faulted'].map(
    (state) => `longhorn_volume_robustness{volume="v1",state="${state}"} ${state === 'healthy' ? 1 : 0}\n`,
  );
  served = series.join('');
  await waitFor('all are there', async () => (await own()).kind === 'pass');
  served = series.slice(1).join('');
  await waitFor('one is gone', async () => (await own()).kind !== 'pass');
  expect(await own()).toMatchObject({ kind: 'unmeasured', why: 'truncated' });
});
