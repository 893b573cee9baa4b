import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { attachLab } from '../lab/lab.ts';
import { tagImage } from '../lab/images.ts';
import { spokeDeployment } from '../lab/manifests.ts';
import { runCli } from '../unit/cli/run-cli.ts';
import { startRig, type Rig } from './rig.ts';

const lab = inject('lab');
let rig: Rig;
let nodes: string[] = [];

beforeAll(async () => {
  nodes = await (await attachLab(lab.dir)).addNodes({ count: 1, arch: 'amd64', prefix: 'long' });
  rig = await startRig(lab, 'long');
});

afterAll(async () => {
  await rig.close();
  await (await attachLab(lab.dir)).removeNodes(nodes);
});

/** As long as Kubernetes allows. */
function long(text: string): string {
  return text.padEnd(253, 'n');
}

test('names and tags as long as they may be: rolled like any other, and Temporal keeps the release', async () => {
  const tag = 't'.repeat(128);
  const repository = rig.repository('long');
  const one = await rig.image('long', '1.0.0');
  await tagImage(lab.registry, repository.slice(lab.registry.length + 1), one.digest, tag);
  await rig.deploy(
    spokeDeployment({
      namespace: rig.namespace,
      name: 'long-a',
      image: one.reference,
      node: 'kwok',
      readinessProbe: false,
    }),
  );
  const common = { namespace: rig.namespace, container: 'spoke', kind: 'plain' as const, allowMajorChange: true };
  const spec = {
    mode: 'Enforce' as const,
    image: repository,
    track: { tag },
    pollInterval: '1s',
    soak: '1s',
    soakProbeInterval: '300ms',
    targets: [{ ...common, name: long('a'), deployment: 'long-a' }],
  };
  const release = await rig.apply('long', spec);
  await release.until('current', (s) => s.phase === 'Current');
  const two = await rig.image('long', '1.1.0');
  await tagImage(lab.registry, repository.slice(lab.registry.length + 1), two.digest, tag);
  await release.until('current on the second image', (s) => {
    return s.phase === 'Current' && s.targets[0]?.current?.endsWith(two.digest) === true;
  });
  const more = Array.from({ length: 60 }, (_, i) => ({ ...common, name: long(`x${i}-`), deployment: `x${i}` }));
  await release.act('applySpec', { spec: { ...spec, targets: [...spec.targets, ...more] } });
  await release.until('all 61 seen', (s) => s.targets.length === 61);
  expect((await release.handle.describe()).status.name).toBe('RUNNING');

  const env = { TEMPORAL_ADDRESS: lab.temporalAddress };
  expect((await runCli(['status', `release/${release.name}`], { env })).code).toBe(0);
  await release.terminate();
  const ended = await runCli(['status', `release/${release.name}`], { env });
  expect(ended.stderr).toContain('has ended (terminated');
  expect(ended.code).toBe(3);
  await release.end();
});
