import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { spokeDaemonSet, spokeDeployment, spokeStatefulSet } from '../lab/manifests.ts';
import { allCurrent, ended, startRig, type Rig } from './rig.ts';
import { AGENTS, agentsNow, deploySpoke, place, readyPod, SPOKE_AGENTS, spokeSpec, spokeTarget } from './spokes.ts';

const lab = inject('lab');
let rig: Rig;

/** Where the first agent is moved by the person who runs the spoke. */
const MOVED = { name: 'writer', backend: 'beta', model: 'large', effort: 'high', paused: false };

describe.skipIf(lab.node === null)('on a real node', () => {
  beforeAll(async () => {
    rig = await startRig(lab, 'kinds');
  });

  afterAll(() => rig.close());

  test.concurrent('agents are where people had put them after a release, and after a rollback', async () => {
    const one = await rig.image('agents', '1.0.0', { agents: AGENTS });
    await deploySpoke(rig, 'agents', one);
    await place(rig, 'agents', MOVED);
    const spec = spokeSpec(rig, 'agents', [spokeTarget(rig, 'agents')], { gateTimeout: '5s' });
    const release = await rig.apply('agents', spec);
    await release.until('current', allCurrent('1.0.0'));

    await rig.image('agents', '1.1.0', { agents: AGENTS });
    await release.until('current on 1.1.0', allCurrent('1.1.0'));
    expect(await agentsNow(rig, 'agents')).toEqual([MOVED, AGENTS[1]]);
    const promoted = (await rig.events('agents')).map((event) => event.reason);
    expect(promoted).toEqual(['RollingOut', 'PlacementsRestored', 'Soaking', 'Promoted']);

    // It becomes ready, so that the pod before it goes, and with that pod what was set there.
    await rig.image('agents', '1.2.0', { agents: AGENTS, fault: 'health-500' });
    await release.until('rolled back', ended('agents', 'RolledBack'));
    expect(await agentsNow(rig, 'agents')).toEqual([MOVED, AGENTS[1]]);
    const rolledBack = (await rig.events('agents')).map((event) => event.reason).slice(promoted.length);
    expect(rolledBack.slice(0, 4)).toEqual(['RollingOut', 'RollingBack', 'PlacementsRestored', 'RolledBack']);
    await release.end();
  });

  test.concurrent('a StatefulSet is released, and a broken pod does not keep it from going back', async () => {
    const one = await rig.image('set', '1.0.0', { agents: AGENTS });
    const workload = { namespace: rig.namespace, name: 'set', image: one.reference, node: 'real' as const };
    await rig.deploy(spokeStatefulSet({ ...workload, replicas: 2 }));
    const target = { namespace: rig.namespace, statefulSet: 'set', container: 'spoke', agents: SPOKE_AGENTS };
    const release = await rig.apply('set', spokeSpec(rig, 'set', [target]));
    await release.until('current', allCurrent('1.0.0'));
    const two = await rig.image('set', '1.1.0', { agents: AGENTS });
    await release.until('current on 1.1.0', allCurrent('1.1.0'));
    expect(await rig.imageOf('set', 'StatefulSet')).toBe(two.reference);

    const bad = await rig.image('set', '1.2.0', { agents: AGENTS, fault: 'crash-start' });
    const status = await release.until('rolled back', ended('set', 'RolledBack'), 150_000);
    expect(status.targets[0]?.message).toMatch(/crashes again and again/);
    expect(status.blocked.map((b) => b.image)).toEqual([bad.digest]);
    expect(await rig.imageOf('set', 'StatefulSet')).toBe(two.reference);
    const { status: counts = {} } = await rig.workload('set', 'StatefulSet');
    expect(counts).toMatchObject({ readyReplicas: 2, updatedReplicas: 2 });
    await release.end();
  });

  test.concurrent('a DaemonSet is released, and rolled back', async () => {
    const one = await rig.image('daemon', '1.0.0', { agents: AGENTS });
    const workload = { namespace: rig.namespace, name: 'daemon', image: one.reference, node: 'real' as const };
    await rig.deploy(spokeDaemonSet(workload));
    const target = { namespace: rig.namespace, daemonSet: 'daemon', container: 'spoke', agents: SPOKE_AGENTS };
    const release = await rig.apply('daemon', spokeSpec(rig, 'daemon', [target]));
    await release.until('current', allCurrent('1.0.0'));
    const two = await rig.image('daemon', '1.1.0', { agents: AGENTS });
    await release.until('current on 1.1.0', allCurrent('1.1.0'));
    const bad = await rig.image('daemon', '1.2.0', { agents: AGENTS, fault: 'crash-start' });
    const status = await release.until('rolled back', ended('daemon', 'RolledBack'));
    expect(status.targets[0]?.message).toMatch(/crashes again and again/);
    expect(status.blocked.map((b) => b.image)).toEqual([bad.digest]);
    expect(await rig.imageOf('daemon', 'DaemonSet')).toBe(two.reference);
    await readyPod(rig, 'daemon');
    await release.end();
  });

  test.concurrent('the image of an init container is released, and rolled back with the container named', async () => {
    const app = await rig.image('app', '7.0.0');
    const one = await rig.image('init', '1.0.0', { args: ['--version'] });
    const workload = spokeDeployment({
      namespace: rig.namespace,
      name: 'init',
      image: app.reference,
      node: 'real',
      initContainers: [{ name: 'prepare', image: one.reference, imagePullPolicy: 'IfNotPresent' }],
    });
    await rig.deploy(workload);
    const target = {
      ...spokeTarget(rig, 'init'),
      container: 'prepare',
      kind: 'plain' as const,
      agents: 'none' as const,
    };
    const release = await rig.apply('init', spokeSpec(rig, 'init', [target]));
    await release.until('current', allCurrent('1.0.0'));
    const two = await rig.image('init', '1.1.0', { args: ['--version'] });
    await release.until('current on 1.1.0', allCurrent('1.1.0'));
    expect(await rig.imageOf('init', 'Deployment', 'prepare')).toBe(two.reference);

    const bad = await rig.image('init', '1.2.0', { args: ['cat', '/nowhere'] });
    const status = await release.until('rolled back', ended('init', 'RolledBack'));
    expect(status.targets[0]?.message).toMatch(/container prepare of pod .* crashes again and again.*exit code 1/s);
    expect(status.blocked.map((b) => b.image)).toEqual([bad.digest]);
    expect(await rig.imageOf('init', 'Deployment', 'prepare')).toBe(two.reference);
    expect(await rig.imageOf('init')).toBe(app.reference);
    await release.end();
  });

  test.concurrent(
    'a sick target is left alone with the reason, and retry --skip-preflight lets the cure reach it',
    async () => {
      const sick = await rig.image('sick', '1.0.0', { agents: AGENTS, fault: 'health-500' });
      await deploySpoke(rig, 'sick', sick);
      const release = await rig.apply(
        'sick',
        spokeSpec(rig, 'sick', [spokeTarget(rig, 'sick')], { pollInterval: '2s' }),
      );
      const cure = await rig.image('sick', '1.1.0', { agents: AGENTS });
      const held = await release.until('its preflight to fail', (s) => s.targets[0]?.reason === 'PreflightFailed');
      expect(held.targets[0]?.message).toMatch(/answered 500, not 200; nothing was changed/);
      expect(await rig.imageOf('sick')).toBe(sick.reference);
      expect((await rig.events('sick')).map((event) => event.reason)).toContain('PreflightFailed');
      await release.act('retry', { target: 'sick', skipPreflight: true, reason: '1.1.0 is the cure' });
      await release.until('current on 1.1.0', allCurrent('1.1.0'));
      expect(await rig.imageOf('sick')).toBe(cure.reference);
      await release.end();
    },
  );
});
