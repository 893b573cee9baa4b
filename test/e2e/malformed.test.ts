import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { historyQuery, rolloutId } from '../../src/workflows/release/messages.ts';
import { attachLab } from '../lab/lab.ts';
import { spokeDeployment } from '../lab/manifests.ts';
import { waitFor } from '../lab/wait.ts';
import { allCurrent, startRig, type Rig } from './rig.ts';

const lab = inject('lab');
let rig: Rig;
let nodes: string[] = [];

beforeAll(async () => {
  nodes = await (await attachLab(lab.dir)).addNodes({ count: 1, arch: 'amd64', prefix: 'malformed' });
  rig = await startRig(lab, 'malformed');
});

afterAll(async () => {
  await rig.close();
  await (await attachLab(lab.dir)).removeNodes(nodes);
});

test('signals that nobody can read are dropped and told in the history, and release and rollout go on', async () => {
  const one = await rig.image('odd', '1.0.0');
  await rig.deploy(
    spokeDeployment({
      namespace: rig.namespace,
      name: 'odd-a',
      image: one.reference,
      node: 'kwok',
      readinessProbe: false,
    }),
  );
  const release = await rig.apply('odd', {
    mode: 'Enforce',
    image: rig.repository('odd'),
    track: { line: '^\\d' },
    pollInterval: '1s',
    soak: '2s',
    soakProbeInterval: '300ms',
    approval: 'beforeEach',
    targets: [{ namespace: rig.namespace, deployment: 'odd-a', container: 'spoke', kind: 'plain' }],
  });
  await release.until('current', allCurrent('1.0.0'));
  await rig.image('odd', '1.1.0');
  const asked = await release.until('an approval is asked for', (s) => s.targets[0]?.step === 'Approval');
  const rollout = rig.worker().client.workflow.getHandle(rolloutId(release.name));
  for (const sent of [[null], [], [{ kind: 'target', rollout: asked.rollout?.id, target: {} }]] as const) {
    await release.handle.signal('rolloutReport', ...sent);
    await rollout.signal('control', ...sent);
  }
  await waitFor('the refusals are in the history', async () => {
    const { evidence } = await release.handle.query(historyQuery);
    const refused = evidence.filter((e) => e.outcome === 'refused').map((e) => e.message);
    const ofRollout = refused.filter((m) => m.includes('control: '));
    return refused.length === 6 && ofRollout.length === 3 ? refused : null;
  });
  await release.act('approve', { plan: asked.planHash });
  const after = await release.until('current on 1.1.0', allCurrent('1.1.0'));
  expect(after.rollout).toBeNull();
  await release.end();
});
