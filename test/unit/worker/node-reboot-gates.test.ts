import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubernetesPort } from '../../../src/activities/kubernetes/port.ts';
import { unmeasured } from '../../../src/domain/core/verdict.ts';
import type { GateReading } from '../../../src/domain/node-reboot/gate.ts';
import { readWorkerConfig, type WorkerConfig } from '../../../src/worker/config.ts';
import { nodeRebootActivities } from '../../../src/worker/node-reboot-activities.ts';
import { rulesBody, vectorBody } from '../../domain/node-reboot/prometheus-body.ts';
import { spec } from '../../domain/node-reboot/world.ts';

/** A Prometheus in which no alert is active, and an etcd of one member, at one address. */
let server: Server;
let url: string;

beforeAll(async () => {
  const answers: Record<string, () => unknown> = {
    '/api/v1/query': () => vectorBody([]),
    '/api/v1/rules': () => rulesBody(['KubeNodeNotReady']),
    '/v3/cluster/member/list': () => ({ members: [{ ID: '1', name: 'm1', clientURLs: [url] }] }),
    '/health': () => ({ health: 'true' }),
  };
  server = createServer((request, response) => {
    const answer = answers[(request.url ?? '').split('?')[0] ?? ''];
    response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer?.() ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(
  () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
);

/** A cluster that lets nobody read anything. */
const closed = {
  get: () => Promise.resolve(unmeasured('it', 'API server', 'denied', 'denied')),
  list: () => Promise.resolve(unmeasured('it', 'API server', 'denied', 'denied')),
} as unknown as KubernetesPort;

async function gatesOf(more: Partial<WorkerConfig>, names: { etcd: string; prometheus: string }) {
  const config = { ...(await readWorkerConfig(undefined)), ...more };
  const activities = nodeRebootActivities(config, () => closed, {} as Client);
  const gates = {
    host: false as const,
    etcd: { cluster: names.etcd, members: 1 },
    alerts: { prometheus: names.prometheus, blocking: ['KubeNodeNotReady'] },
  };
  const input = { spec: spec({ gates }), nodes: ['n1'] };
  const answer = await new MockActivityEnvironment().run(() => activities.gatesOfNodes(input));
  const readings = (answer as Readonly<Record<string, readonly GateReading[]>>)['n1'] ?? [];
  return Object.fromEntries(readings.map(({ gate, verdict }) => [gate, verdict]));
}

test('gates ask the Prometheus and the etcd that the configuration names', async () => {
  const etcd = { default: { endpoints: [url] } };
  const of = { hostImage: 'busybox', commands: {}, etcd };
  const prometheus = { url };
  const known = await gatesOf(
    { nodeReboot: { ...of, prometheus: { own: { url } } } },
    { etcd: 'default', prometheus: 'own' },
  );
  expect(known).toMatchObject({ etcd: { kind: 'pass' }, alerts: { kind: 'pass' }, nodes: { kind: 'unmeasured' } });
  const top = await gatesOf(
    { prometheus, nodeReboot: { ...of, prometheus: {} } },
    { etcd: 'default', prometheus: 'default' },
  );
  expect(top).toMatchObject({ alerts: { kind: 'pass' } });
});

test('a gate whose server the configuration lacks is unmeasured, and says so', async () => {
  const nodeReboot = { hostImage: 'busybox', commands: {}, prometheus: {}, etcd: {} };
  const gates = await gatesOf({ nodeReboot }, { etcd: 'edge', prometheus: 'default' });
  expect(gates).toMatchObject({
    etcd: { kind: 'unmeasured', message: expect.stringContaining('no etcd cluster "edge"') as string },
    alerts: { kind: 'unmeasured', message: expect.stringContaining('no Prometheus "default"') as string },
  });
});
