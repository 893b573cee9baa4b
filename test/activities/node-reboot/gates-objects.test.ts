import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorkload } from '../../e2e/budgeted-workload.ts';
import { cloudNativePgKinds, installKinds, kubeVirtKinds, longhornKinds, putAddon } from '../../lab/addon-crds.ts';
import { kube } from '../../lab/kube-api.ts';
import { startLab, type Lab } from '../../lab/lab.ts';
import { waitFor } from '../../lab/wait.ts';
import { openGateStage, type GateStage } from './gate-stage.ts';

/** Gates that read objects of the cluster, from a real API server; what operators write is written by the test. */
let lab: Lab;
let stage: GateStage;

beforeAll(async () => {
  lab = await startLab({ parts: ['control-plane'], log: () => {} });
  stage = await openGateStage(lab);
});

afterAll(async () => {
  await stage.close();
  await lab.stop();
});

const merge = 'application/merge-patch+json';
const patch = (path: string, body: object) => kube(lab.env, 'PATCH', path, { body, contentType: merge });
const nodePath = (name: string) => `/api/v1/nodes/${name}`;

describe('nodes', () => {
  test('NR-30 NR-31 are to be Ready and in, and a list that is denied is unmeasured', async () => {
    expect((await stage.verdict('nodes')).kind).toBe('pass');
    await patch(nodePath('n3'), { spec: { unschedulable: true } });
    expect(await stage.verdict('nodes')).toMatchObject({
      reason: 'NodeOut',
      message: 'node n3 is cordoned by somebody',
    });
    await patch(nodePath('n3'), { spec: { unschedulable: null } });
    stage.hosts.setFaults('n2', { notReady: true });
    await waitFor('n2 is seen', async () => (await stage.verdict('nodes')).kind === 'fail');
    expect(await stage.verdict('nodes')).toMatchObject({ reason: 'NodeOut', message: 'node n2 is not Ready' });
    stage.hosts.setFaults('n2', {});
    await waitFor('n2 is back', async () => (await stage.verdict('nodes')).kind === 'pass');
    expect(await stage.withoutRights('nodes')).toMatchObject({ kind: 'unmeasured', why: 'denied' });
  });
});

describe('budgets', () => {
  test('NR-33 are to allow an eviction, apart from those that are known not to', async () => {
    const workload = await startWorkload(lab.env, 'simulated', 'web', { replicas: 2, on: 'simulated', startsOn: 'n1' });
    const budget = '/apis/policy/v1/namespaces/default/poddisruptionbudgets/web';
    expect((await stage.verdict('budgets', { budgets: {} })).kind).toBe('pass');
    expect(await stage.verdict('drain')).toMatchObject({ kind: 'pass' });
    await patch(budget, { spec: { minAvailable: 2 } });
    await waitFor('the controller has seen it', async () => {
      const { status } = await kube<{ status: { disruptionsAllowed: number } }>(lab.env, 'GET', budget);
      return status.disruptionsAllowed === 0;
    });
    expect(await stage.verdict('budgets', { budgets: {} })).toMatchObject({ reason: 'BudgetBlocks' });
    expect(await stage.verdict('drain')).toMatchObject({ reason: 'BudgetNeverAllows' });
    const known = { budgets: { expectedBlocked: ['default/web'] } };
    expect((await stage.verdict('budgets', known)).kind).toBe('pass');
    expect((await stage.verdict('drain', known)).kind).toBe('pass');
    expect(await stage.withoutRights('budgets', { budgets: {} })).toMatchObject({ kind: 'unmeasured', why: 'denied' });
    expect(await stage.withoutRights('drain')).toMatchObject({ kind: 'unmeasured', why: 'denied' });
    await workload.remove();
  });
});

describe('DNS', () => {
  const deployments = '/apis/apps/v1/namespaces/kube-system/deployments';
  const dns = (deployment: string) => stage.verdict('dns', { dns: { deployment } });

  beforeAll(async () => {
    const labels = { app: 'dns' };
    const apart = {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: labels }, topologyKey: 'kubernetes.io/hostname' },
      ],
    };
    await deploy('apart', labels, { affinity: { podAntiAffinity: apart } });
    await deploy('together', { app: 'other' }, { nodeSelector: { 'kubernetes.io/hostname': 'n1' } });
  });

  async function deploy(name: string, labels: object, where: object): Promise<void> {
    const template = { metadata: { labels }, spec: { ...where, containers: [{ name: 'dns', image: 'simulated' }] } };
    const spec = { replicas: 2, selector: { matchLabels: labels }, template };
    await kube(lab.env, 'POST', deployments, { body: { metadata: { name }, spec } });
    await ready(name, 2);
  }

  const ready = (name: string, replicas: number) =>
    waitFor(`${name} has ${replicas} replicas ready`, async () => {
      const { status } = await kube<{ status: { readyReplicas?: number; replicas?: number } }>(
        lab.env,
        'GET',
        `${deployments}/${name}`,
      );
      return status.readyReplicas === replicas && status.replicas === replicas;
    });

  test('NR-32 is to have two replicas on two nodes', async () => {
    expect((await dns('apart')).kind).toBe('pass');
    expect(await dns('together')).toMatchObject({ reason: 'DnsOnOneNode' });
    await patch(`${deployments}/apart`, { spec: { replicas: 1 } });
    expect(await dns('apart')).toMatchObject({ reason: 'DnsTooFew' });
    await ready('apart', 1);
    await patch(`${deployments}/apart`, { spec: { replicas: 2 } });
    await ready('apart', 2);
    expect(await dns('coredns')).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    expect(await stage.withoutRights('dns', { dns: {} })).toMatchObject({ kind: 'unmeasured', why: 'denied' });
  });

  test('of a release that has not passed yet is a release under way on the node', async () => {
    const releases = () => stage.verdict('releases', { releases: true });
    expect((await releases()).kind).toBe('pass');
    const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
    const annotations = { 'holdfast.dev/managed-by': 'release/dns', 'holdfast.dev/applied': digest('a') };
    await patch(`${deployments}/together`, { metadata: { annotations } });
    expect(await releases()).toMatchObject({ reason: 'ReleaseUnderWay' });
    await patch(`${deployments}/together`, { metadata: { annotations: { 'holdfast.dev/passed': digest('a') } } });
    expect((await releases()).kind).toBe('pass');
    expect(await stage.withoutRights('releases', { releases: true })).toMatchObject({ why: 'denied' });
  });
});

describe('Longhorn', () => {
  const [volumeKind, replicaKind] = longhornKinds;
  const names = Array.from({ length: 25 }, (_, index) => `pvc-${index + 1}`);
  const where = { namespace: 'longhorn-system' };
  const longhorn = (volumes = 25) => stage.verdict('longhorn', { longhorn: { volumes } });
  const volume = async (name: string, robustness: string, state = 'attached') => {
    if (volumeKind === undefined) throw new Error('Longhorn has volumes');
    const spec = { numberOfReplicas: 3, size: '1073741824' };
    await putAddon(lab.env, volumeKind, { ...where, name, spec, status: { state, robustness } });
  };
  const copy = async (volumeName: string, nodeID: string, failedAt = '') => {
    if (replicaKind === undefined) throw new Error('Longhorn has replicas');
    const spec = { volumeName, nodeID, failedAt, healthyAt: failedAt === '' ? '2026-05-01T00:00:00Z' : '' };
    const status = { currentState: failedAt === '' ? 'running' : 'error' };
    await putAddon(lab.env, replicaKind, { ...where, name: `${volumeName}-${nodeID}`, spec, status });
  };

  test('that is not there is unmeasured', async () => {
    expect(await longhorn()).toMatchObject({ kind: 'unmeasured', why: 'not-served' });
  });

  test('NR-25 NR-26 NR-27 NR-63 is to have all its volumes, each healthy and with two copies elsewhere', async () => {
    await installKinds(lab.env, longhornKinds);
    await kube(lab.env, 'POST', '/api/v1/namespaces', { body: { metadata: { name: where.namespace } } });
    expect(await longhorn()).toMatchObject({ kind: 'unmeasured', why: 'empty' });
    for (const name of names.slice(1)) {
      await Promise.all([volume(name, 'healthy'), ...['n1', 'n2', 'n3'].map((node) => copy(name, node))]);
    }
    expect(await longhorn()).toMatchObject({ reason: 'VolumesMissing', message: 'there are 24 of 25 volumes' });
    await Promise.all([volume('pvc-1', 'healthy'), ...['n1', 'n2', 'n3'].map((node) => copy('pvc-1', node))]);
    expect((await longhorn()).kind).toBe('pass');
    expect(await longhorn(26)).toMatchObject({ reason: 'VolumesMissing' });
    await volume('pvc-2', 'unknown', 'detached');
    expect((await longhorn()).kind).toBe('pass');
    await volume('pvc-2', 'unknown');
    expect(await longhorn()).toMatchObject({ kind: 'unmeasured', why: 'not-ready' });
    await volume('pvc-2', 'degraded');
    expect(await longhorn()).toMatchObject({ reason: 'VolumeDegraded' });
    await volume('pvc-3', 'faulted');
    expect(await longhorn()).toMatchObject({ reason: 'VolumeFaulted' });
    for (const name of ['pvc-2', 'pvc-3']) await volume(name, 'healthy');
    await copy('pvc-4', 'n3', '2026-06-01T00:00:00Z');
    expect(await longhorn()).toMatchObject({ reason: 'TooFewCopies' });
    expect(await stage.withoutRights('longhorn', { longhorn: { volumes: 25 } })).toMatchObject({ why: 'denied' });
  });
});

describe('CloudNativePG', () => {
  const [kind] = cloudNativePgKinds;
  const database = (clusters = 1) => stage.verdict('cloudNativePG', { cloudNativePG: { clusters } });
  const cluster = async (readyInstances: number, targetPrimary = 'db-1') => {
    if (kind === undefined) throw new Error('CloudNativePG has clusters');
    const instanceNames = ['db-1', 'db-2'];
    const status = { instances: 2, readyInstances, currentPrimary: 'db-1', targetPrimary, instanceNames };
    await putAddon(lab.env, kind, { namespace: 'default', name: 'db', spec: { instances: 2 }, status });
  };

  test('NR-34 is to have all instances ready, and one that can take over on another node', async () => {
    expect(await database()).toMatchObject({ kind: 'unmeasured', why: 'not-served' });
    await installKinds(lab.env, cloudNativePgKinds);
    expect(await database()).toMatchObject({ kind: 'unmeasured', why: 'empty' });
    for (const [pod, nodeName] of [
      ['db-1', 'n1'],
      ['db-2', 'n2'],
    ]) {
      const metadata = { name: pod, labels: { 'cnpg.io/cluster': 'db' } };
      const spec = { nodeName, containers: [{ name: 'postgres', image: 'simulated' }] };
      await kube(lab.env, 'POST', '/api/v1/namespaces/default/pods', { body: { metadata, spec } });
    }
    await cluster(2);
    await waitFor('its pods are ready', async () => (await database()).kind === 'pass');
    expect(await database(2)).toMatchObject({ reason: 'DatabasesMissing' });
    await cluster(1);
    expect(await database()).toMatchObject({ reason: 'InstancesNotReady' });
    await cluster(2, 'db-2');
    expect(await database()).toMatchObject({ reason: 'PrimaryMoves' });
    await cluster(2);
    await patch(nodePath('n2'), { spec: { unschedulable: true } });
    expect(await database()).toMatchObject({ reason: 'NoReplicaElsewhere' });
    await patch(nodePath('n2'), { spec: { unschedulable: null } });
    expect(await stage.withoutRights('cloudNativePG', { cloudNativePG: { clusters: 1 } })).toMatchObject({
      ...{ kind: 'unmeasured', why: 'denied' },
    });
  });
});

describe('KubeVirt', () => {
  const [kind] = kubeVirtKinds;
  const machines = () => stage.verdict('kubeVirt', { kubeVirt: {} });
  const machine = async (migratable: string | null, nodeName = 'n1') => {
    if (kind === undefined) throw new Error('KubeVirt has instances');
    const conditions =
      migratable === null ? [] : [{ type: 'LiveMigratable', status: migratable, message: 'a disk is not shared' }];
    const status = { phase: 'Running', nodeName, conditions };
    await putAddon(lab.env, kind, { namespace: 'default', name: 'vm', spec: {}, status });
  };

  test('NR-36 is to have no virtual machine on the node that cannot be moved', async () => {
    expect(await machines()).toMatchObject({ kind: 'unmeasured', why: 'not-served' });
    await installKinds(lab.env, kubeVirtKinds);
    expect((await machines()).kind).toBe('pass');
    await machine('True');
    expect((await machines()).kind).toBe('pass');
    await machine('False');
    expect(await machines()).toMatchObject({
      ...{ reason: 'NotMigratable', message: 'virtual machine default/vm cannot be moved: a disk is not shared' },
    });
    await machine(null);
    expect(await machines()).toMatchObject({ kind: 'unmeasured', why: 'not-ready' });
    await machine('False', 'n2');
    expect((await machines()).kind).toBe('pass');
    expect(await stage.withoutRights('kubeVirt', { kubeVirt: {} })).toMatchObject({ why: 'denied' });
  });
});

describe('NFS', () => {
  const server = '127.77.0.1';
  const nfs = (servers = [server]) => stage.verdict('nfs', { nfs: { servers } });

  test('NR-37 servers that pods on the node mount are to answer, by whatever way they are mounted', async () => {
    expect((await nfs()).kind).toBe('pass');
    await kube(lab.env, 'POST', '/api/v1/persistentvolumes', {
      body: {
        metadata: { name: 'share' },
        spec: {
          ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteMany'], storageClassName: 'none' },
          nfs: { server, path: '/export' },
        },
      },
    });
    await kube(lab.env, 'POST', '/api/v1/namespaces/default/persistentvolumeclaims', {
      body: {
        metadata: { name: 'share' },
        spec: {
          ...{ accessModes: ['ReadWriteMany'], storageClassName: 'none', volumeName: 'share' },
          resources: { requests: { storage: '1Gi' } },
        },
      },
    });
    const volumes = [{ name: 'share', persistentVolumeClaim: { claimName: 'share' } }];
    const spec = { nodeName: 'n1', containers: [{ name: 'main', image: 'simulated' }], volumes };
    await kube(lab.env, 'POST', '/api/v1/namespaces/default/pods', { body: { metadata: { name: 'reader' }, spec } });
    // Nobody listens there.
    await waitFor('the claim is bound', async () => (await nfs()).kind === 'fail');
    expect(await nfs()).toMatchObject({ reason: 'NfsDown' });
    expect(await nfs(['nas.example'])).toMatchObject({ kind: 'unmeasured', why: 'missing' });
    const listening = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => listening.listen(2049, server, resolve));
    expect((await nfs()).kind).toBe('pass');
    await new Promise<void>((resolve) => listening.close(() => resolve()));
    expect(await stage.withoutRights('nfs', { nfs: { servers: [server] } })).toMatchObject({ why: 'denied' });
  });
});

describe('a gate of your own', () => {
  const gate = {
    name: 'settings',
    resource: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default' },
    jsonPath: '{.data.ready}',
    equals: 'yes',
    results: 2,
  };
  const own = (more: object = {}) => stage.verdict('custom.settings', { custom: [{ ...gate, ...more }] });
  const maps = '/api/v1/namespaces/default/configmaps';

  test('holds by path as many objects as are to be there to what they are to say', async () => {
    await waitFor('the cluster has put its own one there', async () => {
      const { items } = await kube<{ items: unknown[] }>(lab.env, 'GET', maps);
      return items.length === 1;
    });
    expect(await own()).toMatchObject({ reason: 'ResultsMissing' });
    await patch(`${maps}/kube-root-ca.crt`, { data: { ready: 'yes' } });
    await kube(lab.env, 'POST', maps, { body: { metadata: { name: 'mine' }, data: { ready: 'no' } } });
    await waitFor('both say it', async () => (await own()).kind === 'fail');
    expect(await own()).toMatchObject({ reason: 'NotAsExpected' });
    await patch(`${maps}/mine`, { data: { ready: null } });
    expect(await own()).toMatchObject({ kind: 'unmeasured', why: 'empty' });
    expect(await own({ resource: { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster' } })).toMatchObject({
      ...{ kind: 'unmeasured', why: 'not-served' },
    });
    expect(await stage.withoutRights('custom.settings', { custom: [gate] })).toMatchObject({ why: 'denied' });
  });
});
