import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { WatchRolloutInput, WatchRolloutResult, WatchSoakInput } from '../../../src/activities/release/port.ts';
import type { TargetAddress } from '../../../src/domain/release/address.ts';
import { serviceAccountKubeconfig, type RbacRule } from '../../lab/access.ts';
import { pushSpokeImage, type ImageSpec, type PushedImage, type SpokeAgent } from '../../lab/images.ts';
import { spokeDaemonSet, spokeDeployment, spokeStatefulSet } from '../../lab/manifests.ts';
import { releaseLab, run, type ReleaseLab } from './fixture.ts';

const env = inject('lab');
const agents: SpokeAgent[] = [
  { name: 'scout', backend: 'alpha', model: 'm1', effort: 'high', paused: false },
  { name: 'smith', backend: 'beta', model: 'm2', effort: 'low', paused: true },
];

/** What a watch of releases may do: nothing but read, and reach pods. */
const reads: RbacRule[] = [
  { apiGroups: ['apps'], resources: ['deployments', 'replicasets'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
];
const proxy: RbacRule = { apiGroups: [''], resources: ['pods/proxy'], verbs: ['get', 'update'] };

describe.skipIf(env.node === null)('watches on a real node', () => {
  let lab: ReleaseLab;
  let good: PushedImage;
  let workloads = 0;

  beforeAll(async () => {
    lab = await releaseLab(env);
    good = await image({ version: '6.0.0' });
  });

  afterAll(() => lab.close());

  function image(spec: Partial<ImageSpec> = {}): Promise<PushedImage> {
    const tag = `v6-${spec.fault?.replace(/[^a-z0-9]/g, '-') ?? 'good'}-${spec.version ?? '6.1.0'}`;
    return pushSpokeImage(env.registry, { repository: 'release/spoke', version: '6.1.0', tag, agents, ...spec });
  }

  /** A workload that runs the good image, and then gets another one. */
  async function rolledTo(reference: string, kind: TargetAddress['kind'] = 'Deployment', container = 'spoke') {
    const name = `w${(workloads += 1)}`;
    const init = { name: 'setup', image: good.reference, args: ['sleep', '0'], imagePullPolicy: 'IfNotPresent' };
    const shape = {
      namespace: lab.namespace,
      name,
      image: good.reference,
      node: 'real' as const,
      ...(container === 'spoke' ? {} : { initContainers: [init] }),
    };
    const make = { Deployment: spokeDeployment, StatefulSet: spokeStatefulSet, DaemonSet: spokeDaemonSet }[kind];
    await lab.create(make(shape));
    const target = lab.target(name, { kind, container });
    await lab.settled(target);
    const written = await run(lab.activities, 'writeImage', {
      release: 'fleet',
      target,
      from: good.reference,
      to: reference,
      marks: { managedBy: 'release/fleet', applied: reference, previousImage: good.reference },
      lastWrite: null,
      incumbents: [],
    });
    expect(written).toMatchObject({ kind: 'written' });
    return target;
  }

  const agentsAt = { port: 8080, statusPath: '/api/status', modelsPath: '/api/config/agent/{name}/models' };

  function rollout(target: TargetAddress, reference: string, change: Partial<WatchRolloutInput> = {}) {
    const input: WatchRolloutInput = {
      release: 'fleet',
      target,
      image: reference,
      health: { http: { port: 8080, path: '/api/health', expect: 200 } },
      agents: agentsAt,
      placements: agents,
      deadline: Date.now() + 60_000,
      gateTimeoutMs: 5_000,
      recovering: false,
      ...change,
    };
    return run(lab.activities, 'watchRollout', input);
  }

  async function passed(target: TargetAddress, reference: string): Promise<WatchRolloutResult> {
    const result = await rollout(target, reference);
    expect(result.verdict).toMatchObject({ kind: 'pass' });
    return result;
  }

  function soak(
    target: TargetAddress,
    reference: string,
    gate: WatchRolloutResult,
    change: Partial<WatchSoakInput> = {},
  ) {
    const input: WatchSoakInput = {
      release: 'fleet',
      target,
      image: reference,
      health: { http: { port: 8080, path: '/api/health', expect: 200 } },
      agents: agentsAt,
      placements: agents,
      restarts: gate.restarts,
      checks: [],
      probeIntervalMs: 500,
      minimumSamples: 1,
      until: Date.now() + 30_000,
      ...change,
    };
    return run(lab.activities, 'watchSoak', input);
  }

  describe('a rollout', () => {
    test.each(['Deployment', 'StatefulSet', 'DaemonSet'] as const)('of a good image on a %s passes', async (kind) => {
      const next = await image({ version: '6.0.1' });
      const target = await rolledTo(next.reference, kind);
      const result = await passed(target, next.reference);
      expect(Object.values(result.restarts)).toEqual([0]);
      expect(result.moved).toEqual([]);
    });

    test('of an init container’s image passes', async () => {
      const next = await image({ version: '6.0.1' });
      await passed(await rolledTo(next.reference, 'Deployment', 'setup'), next.reference);
    });

    test('of an image that crashes at start fails, and blocks it', async () => {
      const bad = await image({ fault: 'crash-start' });
      const result = await rollout(await rolledTo(bad.reference), bad.reference);
      expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'CrashLoopBackOff' });
      expect(result.block).toBe(true);
    });

    test('of an init container that crashes at start names that container', async () => {
      const bad = await image({ fault: 'crash-start', args: ['serve'] });
      const target = await rolledTo(bad.reference, 'Deployment', 'setup');
      const result = await rollout(target, bad.reference);
      expect(JSON.stringify(result.verdict)).toContain('container setup');
    });

    test('of an image that is not there fails, and blocks it', async () => {
      const absent = `${good.repository}:v6-absent@sha256:${'0'.repeat(64)}`;
      const result = await rollout(await rolledTo(absent), absent);
      expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'ImageAbsent' });
      expect(result.block).toBe(true);
    });

    test('of an image that answers 500 fails', async () => {
      const bad = await image({ fault: 'health-500' });
      const result = await rollout(await rolledTo(bad.reference), bad.reference);
      expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'Unhealthy' });
    });

    test('of an image that loses an agent fails, and names it', async () => {
      const bad = await image({ fault: 'lose-agent=scout' });
      const result = await rollout(await rolledTo(bad.reference), bad.reference);
      expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'AgentLost' });
      expect(JSON.stringify(result.verdict)).toContain('scout');
    });

    test('of an image that is never ready fails at the deadline', async () => {
      const bad = await image({ fault: 'never-ready' });
      const result = await rollout(await rolledTo(bad.reference), bad.reference, { deadline: Date.now() + 8_000 });
      expect(result.verdict).toMatchObject({ kind: 'fail' });
    });

    test('of a spoke that initialises for ever is unmeasured', async () => {
      const slow = await image({ fault: 'stuck-initializing' });
      const result = await rollout(await rolledTo(slow.reference), slow.reference);
      expect(result.verdict).toMatchObject({ kind: 'unmeasured', why: 'not-ready' });
      expect(result.block).toBe(false);
    });

    test('asked without the right to reach pods is unmeasured', async () => {
      const next = await image({ version: '6.0.1' });
      const target = await rolledTo(next.reference);
      const kubeconfig = await serviceAccountKubeconfig(env, {
        namespace: lab.namespace,
        name: 'no-proxy',
        rules: reads,
      });
      const activities = await lab.activitiesAs(kubeconfig);
      const input: WatchRolloutInput = {
        release: 'fleet',
        target,
        image: next.reference,
        health: { http: { port: 8080, path: '/api/health', expect: 200 } },
        agents: 'none',
        placements: null,
        deadline: Date.now() + 60_000,
        gateTimeoutMs: 2_000,
        recovering: false,
      };
      const result = await run(activities, 'watchRollout', input);
      expect(result.verdict).toMatchObject({ kind: 'unmeasured', why: 'denied' });
      expect(result.block).toBe(false);
    });

    test('back from a broken pod of a StatefulSet names the pod it is stuck on, and goes on once that is gone', async () => {
      const bad = await image({ fault: 'crash-start' });
      const target = await rolledTo(bad.reference, 'StatefulSet');
      expect((await rollout(target, bad.reference)).verdict).toMatchObject({ kind: 'fail' });
      const back = await run(lab.activities, 'writeImage', {
        release: 'fleet',
        target,
        from: bad.reference,
        to: good.reference,
        marks: { rolledBackFrom: bad.reference },
        lastWrite: null,
        incumbents: [],
      });
      expect(back).toMatchObject({ kind: 'written' });
      const stuck = (await rollout(target, good.reference, { recovering: true })).stuck;
      expect(stuck?.name).toBe(`${target.workload}-0`);
      if (!stuck) return;
      const gone = { release: 'fleet', target, pod: stuck.name, uid: stuck.uid };
      expect(await run(lab.activities, 'deletePod', gone)).toEqual({ kind: 'written', repeated: false });
      expect((await rollout(target, good.reference, { recovering: true })).verdict).toMatchObject({ kind: 'pass' });
      expect(await run(lab.activities, 'deletePod', gone)).toEqual({ kind: 'written', repeated: true });
    });
  });

  describe('a soak', () => {
    test('of a good image passes at its end', async () => {
      const next = await image({ version: '6.0.1' });
      const target = await rolledTo(next.reference);
      const result = await soak(target, next.reference, await passed(target, next.reference), {
        until: Date.now() + 2_000,
      });
      expect(result.verdict).toMatchObject({ kind: 'pass' });
    });

    test('of an image that crashes after five seconds fails', async () => {
      const bad = await image({ fault: 'crash-after=5s' });
      const target = await rolledTo(bad.reference);
      const result = await soak(target, bad.reference, await passed(target, bad.reference));
      expect(result.verdict).toMatchObject({ kind: 'fail' });
      expect(result.block).toBe(true);
    });

    test('of an image that answers 500 after a while fails', async () => {
      const bad = await image({ fault: 'health-500-after=4s' });
      const target = await rolledTo(bad.reference);
      const result = await soak(target, bad.reference, await passed(target, bad.reference));
      expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'Unhealthy' });
    });

    test('of an image that loses an agent fails', async () => {
      const bad = await image({ fault: 'lose-agent-after=4s' });
      const target = await rolledTo(bad.reference);
      const result = await soak(target, bad.reference, await passed(target, bad.reference));
      expect(result.verdict).toMatchObject({ kind: 'fail', reason: 'AgentLost' });
    });

    test('during which rights are taken away is unmeasured', async () => {
      const next = await image({ version: '6.0.1' });
      const target = await rolledTo(next.reference);
      const gate = await passed(target, next.reference);
      const account = { namespace: lab.namespace, name: 'soaker' };
      const kubeconfig = await serviceAccountKubeconfig(env, { ...account, rules: [...reads, proxy] });
      const activities = await lab.activitiesAs(kubeconfig);
      const environment = new MockActivityEnvironment();
      let taken = false;
      environment.on('heartbeat', (details: unknown) => {
        if (taken || (details as { samples?: number } | undefined)?.samples !== 2) return;
        taken = true;
        void serviceAccountKubeconfig(env, { ...account, rules: reads });
      });
      const input: WatchSoakInput = {
        release: 'fleet',
        target,
        image: next.reference,
        health: { http: { port: 8080, path: '/api/health', expect: 200 } },
        agents: 'none',
        placements: null,
        restarts: gate.restarts,
        checks: [],
        probeIntervalMs: 300,
        minimumSamples: 1,
        until: Date.now() + 60_000,
      };
      const result = await run(activities, 'watchSoak', input, environment);
      expect(result.verdict).toMatchObject({ kind: 'unmeasured', why: 'denied' });
      expect(result.block).toBe(false);
    });
  });

  describe('placements', () => {
    test('that a new image comes up with wrong are written back, and read as they were', async () => {
      const moved = agents.map((a) => (a.name === 'scout' ? { ...a, model: 'other' } : a));
      const next = await image({ version: '6.0.2', agents: moved });
      const target = await rolledTo(next.reference);
      const gate = await passed(target, next.reference);
      expect(gate.moved).toEqual([agents[0]]);
      const restored = await run(lab.activities, 'restorePlacements', {
        release: 'fleet',
        target,
        image: next.reference,
        agents: agentsAt,
        placements: gate.moved,
      });
      expect(restored).toMatchObject({ verdict: { kind: 'pass' }, restored: ['scout'] });
      expect((await passed(target, next.reference)).moved).toEqual([]);
    });
  });
});
