import { expect, test } from 'vitest';
import type { KubernetesPort } from '../../../src/activities/kubernetes/port.ts';
import { uncordon } from '../../../src/activities/node-reboot/write-node.ts';
import { unmeasured } from '../../../src/domain/core/verdict.ts';
import { newVisit } from '../../../src/domain/node-reboot/visit.ts';
import { before, NOW } from '../../domain/node-reboot/world.ts';

const visit = { ...newVisit('n1', 'libc6', null, NOW), phase: 'Restoring' as const, before };
const record = { campaign: 'control-plane', run: 'run-1', visit, reason: '' };

/** What comes of it where that is all that can be said of the node. */
async function outcome(of: 'uncordon' | 'restore', why: 'missing' | 'denied'): Promise<string> {
  const answer = unmeasured('node n1', 'API server', why, 'nodes "n1" not found');
  const port = { get: () => Promise.resolve(answer) } as unknown as KubernetesPort;
  return (await uncordon(port, of, record, new AbortController().signal)).outcome;
}

test('a node that the cluster has no more is none to give back, but for one that was rebooted a person is asked', async () => {
  expect(await outcome('restore', 'missing')).toBe('done');
  expect(await outcome('restore', 'denied')).toBe('refused');
  expect(await outcome('uncordon', 'missing')).toBe('refused');
});
