import { expect, test } from 'vitest';
import type { KubeObject, KubernetesPort, WriteOutcome } from '../../../src/activities/kubernetes/port.ts';
import { rebootByPod } from '../../../src/activities/node-reboot/reboot.ts';
import { read, unmeasured, type Reading } from '../../../src/domain/core/verdict.ts';
import { formatMark } from '../../../src/domain/node-reboot/node.ts';
import { newVisit, type Visit } from '../../../src/domain/node-reboot/visit.ts';
import { before, NOW } from '../../domain/node-reboot/world.ts';

type Outcome = WriteOutcome<KubeObject>;

const bootId = '8c0d7b3e-0d4f-4a53-9f6b-5a4b3f1f0c11';
const visit: Visit = {
  ...newVisit('n1', 'libc6', null, NOW),
  phase: 'Rebooting',
  before: { ...before, bootId },
  rebootAt: NOW,
};
const record = { campaign: 'control-plane', run: 'run-1', visit, reason: '' };
const mark = formatMark({ campaign: record.campaign, run: record.run });
const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', uid: 'u', annotations: { 'holdfast.dev/cordoned-by': mark } },
  spec: { unschedulable: true },
  status: {
    nodeInfo: { bootID: bootId, kernelVersion: before.kernel },
    capacity: { memory: '16Gi' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
};
const noPod = unmeasured('pod', 'API server', 'missing', 'there is no such pod');
const denied = unmeasured('node n1', 'API server', 'denied', 'nodes is forbidden');
const written: Outcome = { kind: 'written', object: node };
const forbidden: Outcome = { kind: 'denied', message: 'pods is forbidden' };
const unanswered: Outcome = { kind: 'unknown', cause: 'timeout', message: 'no answer', retryAfterMs: 1 };

/** What a try comes to. @param creates the answers to each creation of the pod, in order */
async function outcome(
  wasThere: boolean,
  of: { pod?: Reading<object>; node?: Reading<object>; creates?: Outcome[]; now?: number } = {},
): Promise<string> {
  const creates = [...(of.creates ?? [written])];
  const port = {
    get: ({ kind }: { kind: string }) => Promise.resolve(kind === 'Pod' ? (of.pod ?? noPod) : (of.node ?? read(node))),
    create: () => Promise.resolve(creates.shift()),
  } as unknown as KubernetesPort;
  const { signal } = new AbortController();
  return (await rebootByPod(port, 'busybox', record, wasThere, NOW + 60_000, () => of.now ?? NOW, signal)).outcome;
}

test('a boot is told to end once its pod is there, and refused only where none can be', async () => {
  expect(await outcome(false)).toBe('sent');
  expect(await outcome(true)).toBe('sent');
  expect(await outcome(false, { creates: [forbidden] })).toBe('refused');
  expect(await outcome(false, { node: denied })).toBe('refused');
});

test('where an earlier try may have placed the pod, its node is not given back: the request may be under way still', async () => {
  const late = NOW + 60_001;
  expect(await outcome(false, { now: late })).toBe('stale');
  expect(await outcome(true, { now: late })).toBe('unknown');
  const uncordoned = { ...node, spec: {} };
  expect(await outcome(false, { node: read(uncordoned) })).toBe('refused');
  expect(await outcome(true, { node: read(uncordoned) })).toBe('unknown');
});

test('a pod that an earlier try has placed counts, whatever can be read of its node', async () => {
  expect(await outcome(true, { pod: read(node), node: denied })).toBe('sent');
});

test('where an earlier try may have placed it, nobody says that the node was not told: it is not given back', async () => {
  expect(await outcome(true, { node: denied })).toBe('unknown');
  expect(await outcome(true, { pod: unmeasured('pod', 'API server', 'denied', 'pods is forbidden') })).toBe('unknown');
  expect(await outcome(true, { creates: [forbidden] })).toBe('unknown');
  expect(await outcome(false, { creates: [unanswered, forbidden] })).toBe('unknown');
  // Nothing was sent, or the API server has said that it did nothing.
  expect(await outcome(false, { creates: [{ ...unanswered, effect: 'none' }, forbidden] })).toBe('refused');
});
