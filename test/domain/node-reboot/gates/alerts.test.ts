import { describe, expect, test } from 'vitest';
import { read, unmeasured } from '../../../../src/domain/core/verdict.ts';
import type { GateStage } from '../../../../src/domain/node-reboot/gate.ts';
import { alertsGate, readAlerts } from '../../../../src/domain/node-reboot/gates/alerts.ts';
import { rulesBody, vectorBody } from '../prometheus-body.ts';

const blocking = ['LonghornVolumeDegraded', 'LonghornVolumeFaulted', 'KubeNodeNotReady', 'NodeExporterDown'];
const spec = { prometheus: 'default', blocking, pendingBlocks: true };

function active(...alerts: readonly (readonly [string, string])[]) {
  return vectorBody(
    alerts.map(([alertname, alertstate]) => ({ __name__: 'ALERTS', alertname, alertstate, severity: 'critical' })),
  );
}

function gate(alerts: object, rules: object = rulesBody(blocking), stage: GateStage = 'before', pendingBlocks = true) {
  return alertsGate(readAlerts(read(alerts), read(rules)), { ...spec, pendingBlocks }, stage).verdict;
}

describe('alerts', () => {
  test('no alert, with every rule loaded, lets a node go', () => {
    expect(gate(active()).kind).toBe('pass');
  });

  test('NR-18 a Prometheus that cannot be reached is unmeasured, and says so', () => {
    const unreachable = unmeasured('ALERTS', 'Prometheus at p:9090', 'unreachable', 'cannot be reached (ECONNREFUSED)');
    expect(alertsGate(readAlerts(unreachable, unreachable), spec, 'before').verdict).toBe(unreachable);
    expect(alertsGate(readAlerts(read(active()), unreachable), spec, 'before').verdict).toBe(unreachable);
  });

  test('NR-19 no alerts while a blocking rule is not loaded is unmeasured, and names the rule', () => {
    const verdict = gate(active(), rulesBody(blocking.slice(1)));
    expect(verdict).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(verdict.message).toContain('LonghornVolumeDegraded');
    expect(gate(active(), rulesBody([])).kind).toBe('unmeasured');
  });

  test('NR-19 a recording rule of that name is none, and a rule without a good evaluation is not enough', () => {
    const [first = '', ...others] = blocking;
    expect(gate(active(), rulesBody(others, 'ok', first))).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(gate(active(), rulesBody(blocking, 'unknown'))).toMatchObject({ kind: 'unmeasured', why: 'not-ready' });
    expect(gate(active(), rulesBody(blocking, 'err'))).toMatchObject({ kind: 'unmeasured', why: 'not-ready' });
  });

  test('NR-20 alerts that always fire and are not named let a node go', () => {
    expect(gate(active(['KubePodNotReady', 'firing'], ['Watchdog', 'firing'])).kind).toBe('pass');
  });

  test('NR-21 a volume that is degraded holds the node back', () => {
    expect(gate(active(['LonghornVolumeDegraded', 'firing']))).toMatchObject({
      kind: 'fail',
      reason: 'AlertActive',
      message: 'LonghornVolumeDegraded is firing',
    });
  });

  test('NR-21 an alert that is only pending blocks as the spec says', () => {
    const pending = active(['LonghornVolumeDegraded', 'pending']);
    expect(gate(pending).kind).toBe('fail');
    expect(gate(pending, rulesBody(blocking), 'before', false).kind).toBe('pass');
  });

  test('NR-22 the list names what blocks: none of it is ignored, and nothing outside of it blocks', () => {
    for (const name of blocking) expect(gate(active([name, 'firing'])).kind).toBe('fail');
    const others = ['KubePodCrashLooping', 'EtcdNoLeader', 'NodeFilesystemFull', '.*', ''];
    for (const name of others) expect(gate(active([name, 'firing'])).kind).toBe('pass');
  });

  test('NR-23 names count in whole: with something before or behind they are others', () => {
    for (const name of ['XLonghornVolumeDegraded', 'LonghornVolumeDegradedX', 'longhornvolumedegraded']) {
      expect(gate(active([name, 'firing'])).kind).toBe('pass');
    }
  });

  test('NR-24 slow requests of etcd alone hold nothing back', () => {
    expect(gate(active(['NodeEtcdRequestsSlow', 'firing'])).kind).toBe('pass');
  });

  test('NR-43 a volume that is faulted by now stops the reboot after the drain', () => {
    expect(gate(active(['LonghornVolumeFaulted', 'firing']), rulesBody(blocking), 'last').kind).toBe('fail');
  });

  test('NR-93 degraded volumes are of our own making after the drain, and at no other time', () => {
    const degraded = active(['LonghornVolumeDegraded', 'firing']);
    expect(gate(degraded, rulesBody(blocking), 'last').kind).toBe('pass');
    expect(gate(degraded, rulesBody(blocking), 'after').kind).toBe('fail');
  });

  test('a blocking alert counts even where the rules could not be read', () => {
    const late = unmeasured('rules', 'Prometheus', 'timeout', 'no answer');
    const alerts = read(active(['KubeNodeNotReady', 'firing']));
    expect(alertsGate(readAlerts(alerts, late), spec, 'before').verdict.kind).toBe('fail');
  });

  test('answers that are partial, cut short, failed or of another kind are each unmeasured', () => {
    expect(gate({ ...active(), warnings: ['store down'] })).toMatchObject({ why: 'truncated' });
    const paged = { status: 'success', data: { groups: [], groupNextToken: 'abc' } };
    expect(gate(active(), paged)).toMatchObject({ why: 'truncated' });
    expect(gate({ status: 'error', errorType: 'timeout', error: 'query timed out' })).toMatchObject({ why: 'timeout' });
    expect(gate({ status: 'error', errorType: 'execution', error: 'too many' })).toMatchObject({ why: 'error' });
    expect(gate({ status: 'success', data: { resultType: 'matrix', result: [] } })).toMatchObject({ why: 'unparsed' });
    expect(gate(vectorBody([{ alertname: 'KubeNodeNotReady' }]))).toMatchObject({ why: 'unparsed' });
    expect(gate(vectorBody([{ alertstate: 'firing' }]))).toMatchObject({ why: 'unparsed' });
    expect(gate(vectorBody([{ alertname: 'X', alertstate: 'firing' }], ''))).toMatchObject({ why: 'unparsed' });
  });
});
