import { describe, expect, test } from 'vitest';
import { read, unmeasured } from '../../../../src/domain/core/verdict.ts';
import type { GateStage } from '../../../../src/domain/node-reboot/gate.ts';
import { kubeVirtGate, readKubeVirt } from '../../../../src/domain/node-reboot/gates/kube-virt.ts';

function machine(name: string, nodeName: string, migratable?: string, phase = 'Running') {
  const conditions = [
    { type: 'Ready', status: 'True' },
    ...(migratable === undefined
      ? []
      : [{ type: 'LiveMigratable', status: migratable, message: migratable === 'False' ? 'PVC is not shared' : '' }]),
  ];
  return { metadata: { namespace: 'vms', name }, spec: {}, status: { nodeName, phase, conditions } };
}

function gate(machines: readonly object[], stage: GateStage = 'before') {
  return kubeVirtGate(readKubeVirt(read(machines)), 'node-1', stage).verdict;
}

describe('virtual machines', () => {
  test('a node without any, or with those that can be moved, may go', () => {
    expect(gate([]).kind).toBe('pass');
    expect(gate([machine('a', 'node-1', 'True')]).kind).toBe('pass');
  });

  test('NR-36 one that cannot be moved holds its node back, and says why', () => {
    expect(gate([machine('a', 'node-1', 'True'), machine('b', 'node-1', 'False')])).toMatchObject({
      kind: 'fail',
      reason: 'NotMigratable',
      message: 'virtual machine vms/b cannot be moved: PVC is not shared',
    });
  });

  test('NR-36 one that is still there after the drain stops the reboot', () => {
    expect(gate([machine('a', 'node-1', 'True')], 'last')).toMatchObject({ kind: 'fail', reason: 'MachineStays' });
    expect(gate([machine('a', 'node-2', 'True')], 'last').kind).toBe('pass');
  });

  test('one of which nothing says whether it can be moved is unmeasured', () => {
    expect(gate([machine('a', 'node-1')])).toMatchObject({ kind: 'unmeasured', why: 'not-ready' });
    expect(gate([machine('a', 'node-1', 'Unknown')])).toMatchObject({ kind: 'unmeasured', why: 'not-ready' });
  });

  test('those of other nodes, that are over, or have no node yet do not matter, nor do any after the reboot', () => {
    const scheduling = { metadata: { namespace: 'vms', name: 'c' } };
    expect(gate([machine('a', 'node-2', 'False'), machine('b', 'node-1', 'False', 'Succeeded'), scheduling]).kind).toBe(
      'pass',
    );
    expect(gate([machine('a', 'node-1', 'False')], 'after').kind).toBe('pass');
  });

  test.each(['before', 'last', 'after'] as const)('a kind that is not served stays unmeasured (%s)', (stage) => {
    const notServed = unmeasured('machines', 'API server', 'not-served', 'no kind VirtualMachineInstance');
    expect(kubeVirtGate(readKubeVirt(notServed), 'node-1', stage).verdict).toBe(notServed);
  });
});
