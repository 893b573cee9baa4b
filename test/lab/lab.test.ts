import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import {
  markAudit,
  createNamespace,
  deleteNamespace,
  readAudit,
  serviceAccountKubeconfig,
  setPrometheusTargets,
} from './access.ts';
import { pushSpokeImage } from './images.ts';
import { kube, kubeGetOrNull, KubeApiError } from './kube-api.ts';
import { attachLab, startLab, type LabEnv, type PartName } from './lab.ts';
import { labId, listLabs } from './lab-state.ts';
import { readProcesses } from './lab-process.ts';
import { spokeDeployment } from './manifests.ts';
import { startInAProcessThatDies } from './orphan-lab.ts';
import { isAlive, processesOfLab } from './process-identity.ts';
import { waitFor } from './wait.ts';

const shared = inject('lab');
const quiet = { log: () => {} };
const SMALL: PartName[] = ['temporal', 'registry'];

interface PodList {
  items: { metadata: { name: string }; spec: { nodeName?: string }; status: { phase?: string; podIP?: string } }[];
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

describe('a lab', () => {
  test('ends without leaving a process, a folder or an entry behind', async () => {
    const lab = await startLab({ parts: SMALL, ...quiet });
    const started = readProcesses(lab.env.dir).flatMap(({ id }) => (id ? [id] : []));
    expect(started.length).toBe(2);
    await lab.stop();
    expect(started.filter(isAlive)).toEqual([]);
    expect(processesOfLab(lab.env.dir)).toEqual([]);
    expect(existsSync(lab.env.dir)).toBe(false);
    expect(listLabs().map((entry) => entry.dir)).not.toContain(lab.env.dir);
  });

  test('stands beside another one, with ports of its own, and ends alone', async () => {
    const first = await startLab({ parts: SMALL, ...quiet });
    const second = await startLab({ parts: SMALL, ...quiet });
    try {
      expect(second.env.registry).not.toBe(first.env.registry);
      await first.stop();
      expect((await fetch(`http://${second.env.registry}/v2/`)).status).toBe(200);
    } finally {
      await first.stop();
      await second.stop();
    }
  });

  test('whose launcher was killed is taken down by the next start', async () => {
    const dir = await startInAProcessThatDies(SMALL);
    const orphans = processesOfLab(dir);
    expect(orphans.length).toBeGreaterThan(0);

    const next = await startLab({ parts: ['registry'], ...quiet });
    try {
      expect(orphans.filter(isAlive)).toEqual([]);
      expect(existsSync(dir)).toBe(false);
      expect(listLabs().map((entry) => entry.dir)).not.toContain(dir);
    } finally {
      await next.stop();
    }
  });

  test('refuses a folder that holds something else, and a second lab in the same folder', async () => {
    await expect(startLab({ parts: SMALL, dir: import.meta.dirname, ...quiet })).rejects.toThrow('holds other files');
    await expect(startLab({ parts: SMALL, dir: shared.dir, ...quiet })).rejects.toThrow('already running');
  });

  test('that does not come up leaves nothing running and shows the log', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hf-lab-'));
    process.env['HOLDFAST_LAB_REGISTRY'] = '/bin/false';
    try {
      await expect(startLab({ parts: ['registry'], dir, ...quiet })).rejects.toThrow(/registry ended/);
    } finally {
      delete process.env['HOLDFAST_LAB_REGISTRY'];
      rmSync(dir, { recursive: true });
    }
    expect(listLabs().map((entry) => entry.dir)).not.toContain(dir);
  });

  test('says by name which variable points to no program', async () => {
    const before = temporaryLabs();
    process.env['HOLDFAST_LAB_REGISTRY'] = '/nowhere/registry';
    try {
      await expect(startLab({ parts: ['registry'], ...quiet })).rejects.toThrow('HOLDFAST_LAB_REGISTRY names /nowhere');
      expect(temporaryLabs()).toEqual(before);
    } finally {
      delete process.env['HOLDFAST_LAB_REGISTRY'];
    }
  });
});

describe('the parts', () => {
  test.each(['temporal', 'registry', 'kube-apiserver', 'prometheus'])(
    '%s serves again at the same place after being killed',
    async (name) => {
      const lab = await attachLab(shared.dir);
      await lab.kill(name);
      await lab.start(name);
      await expect(lab.start(name)).rejects.toThrow('already running');
    },
  );

  test('a service account has the rights it was given and no others', async () => {
    const namespace = await createNamespace(shared);
    try {
      const rules = [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['list'] }];
      const kubeconfig = await serviceAccountKubeconfig(shared, { namespace, name: 'reader', rules });
      const token = /token: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))?.[1] ?? '';
      const as: LabEnv = { ...shared, adminToken: token };
      await kube(as, 'GET', `/apis/apps/v1/namespaces/${namespace}/deployments`);
      const denied = await kube(as, 'GET', `/api/v1/namespaces/${namespace}/pods`).catch((error: unknown) => error);
      expect(denied).toBeInstanceOf(KubeApiError);
      expect((denied as KubeApiError).status).toBe(403);
    } finally {
      await deleteNamespace(shared, namespace);
    }
  });

  test('the audit log shows a patch of a workload with its body', async () => {
    const namespace = await createNamespace(shared);
    const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    try {
      const container = { name: 'app', image: 'example.invalid/app:1' };
      const labels = { app: 'x' };
      await kube(shared, 'POST', deployments, {
        body: {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'x' },
          spec: {
            replicas: 0,
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [container] } },
          },
        },
      });
      const mark = await markAudit(shared);
      const body = { spec: { template: { spec: { containers: [{ ...container, image: 'example.invalid/app:2' }] } } } };
      await kube(shared, 'PATCH', `${deployments}/x`, { body, contentType: 'application/strategic-merge-patch+json' });
      const patches = (await readAudit(shared, mark)).filter(
        (event) => event.verb === 'patch' && event.user.username === 'admin',
      );
      expect(patches.map((event) => event.requestObject)).toEqual([body]);
    } finally {
      await deleteNamespace(shared, namespace);
    }
  });

  test('fake nodes have the architecture asked for and run pods that tolerate them, and no others', async () => {
    const lab = await attachLab(shared.dir);
    const nodes = await lab.addNodes({ count: 2, arch: 'arm64', prefix: 'lab-test', labels: { suite: 'lab' } });
    const namespace = await createNamespace(shared);
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    try {
      const toleration = { key: 'kwok.x-k8s.io/node', operator: 'Exists' };
      await kube(shared, 'POST', pods, { body: pod('fits', { tolerations: [toleration] }) });
      await kube(shared, 'POST', pods, { body: pod('does-not', {}) });
      const running = await waitFor('the pod that fits runs', async () => {
        const list = await kube<PodList>(shared, 'GET', pods);
        return list.items.find((item) => item.metadata.name === 'fits' && item.status.phase === 'Running');
      });
      expect(nodes).toContain(running.spec.nodeName);
      expect(running.status.podIP).toMatch(/^127\./);
      await expect(kube(shared, 'GET', `${pods}/fits:8080/proxy/`)).rejects.toThrow('address not allowed');
      const list = await kube<PodList>(shared, 'GET', pods);
      expect(list.items.find((item) => item.metadata.name === 'does-not')?.spec.nodeName).toBeUndefined();
    } finally {
      await deleteNamespace(shared, namespace);
      await lab.removeNodes(nodes);
    }
  });

  test('a pod on a fake node that the control plane takes for not ready, as it does when it hears nothing of a node, is ready again', async () => {
    const lab = await attachLab(shared.dir);
    const nodes = await lab.addNodes({ count: 1, arch: 'arm64', prefix: 'lab-test' });
    const namespace = await createNamespace(shared);
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const readiness = async () => {
      const { status } = await kube<{ status: { conditions?: Condition[] } }>(shared, 'GET', `${path}/one`);
      return status.conditions?.find(({ type }) => type === 'Ready')?.status;
    };
    try {
      const tolerations = [{ key: 'kwok.x-k8s.io/node', operator: 'Exists' }];
      await kube(shared, 'POST', path, { body: pod('one', { tolerations, nodeName: nodes[0] }) });
      await waitFor('the pod is ready', async () => (await readiness()) === 'True');
      await kube(shared, 'PATCH', `${path}/one/status`, {
        body: { status: { conditions: [{ type: 'Ready', status: 'False' }] } },
        contentType: 'application/strategic-merge-patch+json',
      });
      expect(await readiness()).toBe('False');
      await waitFor('the pod is ready again', async () => (await readiness()) === 'True');
    } finally {
      await deleteNamespace(shared, namespace);
      await lab.removeNodes(nodes);
    }
  });
});

describe.skipIf(shared.node === null)(`the real node${shared.node ? '' : ` (${shared.nodeSkipReason})`}`, () => {
  test('pulls an image by digest, runs it, and its pod is reached through the API server', async () => {
    const namespace = await createNamespace(shared);
    try {
      const image = await pushSpokeImage(shared.registry, {
        repository: `${namespace}/spoke`,
        tag: 'v1',
        version: '1.0.0',
      });
      const deployment = spokeDeployment({ namespace, name: 'spoke', image: image.reference, node: 'real' });
      await kube(shared, 'POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, { body: deployment });
      const name = await waitFor('the pod runs', async () => {
        const list = await kube<PodList>(shared, 'GET', `/api/v1/namespaces/${namespace}/pods`);
        return list.items.find((item) => item.status.phase === 'Running')?.metadata.name;
      });
      const health = await waitFor('the pod answers', () =>
        kube(shared, 'GET', `/api/v1/namespaces/${namespace}/pods/${name}:8080/proxy/api/health`),
      );
      expect(health).toBeTruthy();
    } finally {
      await deleteNamespace(shared, namespace);
    }
  });

  test('comes back when its kubelet is killed', async () => {
    const lab = await attachLab(shared.dir);
    await lab.kill('kubelet');
    await lab.start('kubelet');
    await waitFor('the node is Ready and without taints', async () => {
      const node = await kube<{ spec: { taints?: unknown[] } }>(shared, 'GET', `/api/v1/nodes/${shared.node}`);
      return (node.spec.taints ?? []).length === 0;
    });
  });

  test('leaves no mount, bridge, cgroup or kernel setting on the machine, also when its launcher was killed', async () => {
    const before = machine();
    const dir = await startInAProcessThatDies(['node', 'registry']);
    const bridge = `hf${labId(dir)}`;
    expect(existsSync(`/sys/class/net/${bridge}`)).toBe(true);
    expect(machine().settings).toEqual(before.settings);

    await (await startLab({ parts: ['registry'], ...quiet })).stop();
    expect(existsSync(`/sys/class/net/${bridge}`)).toBe(false);
    expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(dir);
    expect(existsSync(`/sys/fs/cgroup/memory/hf-${labId(dir)}`)).toBe(false);
    expect(existsSync(`/sys/fs/cgroup/hf-${labId(dir)}`)).toBe(false);
    expect(processesOfLab(dir)).toEqual([]);
    expect(machine()).toEqual(before);
  });
});

/** What a kubelet and containerd would change on the machine if they were let. */
function machine() {
  const settings = ['vm/overcommit_memory', 'kernel/panic', 'kernel/panic_on_oops', 'net/ipv4/ip_forward'];
  const folders = [
    '/var/lib/kubelet',
    '/var/lib/cni',
    '/var/log/containers',
    '/var/log/pods',
    '/run/containerd',
    '/opt/containerd',
  ];
  return {
    settings: settings.map((name) => readFileSync(`/proc/sys/${name}`, 'utf8').trim()),
    folders: folders.filter((folder) => existsSync(folder)),
    mounts: readFileSync('/proc/mounts', 'utf8').split('\n').length,
  };
}

/** The folders of labs that were not told where to be and are no longer listed. */
function temporaryLabs(): string[] {
  const known = listLabs().map((entry) => basename(entry.dir));
  return readdirSync(tmpdir()).filter((name) => name.startsWith('hf-lab-') && !known.includes(name));
}

function pod(name: string, spec: object): object {
  const containers = [{ name: 'app', image: 'example.invalid/app:1' }];
  const nodeSelector = { 'kubernetes.io/arch': 'arm64', suite: 'lab' };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers, nodeSelector, ...spec } };
}

test('the lab that tests share is reached by everyone in the same way', async () => {
  expect(await kubeGetOrNull(shared, '/api/v1/namespaces/default')).not.toBeNull();
});

test('Prometheus scrapes what a test tells it to', async () => {
  const server = createServer((_request, response) => response.end('lab_test_value 7\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    setPrometheusTargets(shared, [{ targets: [`127.0.0.1:${port}`] }]);
    const value = await waitFor('the sample is there', async () => {
      const response = await fetch(`${shared.prometheus}/api/v1/query?query=lab_test_value`);
      const { data } = (await response.json()) as { data: { result: { value: [number, string] }[] } };
      return data.result[0]?.value[1];
    });
    expect(value).toBe('7');
  } finally {
    setPrometheusTargets(shared, []);
    server.closeAllConnections();
    server.close();
  }
});
