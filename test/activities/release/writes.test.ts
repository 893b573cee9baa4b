import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Incumbent } from '../../../src/domain/release/incumbents.ts';
import type { MarksPatch } from '../../../src/domain/release/rollout.ts';
import type { WriteImageInput } from '../../../src/activities/release/port.ts';
import { readAudit } from '../../lab/access.ts';
import { spokeDaemonSet, spokeDeployment, spokeStatefulSet } from '../../lab/manifests.ts';
import { releaseLab, run, type ReleaseLab } from './fixture.ts';

const env = inject('lab');
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const from = `${env.registry}/shop/web:v6-latest@${digest('a')}`;
const to = `${env.registry}/shop/web:v6-latest@${digest('b')}`;
const marks: MarksPatch = {
  managedBy: 'release/fleet',
  applied: to,
  previousImage: from,
  upgradedAt: '2026-01-01T00:00:00.000Z',
};

let lab: ReleaseLab;
const sidecar = { name: 'sidecar', image: `${env.registry}/shop/sidecar:1` };

beforeAll(async () => {
  lab = await releaseLab(env);
});

afterAll(() => lab.close());

/** A workload of no pods: these tests are about its template. */
async function workload(name: string, change: Partial<Parameters<typeof spokeDeployment>[0]> = {}) {
  await lab.create(
    spokeDeployment({ namespace: lab.namespace, name, image: from, container: 'web', replicas: 0, ...change }),
  );
  return lab.target(name, { container: 'web' });
}

function input(target: WriteImageInput['target'], change: Partial<WriteImageInput> = {}): WriteImageInput {
  return { release: 'fleet', target, from, to, marks, lastWrite: null, incumbents: [], ...change };
}

async function imagePatches(name: string): Promise<number> {
  const events = await readAudit(env);
  return events.filter(
    (e) =>
      e.verb === 'patch' &&
      e.stage === 'ResponseComplete' &&
      e.objectRef?.namespace === lab.namespace &&
      e.objectRef.name === name &&
      (e.responseStatus?.code ?? 0) < 300 &&
      JSON.stringify(e.requestObject ?? {}).includes('"template"'),
  ).length;
}

describe('the image of one container is written, and nothing else', () => {
  test('H-A15 writing one container keeps the other, in the answer and read back', async () => {
    const target = await workload('two', { sidecars: [sidecar] });
    const before = await lab.workload(target);
    expect(await run(lab.activities, 'writeImage', input(target))).toEqual({ kind: 'written', repeated: false });
    const after = await lab.workload(target);
    expect(after.spec.template.spec.containers.map((c) => [c.name, c.image])).toEqual([
      ['web', to],
      ['sidecar', sidecar.image],
    ]);
    const undone = structuredClone(after.spec) as unknown as {
      template: { spec: { containers: { name: string; image: string }[] } };
    };
    for (const c of undone.template.spec.containers) if (c.name === 'web') c.image = from;
    expect(undone).toEqual(before.spec);
    expect(after.metadata.annotations?.['holdfast.dev/previous-image']).toBe(from);
    expect(after.spec.template.metadata.annotations).toBeUndefined();
    const writers = after.metadata.managedFields?.filter((m) => JSON.stringify(m.fieldsV1).includes('"f:image"'));
    expect(writers?.map((w) => w.manager)).toContain('holdfast');
  });

  test('H-A15 a container that does not exist is refused, never added', async () => {
    const target = await workload('typo', { sidecars: [sidecar] });
    const result = await run(lab.activities, 'writeImage', input({ ...target, container: 'wbe' }));
    expect(result).toMatchObject({ kind: 'refused', reason: 'Missing' });
    expect((await lab.workload(target)).spec.template.spec.containers).toHaveLength(2);
  });

  test('an init container, a StatefulSet and a DaemonSet are written alike', async () => {
    const migrate = { name: 'migrate', image: from };
    const init = await workload('init', { initContainers: [migrate] });
    expect(await run(lab.activities, 'writeImage', input({ ...init, container: 'migrate' }))).toMatchObject({
      kind: 'written',
    });
    const written = (await lab.workload(init)).spec.template.spec;
    expect(written.initContainers?.map((c) => c.image)).toEqual([to]);
    expect(written.containers.map((c) => c.image)).toEqual([from]);

    const shape = { namespace: lab.namespace, image: from, container: 'web', sidecars: [sidecar] };
    await lab.create(spokeStatefulSet({ ...shape, name: 'set', replicas: 0 }));
    await lab.create(spokeDaemonSet({ ...shape, name: 'daemon', architecture: 'none' }));
    for (const kind of ['StatefulSet', 'DaemonSet'] as const) {
      const target = lab.target(kind === 'StatefulSet' ? 'set' : 'daemon', { kind, container: 'web' });
      expect(await run(lab.activities, 'writeImage', input(target))).toEqual({ kind: 'written', repeated: false });
      expect((await lab.workload(target)).spec.template.spec.containers.map((c) => c.image)).toEqual([
        to,
        sidecar.image,
      ]);
    }
  });
});

describe('a write may be asked for any number of times', () => {
  test('the same write twice is one image patch in the audit log', async () => {
    const target = await workload('twice');
    expect(await run(lab.activities, 'writeImage', input(target))).toEqual({ kind: 'written', repeated: false });
    expect(await run(lab.activities, 'writeImage', input(target))).toEqual({ kind: 'written', repeated: true });
    expect(await imagePatches('twice')).toBe(1);
  });

  test('marks alone restart nothing: the pod template stays as it is', async () => {
    const target = await workload('marks');
    const before = await lab.workload(target);
    const only = { release: 'fleet', target, image: from, marks: { passed: to } };
    expect(await run(lab.activities, 'writeMarks', only)).toEqual({ kind: 'written', repeated: false });
    // A real API server raises a Deployment's generation for an annotation, too: only the template tells.
    expect((await lab.workload(target)).spec).toEqual(before.spec);
  });
});

describe('an incumbent that is unsuspended between plan and write', () => {
  test('stops the write', async () => {
    const target = await workload('incumbent');
    const cronJob = {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { namespace: lab.namespace, name: 'nightly' },
      spec: {
        schedule: '0 3 * * *',
        suspend: true,
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'roll', image: from }] } } },
        },
      },
    };
    await lab.create(cronJob);
    const incumbents: Incumbent[] = [
      { cluster: 'default', apiVersion: 'batch/v1', kind: 'CronJob', namespace: lab.namespace, name: 'nightly' },
    ];
    const ref = { apiVersion: 'batch/v1', kind: 'CronJob', namespace: lab.namespace, name: 'nightly' };
    await lab.kubernetes.patch(ref, { spec: { suspend: false } }, { type: 'merge', fieldManager: 'test' });
    const result = await run(lab.activities, 'writeImage', input(target, { incumbents }));
    expect(result).toMatchObject({ kind: 'refused', reason: 'Incumbent' });
    expect(await imagePatches('incumbent')).toBe(0);
    await lab.kubernetes.patch(ref, { spec: { suspend: true } }, { type: 'merge', fieldManager: 'test' });
    expect(await run(lab.activities, 'writeImage', input(target, { incumbents }))).toMatchObject({ kind: 'written' });
  });
});
