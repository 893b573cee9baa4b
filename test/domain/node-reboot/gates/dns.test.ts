import { describe, expect, test } from 'vitest';
import { read, unmeasured } from '../../../../src/domain/core/verdict.ts';
import type { GateStage } from '../../../../src/domain/node-reboot/gate.ts';
import { dnsGate, readDns } from '../../../../src/domain/node-reboot/gates/dns.ts';
import { podObject } from '../pod-object.ts';

const spec = { namespace: 'kube-system', deployment: 'coredns', replicas: 2 };
const labels = { 'k8s-app': 'kube-dns' };

function deployment(replicas: number) {
  return read({
    metadata: { namespace: 'kube-system', name: 'coredns' },
    spec: { replicas, selector: { matchLabels: labels } },
  });
}

function replica(name: string, node: string, changes = {}) {
  return podObject({ namespace: 'kube-system', name, node, labels, ...changes });
}

function gate(replicas: number, pods: readonly object[], stage: GateStage = 'before') {
  return dnsGate(readDns(deployment(replicas), read(pods)), spec, 'node-1', stage).verdict;
}

describe('DNS', () => {
  const spread = [replica('a', 'node-1'), replica('b', 'node-2')];

  test('two ready replicas on two nodes let a node go', () => {
    expect(gate(2, spread).kind).toBe('pass');
  });

  test('NR-32 one replica holds the node back', () => {
    expect(gate(2, [replica('a', 'node-2')])).toMatchObject({ reason: 'DnsTooFew' });
  });

  test.each(['node-1', 'node-2'])('NR-32 two replicas on %s alone hold the node back', (node) => {
    expect(gate(2, [replica('a', node), replica('b', node)])).toMatchObject({
      reason: 'DnsOnOneNode',
      message: `all ready replicas of kube-system/coredns are on node ${node}`,
    });
  });

  test('NR-32 a Deployment that a restart has set back to one replica holds the next node back, two still running', () => {
    expect(gate(1, spread, 'after')).toMatchObject({
      reason: 'DnsTooFew',
      message: 'kube-system/coredns is set to 1 of 2 replicas',
    });
    expect(dnsGate(readDns(deployment(1), read(spread)), spec, 'node-1', 'after').lift).toContain('--replicas=2');
  });

  test('replicas that are not ready, are leaving, are over, or are of another Deployment do not count', () => {
    const others = [
      replica('b', 'node-2', { ready: false }),
      replica('c', 'node-2', { terminating: true }),
      replica('d', 'node-2', { phase: 'Failed' }),
      replica('e', 'node-2', { labels: { 'k8s-app': 'other' } }),
      replica('f', 'node-2', { namespace: 'shop' }),
    ];
    expect(gate(2, [replica('a', 'node-1'), ...others])).toMatchObject({ reason: 'DnsTooFew' });
  });

  test('before the reboot one replica on another node is enough, and one on the node itself is not', () => {
    expect(gate(2, [replica('b', 'node-2')], 'last').kind).toBe('pass');
    expect(gate(2, [replica('a', 'node-1')], 'last')).toMatchObject({ reason: 'DnsOnOneNode' });
  });

  test('a Deployment that is missing, and pods that came late, stay what they are', () => {
    const gone = unmeasured('coredns', 'API server', 'missing', 'no such Deployment');
    const late = unmeasured('pods', 'API server', 'timeout', 'no answer');
    expect(dnsGate(readDns(gone, read([])), spec, 'node-1', 'before').verdict).toBe(gone);
    expect(dnsGate(readDns(deployment(2), late), spec, 'node-1', 'last').verdict).toBe(late);
  });
});
