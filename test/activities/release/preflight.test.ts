import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { PreflightInput } from '../../../src/activities/release/port.ts';
import { pushSpokeImage, type PushedImage, type SpokeAgent } from '../../lab/images.ts';
import { spokeDaemonSet, spokeDeployment, spokeStatefulSet } from '../../lab/manifests.ts';
import { releaseLab, run, type ReleaseLab } from './fixture.ts';

const env = inject('lab');
const from = `${env.registry}/release/preflight:v6@sha256:${'a'.repeat(64)}`;

let lab: ReleaseLab;

beforeAll(async () => {
  lab = await releaseLab(env);
});

afterAll(() => lab.close());

function preflight(target: PreflightInput['target'], change: Partial<PreflightInput> = {}) {
  const input: PreflightInput = {
    release: 'fleet',
    target,
    from,
    health: { http: { port: 8080, path: '/api/health', expect: 200 } },
    agents: 'none',
    skipGate: false,
    incumbents: [],
    ...change,
  };
  return run(lab.activities, 'preflight', input);
}

describe('a workload on which a new image would not roll, or could not be verified, is not touched', () => {
  const shape = (name: string) => ({ namespace: lab.namespace, name, image: from, architecture: 'none' });

  test('paused', async () => {
    const paused = spokeDeployment(shape('paused'));
    await lab.create({ ...paused, spec: { ...paused.spec, paused: true } });
    expect((await preflight(lab.target('paused'))).verdict).toMatchObject({ kind: 'fail', reason: 'WorkloadPaused' });
  });

  test('zero replicas', async () => {
    await lab.create(spokeDeployment({ ...shape('zero'), replicas: 0 }));
    expect((await preflight(lab.target('zero'))).verdict).toMatchObject({ kind: 'fail', reason: 'ZeroReplicas' });
  });

  test('OnDelete, on a StatefulSet and on a DaemonSet', async () => {
    await lab.create(spokeStatefulSet({ ...shape('set'), updateStrategy: { type: 'OnDelete' } }));
    await lab.create(spokeDaemonSet({ ...shape('daemon'), updateStrategy: { type: 'OnDelete' } }));
    for (const [name, kind] of [
      ['set', 'StatefulSet'],
      ['daemon', 'DaemonSet'],
    ] as const) {
      const { verdict, found } = await preflight(lab.target(name, { kind }));
      expect(verdict).toMatchObject({ kind: 'fail', reason: 'OnDeleteStrategy' });
      expect(found).toBeNull();
    }
  });

  test('a container that it does not have, with those it has', async () => {
    await lab.create(spokeDeployment(shape('typo')));
    const { verdict } = await preflight(lab.target('typo', { container: 'spook' }));
    expect(verdict).toMatchObject({ kind: 'fail', reason: 'NoSuchContainer' });
    expect(JSON.stringify(verdict)).toContain('its containers: spoke');
  });

  test('another image than planned', async () => {
    await lab.create(spokeDeployment({ ...shape('swapped'), image: `${env.registry}/hotfix:1` }));
    expect((await preflight(lab.target('swapped'))).verdict).toMatchObject({ kind: 'fail', reason: 'ImageChanged' });
  });

  test('one that does not exist is unmeasured, as missing', async () => {
    expect((await preflight(lab.target('gone'))).verdict).toMatchObject({ kind: 'unmeasured', why: 'missing' });
  });

  test('one whose own image does not run', async () => {
    await lab.create(spokeDeployment(shape('pending')));
    expect((await preflight(lab.target('pending'))).verdict).toMatchObject({ kind: 'fail', reason: 'NotReady' });
  });

  test('unless a person skips the gate', async () => {
    await lab.create(spokeDeployment(shape('sick')));
    const { verdict, found } = await preflight(lab.target('sick'), { skipGate: true });
    expect(verdict.kind).toBe('pass');
    expect(found?.runningImage).toBe(from);
  });
});

test('the running image is called as its own labels say, so that a block by label is seen', async () => {
  const { reference } = await pushSpokeImage(env.registry, {
    repository: 'release/labelled',
    tag: 'v6-latest',
    version: '6.1.0',
    revision: '04d1e1ea4bdf00112233445566778899aabbccdd',
  });
  await lab.create(
    spokeDeployment({ namespace: lab.namespace, name: 'labelled', image: reference, architecture: 'none' }),
  );
  const labelled = await preflight(lab.target('labelled'), { from: reference, skipGate: true });
  expect(labelled.found?.runningLabel).toBe('v6-04d1e1ea4bdf');
  await lab.create(spokeDeployment({ namespace: lab.namespace, name: 'lost', image: from, architecture: 'none' }));
  const lost = await preflight(lab.target('lost'), { skipGate: true });
  expect(lost).toMatchObject({ verdict: { kind: 'pass' }, found: { runningLabel: null, runningImage: from } });
});

describe.skipIf(env.node === null)('a healthy target on a real node', () => {
  const agents: SpokeAgent[] = [
    { name: 'scout', backend: 'alpha', model: 'm1', effort: 'high', paused: false },
    { name: 'smith', backend: 'beta', model: 'm2', effort: 'low', paused: true },
  ];
  const agentsAt = {
    port: 8080,
    statusPath: '/api/status',
    modelsPath: '/api/config/agent/{name}/models',
    journal: { path: '/state/hive-state.json', command: ['/spoke', 'cat'] },
  };
  let image: PushedImage;

  beforeAll(async () => {
    image = await pushSpokeImage(env.registry, {
      repository: 'release/preflight',
      tag: 'v6',
      version: '6.0.0',
      agents,
    });
  });

  test('passes, and its placements are those people set', async () => {
    await lab.create(
      spokeDeployment({ namespace: lab.namespace, name: 'spoke', image: image.reference, node: 'real' }),
    );
    const target = lab.target('spoke');
    await lab.settled(target);
    const first = await preflight(target, { from: image.reference, agents: agentsAt });
    expect(first.verdict).toMatchObject({ kind: 'pass' });
    expect(first.found?.placements).toEqual(agents);
    expect(first.found?.runningImage).toBe(image.reference);

    const wanted = { name: 'scout', backend: 'gamma', model: 'm9', effort: 'low', paused: false };
    const set = { release: 'fleet', target, image: image.reference, agents: agentsAt, placements: [wanted] };
    expect((await run(lab.activities, 'restorePlacements', set)).restored).toEqual(['scout']);
    const second = await preflight(target, { from: image.reference, agents: agentsAt });
    expect(second.found?.placements?.[0]).toEqual(wanted);
  });

  test('with a bare tag has its running digest recorded as the way back', async () => {
    const bare = `${image.repository}:v6`;
    await lab.create(spokeDeployment({ namespace: lab.namespace, name: 'bare', image: bare, node: 'real' }));
    const target = lab.target('bare');
    await lab.settled(target);
    const { verdict, found } = await preflight(target, { from: bare });
    expect(verdict).toMatchObject({ kind: 'pass' });
    expect(found?.runningImage).toBe(`${bare}@${image.digest}`);
  });

  test('that answers 500 fails', async () => {
    const sick = await pushSpokeImage(env.registry, {
      repository: 'release/preflight',
      tag: 'sick',
      version: '6.0.0',
      fault: 'health-500',
    });
    await lab.create(
      spokeDeployment({ namespace: lab.namespace, name: 'unwell', image: sick.reference, node: 'real' }),
    );
    const target = lab.target('unwell');
    await lab.settled(target);
    const { verdict } = await preflight(target, { from: sick.reference });
    expect(verdict).toMatchObject({ kind: 'fail', reason: 'Unhealthy' });
  });
});
