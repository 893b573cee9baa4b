import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { kube } from './kube-api.ts';
import { pushSpokeImage } from './images.ts';
import { spokeDaemonSet, spokeDeployment, spokeStatefulSet } from './manifests.ts';

const lab = inject('lab');
const workload = {
  namespace: 'default',
  name: `manifests-${process.pid}-${Date.now()}`,
  image: 'registry.test/app:v1',
};

/** The object as the API server would store it: refused where a field is unknown or missing. */
async function dryRun(kind: string, object: object): Promise<unknown> {
  const url = `/apis/apps/v1/namespaces/default/${kind}?dryRun=All&fieldValidation=Strict`;
  return kube(lab, 'POST', url, { body: object });
}

describe('workloads of spokes', () => {
  test('are accepted by the API server, field by field', async () => {
    const full = {
      ...workload,
      node: 'kwok' as const,
      architecture: 'arm64',
      env: { SPOKE_INIT: '1s' },
      initContainers: [{ name: 'init', image: 'registry.test/app:v1', args: ['sleep', '0'] }],
      sidecars: [{ name: 'sidecar', image: 'registry.test/side:v1' }],
      annotations: { a: 'b' },
      minReadySeconds: 1,
    };
    for (const one of [workload, full, { ...workload, node: 'real' as const, readinessProbe: false }]) {
      await dryRun('deployments', spokeDeployment(one));
      await dryRun('statefulsets', spokeStatefulSet({ ...one, updateStrategy: { type: 'OnDelete' } }));
      await dryRun('daemonsets', spokeDaemonSet(one));
    }
  });

  test('run on fake nodes when they ask for them', async () => {
    const { addFakeNodes, removeFakeNodes } = await import('./parts/fake-nodes.ts');
    const nodes = await addFakeNodes(lab, { count: 1, arch: 'arm64', prefix: `manifests-${process.pid}` });
    onTestFinished(() => removeFakeNodes(lab, nodes));
    const url = '/apis/apps/v1/namespaces/default/deployments';
    await kube(lab, 'POST', url, { body: spokeDeployment({ ...workload, node: 'kwok', architecture: 'arm64' }) });
    onTestFinished(async () => {
      await kube(lab, 'DELETE', `${url}/${workload.name}`);
    });
    await expect
      .poll(() => kube(lab, 'GET', `${url}/${workload.name}`), { timeout: 60_000, interval: 200 })
      .toMatchObject({ status: { readyReplicas: 1 } });
  });

  test.skipIf(lab.node === null)('run on the real node, and answer there', async () => {
    const scout = { name: 'scout', backend: 'local', model: 'small', effort: 'low', paused: false };
    const { reference } = await pushSpokeImage(lab.registry, {
      repository: `manifests-test/${workload.name}`,
      tag: 'v1',
      version: '1',
      agents: [scout],
    });
    const url = '/apis/apps/v1/namespaces/default/deployments';
    const name = `${workload.name}-real`;
    await kube(lab, 'POST', url, { body: spokeDeployment({ ...workload, name, image: reference, node: 'real' }) });
    onTestFinished(async () => {
      await kube(lab, 'DELETE', `${url}/${name}`);
    });
    await expect
      .poll(() => kube(lab, 'GET', `${url}/${name}`), { timeout: 120_000, interval: 200 })
      .toMatchObject({ status: { readyReplicas: 1 } });
    const pods = '/api/v1/namespaces/default/pods';
    const { items } = await kube<{ items: { metadata: { name: string } }[] }>(
      lab,
      'GET',
      `${pods}?labelSelector=app%3D${name}`,
    );
    const pod = items[0]?.metadata.name ?? '';
    expect(await kube(lab, 'GET', `${pods}/${pod}:8080/proxy/api/status`)).toEqual({
      initializing: false,
      agents: [scout],
    });
  });
});
