import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { ReleaseSpecInput } from '../../src/domain/release/spec.ts';
import { markAudit, readAudit, serviceAccountKubeconfig, type AuditEvent, type AuditMark } from '../lab/access.ts';
import { kube } from '../lab/kube-api.ts';
import { attachLab } from '../lab/lab.ts';
import { spokeDaemonSet, spokeDeployment, spokeStatefulSet } from '../lab/manifests.ts';
import { deployedRights } from './deployed-rights.ts';
import { startHealthServer, type HealthServer } from './health-server.ts';
import { allCurrent, ended, startRig, type Rig } from './rig.ts';
import { AGENTS, agentsNow, deploySpoke, place, SPOKE_AGENTS, spokeSpec, spokeTarget } from './spokes.ts';

const lab = inject('lab');
let rig: Rig;
let health: HealthServer;
let nodes: string[] = [];

beforeAll(async () => {
  nodes = await (await attachLab(lab.dir)).addNodes({ count: 1, arch: 'amd64', prefix: 'rights' });
  health = await startHealthServer();
  rig = await startRig(lab, 'rights', null);
});

afterAll(async () => {
  await rig.close();
  await health.close();
  await (await attachLab(lab.dir)).removeNodes(nodes);
});

/** Runs the worker as a ServiceAccount with exactly the rights that `deploy/release/MODE` gives. */
async function workWith(mode: 'shadow' | 'enforce'): Promise<void> {
  const account = { namespace: rig.namespace, name: mode, clusterRules: deployedRights(mode) };
  await rig.workAs(await serviceAccountKubeconfig(lab, account));
}

/** Every request of that account since then. */
async function requestsOf(mode: 'shadow' | 'enforce', since: AuditMark): Promise<AuditEvent[]> {
  const username = `system:serviceaccount:${rig.namespace}:${mode}`;
  return (await readAudit(lab, since)).filter((event) => event.user.username === username);
}

function inWords({ verb, objectRef, responseStatus }: AuditEvent): string {
  const { resource = '', subresource, name = '' } = objectRef ?? {};
  return `${responseStatus?.code ?? ''} ${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`} ${name}`;
}

/** What was refused for want of a right. */
function denied(requests: readonly AuditEvent[]): string[] {
  return requests.filter(({ responseStatus }) => [401, 403].includes(responseStatus?.code ?? 0)).map(inWords);
}

/** The writer that a release takes over from. */
async function cronJob(name: string, suspend: boolean): Promise<void> {
  const container = { name: 'roll', image: `${lab.registry}/nothing:1` };
  await rig.create({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { namespace: rig.namespace, name },
    spec: {
      schedule: '0 3 1 1 *',
      suspend,
      jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } } },
    },
  });
}

async function suspend(name: string, value: boolean): Promise<void> {
  await kube(lab, 'PATCH', `/apis/batch/v1/namespaces/${rig.namespace}/cronjobs/${name}`, {
    body: { spec: { suspend: value } },
    contentType: 'application/merge-patch+json',
  });
}

function hub(name: string) {
  return {
    namespace: rig.namespace,
    container: 'spoke',
    kind: 'hub' as const,
    healthURL: health.url(name),
  };
}

function hubs(
  repository: string,
  more: Partial<ReleaseSpecInput> & Pick<ReleaseSpecInput, 'targets'>,
): ReleaseSpecInput {
  return {
    mode: 'Enforce',
    image: rig.repository(repository),
    track: { line: '^\\d' },
    pollInterval: '1s',
    soak: '1s',
    soakProbeInterval: '300ms',
    ...more,
  };
}

describe('with the rights of deploy/release/shadow', () => {
  test('Shadow shows the very plan that an administrator would get, and asks for nothing but reads', async () => {
    const one = await rig.image('plan', '1.0.0');
    const base = { namespace: rig.namespace, image: one.reference, node: 'kwok' as const, readinessProbe: false };
    await rig.deploy(spokeDeployment({ ...base, name: 'plan-a' }));
    await rig.deploy(spokeStatefulSet({ ...base, name: 'plan-b' }));
    await rig.deploy(spokeDaemonSet({ ...base, name: 'plan-c' }));
    // Only its pods tell what a bare tag runs.
    await rig.deploy(spokeDeployment({ ...base, name: 'plan-d', image: `${rig.repository('plan')}:1.0.0` }));
    await rig.create(spokeDeployment({ ...base, name: 'plan-e', replicas: 0 }));
    await cronJob('nightly-roll', false);
    await rig.image('plan', '1.1.0');
    const spec = hubs('plan', {
      incumbents: [{ namespace: rig.namespace, name: 'nightly-roll' }],
      targets: [
        { ...hub('plan-a'), deployment: 'plan-a' },
        { ...hub('plan-b'), statefulSet: 'plan-b' },
        { ...hub('plan-c'), daemonSet: 'plan-c' },
        { ...hub('plan-d'), deployment: 'plan-d' },
        { ...hub('plan-e'), deployment: 'plan-e' },
      ],
    });

    await workWith('shadow');
    const since = await markAudit(lab);
    const release = await rig.apply('plan', spec);
    const seen = await release.until('a plan', (s) => s.plan.items.length > 0);
    await release.act('runNow');
    const requests = await requestsOf('shadow', since);
    await release.end();
    expect(seen.plan.items.map((item) => item.target)).toEqual(['plan-a', 'plan-b', 'plan-c', 'plan-d']);
    expect(seen.targets.map((t) => [t.phase, t.reason])).toContainEqual(['Held', 'ZeroReplicas']);
    expect(seen).toMatchObject({ mode: 'Enforce', effectiveMode: 'Shadow' });
    expect(seen.modeReason).toMatch(/nightly-roll/);
    expect(new Set(requests.map((request) => request.verb))).toEqual(new Set(['get', 'list']));
    expect(denied(requests)).toEqual([]);

    await rig.workAs();
    const again = await rig.apply('plan', spec);
    const asAdministrator = await again.until('a plan', (s) => s.plan.items.length > 0);
    expect(seen.planHash).toBe(asAdministrator.planHash);
    expect(seen.targets).toEqual(asAdministrator.targets);
    await again.end();
  });
});

describe('with the rights of deploy/release/enforce', () => {
  beforeAll(() => workWith('enforce'));

  test('an incumbent that is unsuspended between the plan and the first write stops that write', async () => {
    const one = await rig.image('incumbent', '1.0.0');
    const base = { namespace: rig.namespace, image: one.reference, node: 'kwok' as const, readinessProbe: false };
    await rig.deploy(spokeDeployment({ ...base, name: 'incumbent-a' }));
    await cronJob('old-roll', true);
    await rig.image('incumbent', '1.1.0');
    const since = await markAudit(lab);
    const release = await rig.apply(
      'incumbent',
      hubs('incumbent', {
        approval: 'beforeEach',
        incumbents: [{ namespace: rig.namespace, name: 'old-roll' }],
        targets: [{ ...hub('incumbent-a'), deployment: 'incumbent-a' }],
      }),
    );
    await release.until('the rollout to have begun', (s) => s.targets[0]?.reason === 'AwaitingApproval');
    await suspend('old-roll', false);
    await release.act('approve', { target: 'incumbent-a' });
    const status = await release.until(
      'the rollout to be over',
      (s) => s.rollout === null && s.lastRollouts.length > 0,
    );
    expect(status.lastRollouts[0]?.targets[0]).toMatchObject({ phase: 'Held' });
    expect(status.lastRollouts[0]?.message).toMatch(/incumbent CronJob \S+\/old-roll is active/);
    expect(await rig.imageOf('incumbent-a')).toBe(one.reference);
    const held = await release.until('Enforce to be held down', (s) => s.effectiveMode === 'Shadow');
    expect(held.modeReason).toMatch(/old-roll/);
    const writes = (await requestsOf('enforce', since)).filter((e) => e.objectRef?.resource === 'deployments');
    expect(new Set(writes.map((request) => request.verb))).toEqual(new Set(['get']));

    // The approval stands: it was of this very plan, and nothing of it was done.
    await suspend('old-roll', true);
    await release.until('current', allCurrent('1.1.0'));
    await release.end();
  });

  test.skipIf(lab.node === null)(
    'on a real node a whole release, its rollback and what belongs to them run without one denied request',
    async () => {
      const since = await markAudit(lab);
      const one = await rig.image('whole', '1.0.0', { agents: AGENTS });
      const set = { namespace: rig.namespace, name: 'whole-c', image: one.reference, node: 'real' as const };
      await Promise.all([
        deploySpoke(rig, 'whole-a', one),
        deploySpoke(rig, 'whole-b', one),
        rig.deploy(spokeStatefulSet(set)),
      ]);
      const moved = { name: 'writer', backend: 'beta', model: 'large', effort: 'high', paused: false };
      await place(rig, 'whole-a', moved);
      const exec = { exec: { command: ['/spoke', 'probe', 'http://127.0.0.1:8080/api/health'] } };
      const release = await rig.apply(
        'whole',
        spokeSpec(rig, 'whole', [
          spokeTarget(rig, 'whole-a'),
          spokeTarget(rig, 'whole-b', { health: exec }),
          { namespace: rig.namespace, statefulSet: 'whole-c', container: 'spoke', agents: SPOKE_AGENTS },
        ]),
      );
      await release.until('current', allCurrent('1.0.0'));
      const two = await rig.image('whole', '1.1.0', { agents: AGENTS });
      await release.until('current on 1.1.0', allCurrent('1.1.0'));
      expect(await agentsNow(rig, 'whole-a')).toEqual([moved, AGENTS[1]]);

      // The StatefulSet goes first now, so that its broken pod is the one that has to be deleted.
      await release.act('applySpec', {
        spec: spokeSpec(rig, 'whole', [
          { namespace: rig.namespace, statefulSet: 'whole-c', container: 'spoke', agents: SPOKE_AGENTS },
          spokeTarget(rig, 'whole-a'),
        ]),
      });
      await rig.image('whole', '1.2.0', { agents: AGENTS, fault: 'crash-start' });
      await release.until('rolled back', ended('whole-c', 'RolledBack'), 150_000);
      expect(await rig.imageOf('whole-c', 'StatefulSet')).toBe(two.reference);
      await release.act('block', { image: '9.9.9', reason: 'never' });
      await release.until('the block to be known', (s) => s.blocked.some((b) => b.image === '9.9.9'));
      await release.act('releaseOwnership');
      await release.handle.result();

      const requests = await requestsOf('enforce', since);
      expect(denied(requests)).toEqual([]);
      const done = new Set(
        requests.map(
          ({ verb, objectRef: ref }) =>
            `${verb} ${ref?.resource ?? ''}${ref?.subresource ? `/${ref.subresource}` : ''}`,
        ),
      );
      // What the rights are for was really done.
      const used = [
        'patch deployments',
        'patch statefulsets',
        'delete pods',
        'update pods/proxy',
        'get pods/exec',
        'create events',
      ];
      expect([...done]).toEqual(expect.arrayContaining(used));
      await release.end();
    },
  );
});
