import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { cloudNativePgKinds, installKinds, longhornKinds, putAddon } from '../lab/addon-crds.ts';
import { markAudit, readAudit } from '../lab/access.ts';
import { kube, kubeGetOrNull } from '../lab/kube-api.ts';
import { startLab } from '../lab/lab.ts';
import { simulateHosts, type SimulatedHosts } from '../lab/simulated-hosts.ts';
import { waitFor } from '../lab/wait.ts';
import { openRebootStage, type Campaign, type RebootStage } from './reboot-stage.ts';
import { holdPod, isCordoned, tidy } from './simulated-stage.ts';

/** Turns of nodes that hold copies of volumes, and primaries of databases; what their operators do is done by the test. */
const names = ['n1', 'n2', 'n3'];
const pods = '/api/v1/namespaces/default/pods';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';

let hosts: SimulatedHosts;
let stage: RebootStage;
let campaign: Campaign | null = null;

beforeAll(async () => {
  const lab = await startLab({ parts: ['temporal', 'control-plane'], log: () => {} });
  hosts = await simulateHosts(lab.env, names);
  await installKinds(lab.env, [...longhornKinds, ...cloudNativePgKinds]);
  stage = await openRebootStage(lab, names, 'simulated');
});

afterAll(async () => {
  await hosts.stop();
  await stage.close();
});

beforeEach(() => {
  stage.told.length = 0;
});

afterEach(async () => {
  await campaign?.handle.terminate('the test is over').catch(() => undefined);
  campaign = null;
  await tidy(stage, hosts);
});

async function apply(spec: Parameters<RebootStage['apply']>[0]): Promise<Campaign> {
  const quick = { readyHold: '0s', releaseDelay: '1s' } as const;
  campaign = await stage.apply({ approval: 'None', drain: { deleteBarePods: true }, ...quick, ...spec });
  return campaign;
}

const off = { dns: false, host: false } as const;
const told = () => stage.told.map(({ what }) => what);

/** Two volumes with a copy on each node. */
const volumes = ['v1', 'v2'];

async function volume(name: string, robustness: string): Promise<void> {
  const [kind] = longhornKinds;
  if (kind === undefined) throw new Error('Longhorn has volumes');
  const status = { state: 'attached', robustness };
  await putAddon(stage.lab.env, kind, { namespace: 'default', name, spec: { numberOfReplicas: 3 }, status });
}

async function copy(volumeName: string, nodeID: string, healthy: boolean): Promise<void> {
  const [, kind] = longhornKinds;
  if (kind === undefined) throw new Error('Longhorn has replicas');
  const spec = {
    ...{ volumeName, nodeID },
    failedAt: healthy ? '' : '2026-06-01T00:00:00Z',
    healthyAt: healthy ? '2026-05-01T00:00:00Z' : '',
  };
  const status = { currentState: healthy ? 'running' : 'error' };
  await putAddon(stage.lab.env, kind, { namespace: 'default', name: `${volumeName}-${nodeID}`, spec, status });
}

/** All copies are there, and every volume is healthy. */
async function rebuilt(): Promise<void> {
  for (const name of volumes) {
    for (const node of names) await copy(name, node, true);
    await volume(name, 'healthy');
  }
}

/** What a drain of n1 does: its copies are gone, and every volume is degraded. */
async function withoutCopiesOnN1(): Promise<void> {
  for (const name of volumes) {
    await copy(name, 'n1', false);
    await volume(name, 'degraded');
  }
}

test('NR-43 NR-93 NR-61 NR-62 NR-63 volumes may lack the copies of the node that is out, and nothing more', async () => {
  await rebuilt();
  for (const name of ['n1', 'n2']) hosts.setSentinel(name, ['libc6']);
  const asked = [hosts.asked('n1'), hosts.asked('n2')];
  let pod = await holdPod(stage.lab, 'n1');
  const at = await apply({ gates: { ...off, longhorn: { namespace: 'default', volumes: 2 } } });
  const inPhase = (phase: string) =>
    at.until(phase, ({ turn }) => turn?.node === 'n1' && turn.phase === phase).then(({ turn }) => turn);

  // Another copy is lost while the node is drained.
  await inPhase('Draining');
  await withoutCopiesOnN1();
  await copy('v1', 'n3', false);
  await pod.letGo();
  const { stopped } = await at.until('a stop', (s) => s.stopped !== null);
  expect(stopped).toMatchObject({ reason: 'LastCheckFailed' });
  expect(stopped?.message).toContain('volume v1 has 1');
  expect(hosts.asked('n1')).toBe(asked[0]);
  expect(await isCordoned(stage.lab, 'n1')).toBe(false);

  // Nothing is lost but what the drain itself takes away.
  await rebuilt();
  pod = await holdPod(stage.lab, 'n1');
  await at.act('retry');
  await inPhase('Draining');
  await withoutCopiesOnN1();
  await pod.letGo();
  const settling = await inPhase('Settling');
  expect(hosts.asked('n1')).toBe((asked[0] ?? 0) + 1);
  expect(await isCordoned(stage.lab, 'n1')).toBe(false);

  // The release delay is over, and the volumes are not rebuilt yet.
  const mark = await markAudit(stage.lab);
  await waitFor('the volumes are looked at once more', async () => {
    const events = await readAudit(stage.lab, mark);
    const looks = events.filter(
      ({ verb, requestURI }) => verb === 'list' && requestURI.includes('longhorn.io/v1beta2'),
    );
    return looks.some((look) => Date.parse(look.requestReceivedTimestamp) > Date.parse(settling?.since ?? '') + 2_000);
  });
  expect((await at.status()).turn).toMatchObject({ node: 'n1', phase: 'Settling' });
  expect(await stage.lock()).toMatchObject({ node: 'n1', phase: 'Settling' });

  await volume('v2', 'faulted');
  await at.until('another stop', (s) => s.stopped?.reason === 'NotSettled');
  await waitFor('somebody is told', () => told().length > 1);
  expect(told()).toEqual(['LastCheckFailed', 'NotSettled']);
  expect(stage.told[1]?.text).toContain('volume v2 is faulted');
  expect(hosts.asked('n2')).toBe(asked[1]);

  await rebuilt();
  hosts.setSentinel('n2', null);
  await at.act('retry');
  await at.until('n1 is done', (s) => s.turn === null && s.nodes[0]?.reboot === 'done');
  expect(hosts.asked('n1')).toBe((asked[0] ?? 0) + 1);
});

test('NR-35 NR-91 a primary is promoted away before its pod and what serves its disk are evicted', async () => {
  const { env } = stage.lab;
  const merge = 'application/merge-patch+json';
  const [kind] = cloudNativePgKinds;
  if (kind === undefined) throw new Error('CloudNativePG has clusters');
  const path = '/apis/postgresql.cnpg.io/v1/namespaces/default/clusters/db';
  const primaryIs = (name: string) => ({ currentPrimary: name, targetPrimary: name });
  const status = { readyInstances: 2, instanceNames: ['db-1', 'db-2'], ...primaryIs('db-1') };
  await putAddon(env, kind, { namespace: 'default', name: 'db', spec: { instances: 2 }, status });
  await startPod('db-1', 'n1', { 'cnpg.io/cluster': 'db', role: 'primary' });
  await startPod('db-2', 'n2', { 'cnpg.io/cluster': 'db', role: 'replica' });
  await startPod('instance-manager', 'n1', { role: 'instance-manager' });
  // Neither budget ever lets its one pod go: CloudNativePG's moves with the primary, Longhorn's is removed with the last disk.
  for (const role of ['primary', 'instance-manager']) {
    const spec = { minAvailable: 1, selector: { matchLabels: { role } } };
    await kube(env, 'POST', budgets, { body: { metadata: { name: role }, spec } });
  }
  hosts.setSentinel('n1', ['libc6']);
  const asked = hosts.asked('n1');
  const expectedBlocked = ['default/primary', 'default/instance-manager'];
  const at = await apply({
    moveTimeout: '3s',
    gates: { ...off, budgets: { expectedBlocked }, cloudNativePG: { clusters: 1 } },
  });

  // Its operator does nothing, neither at the cordon nor when it is told.
  const { stopped } = await at.until('a stop', (s) => s.stopped !== null);
  expect(stopped).toMatchObject({ reason: 'PrimariesStay' });
  expect(await kube(env, 'GET', path)).toMatchObject({ status: { targetPrimary: 'db-2' } });
  expect(hosts.asked('n1')).toBe(asked);
  expect(await isCordoned(stage.lab, 'n1')).toBe(false);
  await waitFor('the lock says why', async () => (await stage.lock())['reason']?.startsWith('PrimariesStay'));
  expect(await stage.lock()).toMatchObject({ node: 'n1', phase: 'Restored' });
  expect(await isThere('db-1')).toBe(true);

  // Now it does what it is told, and the disk leaves with the pod.
  const patchStatus = (body: object) =>
    kube(env, 'PATCH', `${path}/status`, { body: { status: body }, contentType: merge });
  await patchStatus(primaryIs('db-1'));
  await at.act('retry');
  await waitFor('it is told once more', async () => {
    const { status: now } = await kube<{ status: { targetPrimary: string } }>(env, 'GET', path);
    return now.targetPrimary === 'db-2';
  });
  expect(await isThere('db-1')).toBe(true);
  await patchStatus(primaryIs('db-2'));
  for (const [pod, role] of Object.entries({ 'db-1': 'replica', 'db-2': 'primary' })) {
    const body = { metadata: { labels: { role } } };
    await kube(env, 'PATCH', `${pods}/${pod}`, { body, contentType: merge });
  }
  await waitFor('its pod is gone', async () => !(await isThere('db-1')));
  expect(await isThere('instance-manager')).toBe(true);
  await kube(env, 'DELETE', `${budgets}/instance-manager`);
  await at.until('n1 is done', (s) => s.turn === null && s.nodes[0]?.reboot === 'done');
  expect(hosts.asked('n1')).toBe(asked + 1);
  expect(told()).toEqual(['PrimariesStay']);
});

async function startPod(name: string, nodeName: string, labels: Record<string, string>): Promise<void> {
  const spec = { nodeName, containers: [{ name: 'main', image: 'simulated' }] };
  await kube(stage.lab.env, 'POST', pods, { body: { metadata: { name, labels }, spec } });
}

const isThere = async (pod: string) => (await kubeGetOrNull(stage.lab.env, `${pods}/${pod}`)) !== null;
