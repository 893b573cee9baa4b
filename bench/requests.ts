// What one release costs the API server: writes of one good release of one target, and requests a minute when idle.
import type { KubeObject } from '../src/activities/kubernetes/port.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { markAudit, readAudit } from '../test/lab/access.ts';
import { pushSpokeImage } from '../test/lab/images.ts';
import { attachLab, startLab } from '../test/lab/lab.ts';
import { spokeDeployment } from '../test/lab/manifests.ts';
import { countingRegistry } from './counting-registry.ts';
import { openWorld, statusWhere } from './world.ts';

/** How long the idle release is watched. */
const IDLE_MINUTES = 3;

const running = process.env.HOLDFAST_LAB_DIR;
const lab =
  running === undefined
    ? await startLab({ parts: ['control-plane', 'kwok', 'registry', 'temporal'] })
    : await attachLab(running);
process.env.HOLDFAST_LAB_DIR = lab.env.dir;
const registry = await countingRegistry(lab.env.registry);
const world = await openWorld([], { registry: registry.host });
const suffix = Date.now().toString(36);
const nodes = await lab.addNodes({ count: 1, arch: 'amd64', prefix: `requests-${suffix}` });
try {
  const repository = `bench/requests-${suffix}`;
  const image = `${registry.host}/${repository}`;
  const one = await pushSpokeImage(lab.env.registry, { repository, tag: '1.0.0', version: '1.0.0' });
  const object = spokeDeployment({
    namespace: world.namespace,
    name: 'app',
    image: `${image}:1.0.0@${one.digest}`,
    node: 'kwok',
    readinessProbe: false,
  });
  await world.kubernetes.create(JSON.parse(JSON.stringify(object)) as KubeObject, { fieldManager: 'bench' });
  await pushSpokeImage(lab.env.registry, { repository, tag: '1.0.1', version: '1.0.1' });
  const since = await markAudit(lab);
  const handle = await world.apply(`requests-${suffix}`, {
    mode: 'Enforce',
    image,
    track: { line: '^1\\.' },
    soak: '3s',
    soakProbeInterval: '1s',
    targets: [{ namespace: world.namespace, deployment: 'app', container: 'spoke', kind: 'plain' }],
  });
  await statusWhere(
    handle,
    '1.0.1 is current',
    (s) => s.rollout === null && s.targets[0]?.phase === 'Current' && s.rollouts === 1,
  );
  const release = (await readAudit(lab, since)).filter(
    (e) => e.userAgent?.startsWith('holdfast') && e.stage === 'ResponseComplete',
  );
  const writes = release.filter((e) => !['get', 'list', 'watch'].includes(e.verb));
  const ofEvents = writes.filter((e) => e.objectRef?.resource === 'events');
  console.log(
    `one good release of one target: ${writes.length - ofEvents.length} writes, events aside (${ofEvents.length})`,
  );

  const mark = await markAudit(lab);
  const asked = registry.requests.length;
  await sleep(IDLE_MINUTES * 60_000);
  const idle = (await readAudit(lab, mark)).filter(
    (e) => e.userAgent?.startsWith('holdfast') && e.stage === 'ResponseComplete',
  );
  const each = (n: number) => (n / IDLE_MINUTES).toFixed(1);
  console.log(
    `idle with one target at a poll a minute: ${each(idle.length)} API requests a minute, watches included, and ${each(registry.requests.length - asked)} registry requests`,
  );
  console.log(world.machine);
} finally {
  await world.close();
  await registry.close();
  await lab.removeNodes(nodes);
  if (running === undefined) await lab.stop();
}
