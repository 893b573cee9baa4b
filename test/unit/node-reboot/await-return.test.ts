import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { KubernetesPort, WatchEvent } from '../../../src/activities/kubernetes/port.ts';
import type { NodeObject } from '../../../src/activities/node-reboot/nodes.ts';
import { awaitReturn } from '../../../src/activities/node-reboot/watch-node.ts';
import { read, unmeasured, type Reading } from '../../../src/domain/core/verdict.ts';
import { newVisit, type Visit } from '../../../src/domain/node-reboot/visit.ts';
import { MINUTE, NOW, oldKernel, spec } from '../../domain/node-reboot/world.ts';

const deadline = NOW + 15 * MINUTE;
const visit: Visit = {
  ...newVisit('n1', 'wish', null, NOW),
  phase: 'Returning',
  before: { bootId: 'one', kernel: oldKernel, memory: 1, unschedulable: false },
  rebootAt: NOW,
};

/** What the API server shows at an instant. */
interface Shown {
  readonly at: number;
  readonly node: NodeObject | 'nothing' | 'gone';
  /** It is of before: who asks for the node gets no answer. */
  readonly silent?: boolean;
}

function node(bootID: string, ready: boolean, heartbeatAt: number): NodeObject {
  const lastHeartbeatTime = new Date(heartbeatAt).toISOString();
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', uid: 'u', resourceVersion: '1' },
    status: {
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'Unknown', lastHeartbeatTime }],
      nodeInfo: { bootID, kernelVersion: oldKernel },
      capacity: { memory: '1' },
    },
  };
}

const gone = unmeasured('node n1', 'API server', 'missing', 'there is no node n1');
const nobody = unmeasured('node n1', 'API server', 'unreachable', 'nobody answers');

/** What the watch of a node comes to that sees this. @returns with the outcome and when it was given */
async function outcomeOf(shown: readonly Shown[]): Promise<{ readonly outcome: string; readonly at: number }> {
  let now = NOW;
  let asked: Reading<NodeObject> = nobody;
  const get = () => Promise.resolve(asked);
  async function* watch(_: unknown, { signal }: { signal: AbortSignal }): AsyncGenerator<WatchEvent<NodeObject>> {
    for (const { at, node: object, silent } of shown) {
      if (signal.aborted) return;
      now = at;
      asked = object === 'gone' ? gone : object === 'nothing' || silent === true ? nobody : read(object);
      if (object === 'gone') {
        yield { type: 'listed', items: [], resourceVersion: '1' };
      } else if (object === 'nothing') {
        yield { type: 'interrupted', reading: nobody };
      } else {
        yield { type: 'listed', items: [object], resourceVersion: '1' };
      }
      // Each is looked at before the next one comes.
      await sleep(5);
    }
  }
  const record = { campaign: 'c', run: 'r', visit, reason: '' };
  const { outcome } = await awaitReturn(
    { watch, get } as unknown as KubernetesPort,
    { spec: spec(), record, deadline },
    () => now,
    { signal: new AbortController().signal, resumed: undefined, progress: () => undefined },
  );
  return { outcome, at: now };
}

const after = (seconds: number) => deadline + seconds * 1_000;
/** As the API server had last heard of it, a moment after it was told to reboot. */
const stale = node('one', true, NOW + 1_000);

test('NR-55 a node that boots while the API server is away past the deadline is back, whatever was last known of it', async () => {
  const back = node('two', true, after(25));
  const seen = await outcomeOf([
    { at: NOW + MINUTE, node: 'nothing' },
    { at: after(10), node: 'nothing' },
    { at: after(20), node: stale },
    { at: after(25), node: back },
  ]);
  expect(seen).toEqual({ outcome: 'returned', at: after(25) });
});

test('NR-55 a node that has not come back a minute after the API server has is told to hang, and not before', async () => {
  const gone = node('one', false, NOW + 1_000);
  const seen = await outcomeOf([
    { at: after(10), node: 'nothing' },
    { at: after(20), node: gone },
    { at: after(69), node: gone },
    { at: after(71), node: gone },
  ]);
  expect(seen).toEqual({ outcome: 'hung', at: after(71) });
});

test('NR-55 a worker that begins to look past the deadline gives a node a minute, too', async () => {
  const seen = await outcomeOf([
    { at: after(10), node: stale },
    { at: after(15), node: node('two', true, after(14)) },
  ]);
  expect(seen.outcome).toBe('returned');
});

test('NR-55 a watch whose connection died without a word says nothing of a node', async () => {
  const gone = node('one', false, NOW + 1_000);
  const seen = await outcomeOf([
    { at: after(-1), node: gone },
    { at: after(10), node: gone, silent: true },
    { at: after(25), node: node('two', true, after(25)) },
  ]);
  expect(seen.outcome).toBe('returned');
});

test('NR-90 a node that is there all the time is judged at its deadline', async () => {
  const ready = await outcomeOf([
    { at: after(-1), node: stale },
    { at: after(0), node: stale },
  ]);
  expect(ready).toEqual({ outcome: 'didNothing', at: after(0) });
  const silent = node('one', false, NOW - 1_000);
  const hangs = await outcomeOf([
    { at: after(-1), node: silent },
    { at: after(0), node: silent },
  ]);
  expect(hangs).toEqual({ outcome: 'hung', at: after(0) });
});

test('a node that somebody deletes while it is away is told of at the deadline, and not waited for in silence', async () => {
  const seen = await outcomeOf([
    { at: NOW + MINUTE, node: stale },
    { at: NOW + 2 * MINUTE, node: 'gone' },
    { at: after(1), node: 'gone' },
    { at: after(2), node: 'gone' },
  ]);
  expect(seen.outcome).toBe('hung');
});
