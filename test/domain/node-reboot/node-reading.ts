import type { NodeReading } from '../../../src/domain/node-reboot/node.ts';

/** A node that is in. */
export function nodeReading(name: string, changes: Partial<NodeReading> = {}): NodeReading {
  return {
    name,
    uid: name,
    ready: true,
    heartbeatAt: 0,
    unschedulable: false,
    cordonManager: null,
    cordonedBy: null,
    lastVisitAt: null,
    bootId: `${name}-boot-1`,
    kernel: '6.14.0-37-generic',
    memory: 16_000,
    ...changes,
  };
}
