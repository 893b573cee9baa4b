import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubernetesClient } from '../../../src/activities/kubernetes/port.ts';
import { rebootPodName } from '../../../src/activities/node-reboot/reboot.ts';
import { removeHostPods, removeLeftPods } from '../../../src/activities/node-reboot/remove-host-pods.ts';
import { hostPods } from '../../../src/domain/node-reboot/pod.ts';
import { startApiServer, type ApiServerDouble } from '../../doubles/api-server.ts';

let server: ApiServerDouble;
let port: KubernetesClient;
const manager = { fieldManager: 'test' };
const { signal } = new AbortController();

beforeEach(async () => {
  server = await startApiServer({});
  port = await createKubernetes({ name: 'double', kubeconfig: server.kubeconfig() });
  const status = { nodeInfo: { bootID: 'boot-2', kernelVersion: '6.14' }, capacity: { memory: '16Gi' } };
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, status };
  expect(await port.create(node, manager)).toMatchObject({ kind: 'written' });
});

afterEach(async () => {
  await port.close();
  await server.stop();
});

async function pod(
  name: string,
  nodeName: string,
  labels: Record<string, string> = { [hostPods.label]: hostPods.value },
) {
  const metadata = { name, namespace: hostPods.namespace, labels };
  const spec = { nodeName, containers: [{ name: 'host', image: 'busybox' }] };
  expect(await port.create({ apiVersion: 'v1', kind: 'Pod', metadata, spec }, manager)).toMatchObject({
    kind: 'written',
  });
}

async function names(): Promise<string[]> {
  const found = await port.list({ apiVersion: 'v1', kind: 'Pod', namespace: hostPods.namespace });
  return found.kind === 'read' ? found.value.items.map(({ metadata }) => metadata.name).sort() : [];
}

const running = rebootPodName('n1', 'boot-2');
const ended = rebootPodName('n1', 'boot-1');
const elsewhere = rebootPodName('n2', 'boot-1');

test('what told an earlier boot to end goes with the turn; what told the boot that runs, and other nodes, stays', async () => {
  await pod(running, 'n1');
  await pod(ended, 'n1');
  await pod(elsewhere, 'n2');
  await pod('somebody-elses', 'n1', {});
  await removeHostPods(port, 'n1', Date.now, signal);
  expect(await names()).toEqual([running, elsewhere, 'somebody-elses'].sort());
});

test('a pod that asks a host stays until only a worker that died can have left it', async () => {
  await pod('host-facts-1', 'n2');
  const made = await port.get({ apiVersion: 'v1', kind: 'Pod', namespace: hostPods.namespace, name: 'host-facts-1' });
  const at = made.kind === 'read' ? Date.parse(made.value.metadata.creationTimestamp ?? '') : NaN;
  await removeHostPods(port, 'n1', () => at + 4 * 60_000, signal);
  expect(await names()).toEqual(['host-facts-1']);
  await removeHostPods(port, 'n1', () => at + 6 * 60_000, signal);
  expect(await names()).toEqual([]);
});

test('a campaign that only looks removes what a dead worker has left, and nothing that told a boot to end', async () => {
  await pod('host-facts-1', 'n2');
  await pod(ended, 'n1');
  const made = await port.get({ apiVersion: 'v1', kind: 'Pod', namespace: hostPods.namespace, name: 'host-facts-1' });
  const at = made.kind === 'read' ? Date.parse(made.value.metadata.creationTimestamp ?? '') : NaN;
  await removeLeftPods(port, () => at + 4 * 60_000, signal);
  expect(await names()).toEqual(['host-facts-1', ended].sort());
  await removeLeftPods(port, () => at + 6 * 60_000, signal);
  expect(await names()).toEqual([ended]);
});

test('nothing goes where it is not known which boot runs', async () => {
  await pod(ended, 'n1');
  server.fault = ({ url }) => (url.includes('/nodes/') ? { kind: 'answer', status: 403, body: '{}' } : undefined);
  await removeHostPods(port, 'n1', Date.now, signal);
  server.fault = undefined;
  expect(await names()).toEqual([ended]);
});
