import { expect, test } from 'vitest';
import type { KubernetesPort } from '../../../src/activities/kubernetes/port.ts';
import { drainNode } from '../../../src/activities/node-reboot/drain.ts';
import { read } from '../../../src/domain/core/verdict.ts';
import { formatMark } from '../../../src/domain/node-reboot/node.ts';
import { newVisit } from '../../../src/domain/node-reboot/visit.ts';
import { podObject } from '../../domain/node-reboot/pod-object.ts';
import { before, HOUR, NOW, spec } from '../../domain/node-reboot/world.ts';

const visit = { ...newVisit('n1', 'libc6', null, NOW), phase: 'Draining' as const, before };
const record = { campaign: 'control-plane', run: 'run-1', visit, reason: '' };

/** What a drain of one pod comes to. @param evicted hears of each eviction */
async function drained(unschedulable: boolean, mark: string | null, evicted: (name: string) => void): Promise<string> {
  const annotations = mark === null ? {} : { 'holdfast.dev/cordoned-by': mark };
  const node = {
    ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'u', annotations }, spec: { unschedulable } },
    status: {
      nodeInfo: { bootID: before.bootId, kernelVersion: before.kernel },
      capacity: { memory: '16Gi' },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
  let pods = [podObject({ name: 'web-1', owner: { kind: 'ReplicaSet' } })];
  const port = {
    list: () => Promise.resolve(read({ items: pods })),
    get: () => Promise.resolve(read(node)),
    evict: ({ name }: { name: string }) => {
      evicted(name);
      pods = [];
      return Promise.resolve({ kind: 'evicted' });
    },
  } as unknown as KubernetesPort;
  const context = { signal: new AbortController().signal, resumed: undefined, progress: () => undefined };
  const step = { spec: spec(), record, deadline: NOW + HOUR };
  const result = await drainNode(port, step, () => NOW, context);
  return `${result.outcome}: ${result.message}`;
}

test.each<[string, boolean, string | null]>([
  ['uncordons', false, formatMark(record)],
  ['takes the mark off', true, null],
  ['puts another mark on', true, 'somebody'],
])(
  'where a person %s a node that is being drained, nothing more is evicted from it',
  async (_, unschedulable, mark) => {
    const evicted: string[] = [];
    expect(await drained(unschedulable, mark, (name) => evicted.push(name))).toMatch(
      /^blocked: somebody has uncordoned node n1/,
    );
    expect(evicted).toEqual([]);
  },
);

test('on a node that is cordoned by us pods are evicted', async () => {
  const evicted: string[] = [];
  expect(await drained(true, formatMark(record), (name) => evicted.push(name))).toMatch(/^drained: /);
  expect(evicted).toEqual(['web-1']);
});
