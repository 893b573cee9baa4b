import { afterEach, expect, test, vi } from 'vitest';
import type { KubernetesPort } from '../../../src/activities/kubernetes/port.ts';
import { observeCampaign } from '../../../src/activities/node-reboot/observe.ts';
import { askSideBySide } from '../../../src/activities/node-reboot/side-by-side.ts';
import { read, unmeasured, type Reading } from '../../../src/domain/core/verdict.ts';
import { MINUTE, NOW, spec } from '../../domain/node-reboot/world.ts';

afterEach(() => vi.useRealTimers());

test('hosts that take a minute each to say nothing are asked for four minutes, and the rest is told not to have been', async () => {
  let now = NOW;
  let atOnce = 0;
  let most = 0;
  const asked: string[] = [];
  const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
  const answers = await askSideBySide<Reading<string>>(
    names,
    async (name) => {
      asked.push(name);
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      // Eight of them take the minute together.
      now += MINUTE / 8;
      atOnce -= 1;
      return read(name);
    },
    (name, message) => unmeasured(name, 'worker', 'timeout', message),
    () => now,
  );
  expect(most).toBe(8);
  expect(asked.length).toBeGreaterThanOrEqual(32);
  expect(asked.length).toBeLessThan(48);
  expect(Object.keys(answers)).toEqual(names);
  expect(answers['n1']).toEqual(read('n1'));
  expect(answers['n99']).toMatchObject({ kind: 'unmeasured', message: expect.stringContaining('n99') as string });
});

test('the hosts of a campaign are asked side by side', async () => {
  const names = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8'];
  const status = {
    nodeInfo: { bootID: 'b', kernelVersion: '6.14' },
    capacity: { memory: '16Gi' },
    conditions: [{ type: 'Ready', status: 'True' }],
  };
  const report = '--holdfast-- begin\n--holdfast-- boot\n0123abcd\n--holdfast-- end\n';
  const terminated = { status: { containerStatuses: [{ state: { terminated: { exitCode: 0, message: report } } }] } };
  const left = { name: 'host-facts-left', creationTimestamp: '2026-01-01T00:00:00Z' };
  const deleted: string[] = [];
  let atOnce = 0;
  let most = 0;
  const port = {
    list: ({ kind }: { readonly kind: string }) => {
      if (kind === 'Pod') return Promise.resolve(read({ items: [{ metadata: left }], resourceVersion: '1' }));
      const items = names.map((name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name }, status }));
      return Promise.resolve(read({ items, resourceVersion: '1' }));
    },
    get: ({ kind }: { readonly kind: string }) => Promise.resolve(read(kind === 'Pod' ? terminated : { metadata: {} })),
    create: () => {
      most = Math.max(most, ++atOnce);
      return Promise.resolve({ kind: 'written' });
    },
    delete: ({ name }: { readonly name: string }) => {
      deleted.push(name);
      atOnce -= 1;
      return Promise.resolve({ kind: 'written' });
    },
  } as unknown as KubernetesPort;
  const dependencies = {
    kubernetes: () => port,
    prometheus: () => null,
    etcd: () => null,
    hostImage: 'busybox',
    holderRun: () => Promise.resolve('unknown' as const),
  };
  const input = { name: 'all', spec: spec({ nodes: names }), done: {} };
  vi.useFakeTimers();
  const observing = observeCampaign(dependencies, input, new AbortController().signal);
  await vi.advanceTimersByTimeAsync(1_000);
  const seen = await observing;
  expect(seen.sentinels).toEqual(Object.fromEntries(names.map((name) => [name, read(null)])));
  expect(most).toBe(8);
  // And what a worker that died had asked with is gone.
  expect(deleted).toContain('host-facts-left');
});
