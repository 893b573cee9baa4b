import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { ReleaseStatus } from '../../src/domain/release/status.ts';
import { serviceAccountKubeconfig, type RbacRule } from '../lab/access.ts';
import { attachLab } from '../lab/lab.ts';
import { waitFor } from '../lab/wait.ts';
import { deployedRights } from './deployed-rights.ts';
import { allCurrent, ended, startRig, type Rig } from './rig.ts';
import { AGENTS, deploySpoke, spokeSpec, spokeTarget } from './spokes.ts';

const lab = inject('lab');
const enforce = deployedRights('enforce');
let rig: Rig;

/** Gives the worker's account these rights, or those of `deploy/release/enforce`. */
function grant(rules: readonly RbacRule[] = enforce): Promise<string> {
  return serviceAccountKubeconfig(lab, { namespace: rig.namespace, name: 'worker', clusterRules: [...rules] });
}

function without(resource: string): RbacRule[] {
  return enforce.filter((rule) => rule.resources?.includes(resource) !== true);
}

/** What holds for every target of which nothing was measured. */
async function expectLeftAlone(status: ReleaseStatus, target: string, image: string, other: string): Promise<void> {
  const { phase, reason, message } = status.targets.find((t) => t.name === target) ?? {};
  expect([phase, reason]).toEqual(['Failed', 'Unmeasured']);
  expect(message).toContain('NOT rolled back — unmeasured is not unhealthy');
  expect(message).toContain('the way back is');
  expect(await rig.imageOf(target)).toBe(image);
  expect(status.blocked).toEqual([]);
  expect(status.rollbacks).toBe(0);
  expect((await rig.events(target)).map((event) => event.reason)).not.toContain('RollingBack');
  expect((await rig.workload(other)).metadata.generation).toBe(1);
}

describe.skipIf(lab.node === null)('on a real node what could not be measured is not rolled back, and said so', () => {
  beforeAll(async () => {
    rig = await startRig(lab, 'unmeasured', null);
    await rig.workAs(await grant());
  });

  afterAll(() => rig.close());

  test('the right to ask pods over the API server is taken away in the soak', async () => {
    const one = await rig.image('proxy', '1.0.0', { agents: AGENTS });
    await Promise.all(['proxy-a', 'proxy-b'].map((name) => deploySpoke(rig, name, one)));
    const targets = ['proxy-a', 'proxy-b'].map((name) => spokeTarget(rig, name));
    const release = await rig.apply('proxy', spokeSpec(rig, 'proxy', targets, { soak: '120s' }));
    await release.until('current', allCurrent('1.0.0'));
    const two = await rig.image('proxy', '1.1.0', { agents: AGENTS });
    await release.until('soaking', (s) => s.targets[0]?.step === 'Soaking');
    await grant(without('pods/proxy'));
    const status = await release.until('the rollout to end', ended('proxy-a', 'Failed'));
    await grant();
    await expectLeftAlone(status, 'proxy-a', two.reference, 'proxy-b');
    expect(status.targets[0]?.message).toMatch(/forbidden|denied/i);
    expect(status.targets[0]?.message).toMatch(/pods\/proxy/);
    await release.end();
  });

  test('the right to run a command in pods is taken away in the soak', async () => {
    const one = await rig.image('exec', '1.0.0');
    await Promise.all(['exec-a', 'exec-b'].map((name) => deploySpoke(rig, name, one)));
    const health = { exec: { command: ['/spoke', 'probe', 'http://127.0.0.1:8080/api/health'] } };
    const targets = ['exec-a', 'exec-b'].map((name) => spokeTarget(rig, name, { health, agents: 'none' }));
    const release = await rig.apply('exec', spokeSpec(rig, 'exec', targets, { soak: '120s' }));
    await release.until('current', allCurrent('1.0.0'));
    const two = await rig.image('exec', '1.1.0');
    await release.until('soaking', (s) => s.targets[0]?.step === 'Soaking');
    await grant(without('pods/exec'));
    const status = await release.until('the rollout to end', ended('exec-a', 'Failed'));
    await grant();
    await expectLeftAlone(status, 'exec-a', two.reference, 'exec-b');
    expect(status.targets[0]?.message).toMatch(/pods\/exec/);
    await release.end();
  });

  test('a spoke goes on initialising for longer than the gate waits', async () => {
    const one = await rig.image('slow', '1.0.0', { agents: AGENTS });
    await Promise.all(['slow-a', 'slow-b'].map((name) => deploySpoke(rig, name, one)));
    const targets = ['slow-a', 'slow-b'].map((name) => spokeTarget(rig, name));
    const release = await rig.apply('slow', spokeSpec(rig, 'slow', targets, { gateTimeout: '4s' }));
    await release.until('current', allCurrent('1.0.0'));
    const two = await rig.image('slow', '1.1.0', { agents: AGENTS, fault: 'stuck-initializing' });
    const status = await release.until('the rollout to end', ended('slow-a', 'Failed'));
    await expectLeftAlone(status, 'slow-a', two.reference, 'slow-b');
    expect(status.targets[0]?.message).toMatch(/initiali/);
    await release.end();
  });

  test('with the registry down an image that no node can pull is waited for, and a person may abort at any time', async () => {
    const names = ['wait', 'stop', 'back'] as const;
    const one = await rig.image('pull', '1.0.0', { agents: AGENTS });
    const release = await Promise.all(
      names.map(async (name) => {
        await Promise.all([`pull-${name}`, `spare-${name}`].map((target) => deploySpoke(rig, target, one)));
        const targets = [`pull-${name}`, `spare-${name}`].map((target) => spokeTarget(rig, target));
        const rolloutTimeout = name === 'wait' ? '15s' : '300s';
        const spec = spokeSpec(rig, 'pull', targets, { approval: 'beforeEach', rolloutTimeout });
        const applied = await rig.apply(`pull-${name}`, spec);
        await applied.until('current', allCurrent('1.0.0'));
        return applied;
      }),
    );
    const [waits, stops, goesBack] = release;
    if (!waits || !stops || !goesBack) throw new Error('three releases were applied');
    const two = await rig.image('pull', '1.1.0', { agents: AGENTS });
    for (const r of release) await r.until('its approval', (s) => s.targets[0]?.reason === 'AwaitingApproval');

    const running = await attachLab(lab.dir);
    await running.kill('registry');
    try {
      for (const [index, name] of names.entries()) await release[index]?.act('approve', { target: `pull-${name}` });
      for (const name of names) await podCannotPull(`pull-${name}`);

      await stops.act('abort', { how: 'stop', reason: 'after lunch' });
      const stopped = await stops.until('the rollout to be over', (s) => s.rollout === null);
      const [summary] = stopped.lastRollouts;
      expect(summary).toMatchObject({ outcome: 'Aborted', targets: [{ phase: 'Held', reason: 'Aborted' }, {}] });
      expect(await rig.imageOf('pull-stop')).toBe(two.reference);

      await goesBack.act('abort', { how: 'rollback', reason: 'not today' });
      const back = await goesBack.until('it to be back', (s) => s.rollout === null);
      expect(back.lastRollouts[0]?.targets[0]).toMatchObject({ phase: 'RolledBack', reason: 'Aborted' });
      expect(await rig.imageOf('pull-back')).toBe(one.reference);
      expect(back.blocked).toEqual([]);

      const status = await waits.until('its time to be over', (s) => s.rollout === null);
      await expectLeftAlone(status, 'pull-wait', two.reference, 'spare-wait');
      expect(status.targets[0]?.message).toMatch(/cannot get its image/);
    } finally {
      await running.start('registry');
    }
    for (const r of release) await r.end();
  });
});

/** Waits until the kubelet says of a pod that it has no image. */
function podCannotPull(app: string): Promise<unknown> {
  return waitFor(`a pod of ${app} cannot pull its image`, async () => {
    const list = await rig.kubernetes.list({
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: rig.namespace,
      labelSelector: `app=${app}`,
    });
    return list.kind === 'read' && /"reason":"(ErrImagePull|ImagePullBackOff)"/.test(JSON.stringify(list.value.items));
  });
}
