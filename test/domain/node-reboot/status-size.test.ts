import { expect, test } from 'vitest';
import { fail, read } from '../../../src/domain/core/verdict.ts';
import { nodeRebootStatus } from '../../../src/domain/node-reboot/status.ts';
import { Campaign, kernelWish, node, NOW, observation } from './world.ts';

/** Temporal warns of payloads from 256 KB on, and a status is asked at each scrape. */
test('the status of five hundred nodes that all wait for a gate with much to say stays small', () => {
  const names = Array.from({ length: 500 }, (_, index) => `worker-${index}.rack-${index % 20}.example.com`);
  const campaign = new Campaign({ nodes: names, approval: 'None' });
  campaign.sees(
    observation([], {
      nodes: read(names.map((name) => node(name))),
      order: read(names),
      sentinels: Object.fromEntries(names.map((name) => [name, read(kernelWish)])),
      gates: [
        { gate: 'drain', verdict: fail('DrainBlocked', 'pod shop/web would lose data; '.repeat(50)), lift: null },
      ],
    }),
  );
  const text = JSON.stringify(nodeRebootStatus(campaign.state, NOW));
  expect(text.length).toBeLessThan(256 * 1024);
  expect(text).toContain('goes first (Gates)');
});
