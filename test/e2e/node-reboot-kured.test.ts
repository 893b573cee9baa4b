import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { lockName } from '../../src/domain/node-reboot/by-hand.ts';
import type { NodeRebootStatus } from '../../src/domain/node-reboot/status.ts';
import { nodeRebootHistoryQuery } from '../../src/workflows/node-reboot/messages.ts';
import { markAudit, readAudit, serviceAccountKubeconfig, type AuditMark, type RbacRule } from '../lab/access.ts';
import { kube } from '../lab/kube-api.ts';
import { startLab } from '../lab/lab.ts';
import { simulateHosts, type SimulatedHosts } from '../lab/simulated-hosts.ts';
import { waitFor } from '../lab/wait.ts';
import { kustomized } from '../unit/shipped/manifests.ts';
import { openRebootStage, type Campaign, type RebootStage } from './reboot-stage.ts';
import { severedApi, type SeveredApi } from './severed-api.ts';
import { holdPod, isCordoned, seenReady, tidy } from './simulated-stage.ts';

/** Where kured 1.23.0 was measured to fail (docs/node-reboot.md, "kured beside it"), each on hosts that are played. */
const names = ['n1', 'n2', 'n3'];
const wish = ['libc6'];
const merge = { contentType: 'application/merge-patch+json' };

/** More than any request and all of its retries take; `HOLDFAST_CHAOS=all` takes as long as kured was measured with. */
const outageMs = process.env['HOLDFAST_CHAOS'] === 'all' ? 300_000 : 8_000;

let hosts: SimulatedHosts;
let stage: RebootStage;
let api: SeveredApi;
let campaign: Campaign | null = null;

beforeAll(async () => {
  const lab = await startLab({ parts: ['temporal', 'control-plane'], log: () => {} });
  hosts = await simulateHosts(lab.env, names);
  // The worker has the rights of deploy/ and no others, so that one of them can be taken from it.
  const kubeconfig = await serviceAccountKubeconfig(lab, {
    ...{ namespace: 'default', name: 'reboots' },
    clusterRules: [...shippedRules('ClusterRole'), ...shippedRules('Role').filter((rule) => !isOfLock(rule))],
  });
  api = await severedApi(kubeconfig, join(lab.env.dir, 'severed.kubeconfig'));
  stage = await openRebootStage({ ...lab, env: { ...lab.env, kubeconfig: api.kubeconfig } }, names, 'simulated');
  const subjects = [{ kind: 'ServiceAccount', name: 'reboots', namespace: 'default' }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reboots' };
  await kube(lab.env, 'POST', roles, { body: { metadata: { name: 'reboots' }, rules: lockRules() } });
  await kube(lab.env, 'POST', roles.replace(/roles$/, 'rolebindings'), {
    body: { metadata: { name: 'reboots' }, subjects, roleRef },
  });
});

afterAll(async () => {
  await hosts.stop();
  await stage.close();
  await api.close();
});

beforeEach(() => {
  stage.told.length = 0;
});

afterEach(async () => {
  await campaign?.handle.terminate('the test is over').catch(() => undefined);
  campaign = null;
  await allow(lockRules());
  await tidy(stage, hosts);
});

const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${lockName.namespace}/roles`;
const lockPath = `/api/v1/namespaces/${lockName.namespace}/configmaps`;

function shippedRules(kind: 'Role' | 'ClusterRole'): RbacRule[] {
  const found = kustomized('deploy/node-reboot').filter((object) => object.kind === kind);
  return found.flatMap((object) => (object as unknown as { rules: RbacRule[] }).rules);
}

const isOfLock = ({ resources = [] }: RbacRule) => resources.includes('configmaps');
const lockRules = () => shippedRules('Role').filter(isOfLock);

/** What the worker may do in the namespace of the lock from now on. */
async function allow(rules: RbacRule[]): Promise<void> {
  await kube(stage.lab.env, 'PATCH', `${roles}/reboots`, { body: { rules }, ...merge });
}

async function apply(spec: Parameters<RebootStage['apply']>[0] = {}): Promise<Campaign> {
  campaign = await stage.apply({ approval: 'None', readyHold: '0s', releaseDelay: '0s', ...spec });
  return campaign;
}

const isDone = (status: NodeRebootStatus, name: string) =>
  status.turn === null && status.nodes.find(({ node }) => node === name)?.reboot === 'done';

/** The reboot is told, and the node is down until its power button is pressed. */
async function isOut(at: Campaign, name: string): Promise<void> {
  await at.until(`${name} is out`, ({ turn }) => turn?.node === name && turn.phase === 'Returning');
  await waitFor(`${name} is down`, () => !hosts.isUp(name));
}

test('kured: a lock that cannot be read for long while its node boots holds nothing up afterwards', async () => {
  for (const name of ['n1', 'n2']) {
    hosts.setSentinel(name, wish);
    hosts.setFaults(name, { returns: 'power-button' });
  }
  const asked = names.map((name) => hosts.asked(name));
  const at = await apply();

  await isOut(at, 'n1');
  const mark = await markAudit(stage.lab);
  await allow([]);
  hosts.pressPower('n1');
  await sleep(outageMs);
  await waitFor('the lock is refused again and again', async () => (await refusedReads(mark)).length >= 6);
  expect(await isCordoned(stage.lab, 'n1')).toBe(true);
  await allow(lockRules());
  await at.until('n1 is done', (s) => s.nodes.find(({ node }) => node === 'n1')?.reboot === 'done');

  await isOut(at, 'n2');
  await api.cut();
  hosts.pressPower('n2');
  await sleep(outageMs);
  await api.restore();
  await at.until('n2 is done', (s) => isDone(s, 'n2'));

  expect(names.map((name) => hosts.asked(name))).toEqual([(asked[0] ?? 0) + 1, (asked[1] ?? 0) + 1, asked[2]]);
  for (const name of names) expect(await isCordoned(stage.lab, name)).toBe(false);
  expect(await stage.lock()).toEqual({});
  expect(stage.told).toEqual([]);
}, 900_000);

/** The readings of the lock that the API server has denied the worker. */
async function refusedReads(mark: AuditMark) {
  const events = await readAudit(stage.lab, mark);
  return events.filter(
    ({ verb, objectRef, responseStatus }) =>
      verb === 'get' && objectRef?.name === lockName.name && responseStatus?.code === 403,
  );
}

test('kured: a boot that outlasts every time of the spec lets no second node go, nor does a lock that is deleted', async () => {
  for (const name of ['n1', 'n2']) hosts.setSentinel(name, wish);
  hosts.setFaults('n1', { returns: 'power-button' });
  const asked = hosts.asked('n2');
  const at = await apply({ nodes: ['n1'], returnTimeout: '1s', settleDeadline: '1s', drain: { timeout: '1s' } });
  await at.until('it hangs', (s) => s.phase === 'Hung');
  const other = await stage.apply({ approval: 'None', nodes: ['n2', 'n3'] });
  const heldBack = (s: NodeRebootStatus) => s.waiting?.for.includes(at.name) === true;
  const { readAt } = await other.until('the lock', heldBack);
  await waitFor('another look finds the same', async () => {
    await other.act('runNow');
    const status = await other.status();
    return heldBack(status) && status.readAt !== readAt;
  });

  await kube(stage.lab.env, 'DELETE', `${lockPath}/${lockName.name}`);
  try {
    await other.act('runNow');
    await other.until('the lock is missed', (s) => s.waiting?.for.includes('is missing') === true);
    hosts.pressPower('n1');
    await at.until('a stop', (s) => s.stopped?.reason === 'LockLost');
    expect(hosts.asked('n2')).toBe(asked);
    expect(await isCordoned(stage.lab, 'n1')).toBe(true);
    for (const name of ['n2', 'n3']) expect(await isCordoned(stage.lab, name)).toBe(false);
    expect(stage.told.map(({ what }) => what)).toEqual(['Hung', 'LockLost']);
  } finally {
    await other.handle.terminate('the test is over');
    await kube(stage.lab.env, 'POST', lockPath, { body: { metadata: { name: lockName.name } } });
  }
});

describe('kured: a drain that a budget holds up for longer than the interval, with the worker restarted in the middle', () => {
  const evictions: { readonly pod: string; readonly at: number; readonly code: number }[] = [];
  let told: number;
  let evidence: readonly string[];
  let order: readonly string[];
  let pages: readonly string[];

  beforeAll(async () => {
    stage.told.length = 0;
    const before = hosts.asked('n1');
    const workload = await stage.workload('stuck', { replicas: 2, on: 'simulated', onlyOn: 'n1' });
    for (const name of ['n1', 'n2']) hosts.setSentinel(name, wish);
    const mark = await markAudit(stage.lab);
    const at = await apply({ drain: { timeout: '5m' } });
    const refusals = async () => (await evictionsSince(mark)).filter(({ code }) => code === 429).length;
    await waitFor('an eviction is refused', async () => (await refusals()) > 0);
    await stage.restartWorker();
    await waitFor('it is refused once more', async () => (await refusals()) > 1);
    await workload.loosen();
    await at.until('n2 is done', (s) => isDone(s, 'n2'));
    evictions.push(...(await evictionsSince(mark)));
    told = hosts.asked('n1') - before;
    const history = await at.handle.query(nodeRebootHistoryQuery);
    evidence = history.evidence.map(({ message }) => message);
    order = history.done.map(({ node }) => node);
    pages = stage.told.map(({ what }) => what);
    await workload.remove();
  });

  test('asks each pod at most six times a minute, with pauses that grow, and keeps them through the restart', () => {
    const pods = Map.groupBy(evictions, ({ pod }) => pod);
    expect(pods.size).toBe(2);
    const tries = [...pods.values()].map((all) => all.map(({ at }) => at));
    for (const at of tries) {
      for (const [index, one] of at.entries()) {
        expect(at.slice(index).filter((other) => other - one < 60_000).length).toBeLessThanOrEqual(6);
      }
    }
    const [first = 0, second = 0, third = 0] = tries.find(({ length }) => length > 2) ?? [];
    expect(second - first).toBeGreaterThan(10_900);
    expect(third - second).toBeGreaterThan(second - first);
  });

  test('is followed by one reboot, told as it happened, and the next node has its turn without anybody', () => {
    expect(told).toBe(1);
    expect(evidence.filter((line) => line.includes('of node n1 is told to end'))).toHaveLength(1);
    expect(order).toEqual(['n1', 'n2']);
    expect(pages).toEqual([]);
  });
});

/** Each request to evict a pod, by when it was asked, epoch milliseconds. */
async function evictionsSince(mark: AuditMark) {
  const events = await readAudit(stage.lab, mark);
  return events
    .filter(({ objectRef }) => objectRef?.subresource === 'eviction')
    .map(({ objectRef, requestReceivedTimestamp, responseStatus }) => ({
      pod: objectRef?.name ?? '',
      at: Date.parse(requestReceivedTimestamp),
      code: responseStatus?.code ?? 0,
    }));
}

test('kured: NR-43 another node that goes down after the lock was taken keeps this one up', async () => {
  for (const name of ['n1', 'n2']) hosts.setSentinel(name, wish);
  const pod = await holdPod(stage.lab, 'n1');
  const asked = hosts.asked('n1');
  const at = await apply({ drain: { deleteBarePods: true } });
  await at.until('the drain', (s) => s.turn?.phase === 'Draining');
  hosts.setFaults('n3', { notReady: true });
  await seenReady(stage.lab, 'n3', false);
  await pod.letGo();
  const { stopped } = await at.until('a stop', (s) => s.stopped !== null);
  expect(stopped).toMatchObject({ reason: 'LastCheckFailed' });
  expect(stopped?.message).toContain('node n3 is not Ready');
  expect(hosts.asked('n1')).toBe(asked);
  expect(await isCordoned(stage.lab, 'n1')).toBe(false);
  expect(await stage.lock()).toMatchObject({ node: 'n1' });
  expect(stage.told.map(({ what }) => what)).toEqual(['LastCheckFailed']);
});

test('kured: a node that comes back and is not Ready stays cordoned, and the next one does not go', async () => {
  for (const name of ['n1', 'n2']) hosts.setSentinel(name, wish);
  hosts.setFaults('n1', { returns: 'power-button' });
  const asked = hosts.asked('n2');
  const at = await apply({ returnTimeout: '3s' });
  await isOut(at, 'n1');
  hosts.setFaults('n1', { notReady: true });
  hosts.pressPower('n1');
  await waitFor('it is up', () => hosts.isUp('n1'));
  await waitFor('somebody is told', () => stage.told.length > 0);
  expect(stage.told.map(({ what }) => what)).toEqual(['Hung']);
  expect(await isCordoned(stage.lab, 'n1')).toBe(true);
  expect(hosts.asked('n2')).toBe(asked);
  hosts.setFaults('n1', {});
  await at.approve('n2');
  await at.until('n2 is done', (s) => isDone(s, 'n2'));
});

describe('kured beside it', () => {
  const daemonSets = '/apis/apps/v1/namespaces/kube-system/daemonsets';
  const held = { nodeID: 'n3', metadata: { unschedulable: false }, created: '2026-06-01T03:00:00Z', TTL: 0 };

  beforeAll(async () => {
    await kube(stage.lab.env, 'POST', daemonSets, {
      body: {
        metadata: { name: 'kured' },
        spec: {
          selector: { matchLabels: { name: 'kured' } },
          template: {
            metadata: { labels: { name: 'kured' } },
            spec: {
              nodeSelector: { 'holdfast.dev/kured': 'off' },
              containers: [{ name: 'kured', image: 'simulated' }],
            },
          },
        },
      },
    });
  });

  afterAll(() => kube(stage.lab.env, 'DELETE', `${daemonSets}/kured`));

  const patch = (body: object) => kube(stage.lab.env, 'PATCH', `${daemonSets}/kured`, { body, ...merge });
  const lock = (value: object) =>
    patch({ metadata: { annotations: { 'weave.works/kured-node-lock': JSON.stringify(value) } } });
  const runOn = async (type: string | null, pods: number) => {
    const nodeSelector = { 'holdfast.dev/kured': type === null ? 'off' : null, type };
    await patch({ spec: { template: { spec: { nodeSelector } } } });
    await waitFor(`kured has ${pods} pods`, async () => {
      const { status } = await kube<{ status: { desiredNumberScheduled: number; numberReady: number } }>(
        stage.lab.env,
        'GET',
        `${daemonSets}/kured`,
      );
      return status.desiredNumberScheduled === pods && status.numberReady === pods;
    });
  };

  test('NR-12 holds every node back while it has its lock, for one node or for several, and while it runs', async () => {
    hosts.setSentinel('n1', wish);
    await lock(held);
    const at = await apply({ incumbents: [{}] });
    const holds = (s: NodeRebootStatus) => s.waiting?.reason === 'LockHeld' && s.waiting.for.includes('n3');
    await at.until('its lock', holds);
    await lock({ maxOwners: 2, locks: [held] });
    await at.act('runNow');
    await at.until('its other lock', (s) => holds(s) && s.waiting?.for.includes('maxOwners') === true);
    await lock({ maxOwners: 2, locks: [] });
    await runOn('simulated', 3);
    await at.act('runNow');
    const { modeReason } = await at.until('that it runs', (s) => s.waiting?.reason === 'Mode');
    expect(modeReason).toContain('DaemonSet kube-system/kured');
    expect(await isCordoned(stage.lab, 'n1')).toBe(false);
    await runOn(null, 0);
    await at.act('runNow');
    await at.until('n1 is done', (s) => isDone(s, 'n1'));
  });
});
