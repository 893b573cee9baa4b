// What a large fleet costs: one evaluation with nothing to do at three sizes, the history of an idle release, and the
// memory of a worker that holds many releases. On fake nodes, with a real API server, registry and Temporal.
import { readFileSync } from 'node:fs';
import type { KubeObject } from '../src/activities/kubernetes/port.ts';
import { PLAN_WORKFLOW, RELEASE_QUEUE } from '../src/workflows/release/messages.ts';
import { releaseSpec, type ReleaseSpecInput } from '../src/domain/release/spec.ts';
import { markAudit, readAudit } from '../test/lab/access.ts';
import { pushSpokeImage } from '../test/lab/images.ts';
import { spokeDeployment } from '../test/lab/manifests.ts';
import { attachLab, startLab } from '../test/lab/lab.ts';
import { waitFor } from '../test/lab/wait.ts';
import { countingRegistry } from './counting-registry.ts';
import { openWorld, spread, statusWhere } from './world.ts';

const SIZES = [125, 250, 500];
const EVALUATIONS = 7;
const RELEASES = Number(process.env.HOLDFAST_BENCH_RELEASES ?? 200);
/** Polls that an idle release is watched for. */
const IDLE_POLLS = 60;

const running = process.env.HOLDFAST_LAB_DIR;
const lab =
  running === undefined
    ? await startLab({ parts: ['control-plane', 'kwok', 'registry', 'temporal'] })
    : await attachLab(running);
process.env.HOLDFAST_LAB_DIR = lab.env.dir;
const registry = await countingRegistry(lab.env.registry);
const world = await openWorld([], { registry: registry.host });
const { client, kubernetes, namespace } = world;
const suffix = Date.now().toString(36);
const nodes = await lab.addNodes({ count: 6, arch: 'amd64', prefix: `fleet-${suffix}` });
try {
  const pushed = await pushSpokeImage(lab.env.registry, {
    repository: `bench/fleet-${suffix}`,
    tag: '1.0.0',
    version: '1.0.0',
  });
  const image = `${registry.host}/bench/fleet-${suffix}`;
  const reference = `${image}:1.0.0@${pushed.digest}`;
  const names = Array.from({ length: Math.max(...SIZES) }, (_, i) => `app-${String(i).padStart(3, '0')}`);
  for (let i = 0; i < names.length; i += 20) {
    await Promise.all(
      names.slice(i, i + 20).map((name) => {
        const object = spokeDeployment({ namespace, name, image: reference, node: 'kwok', readinessProbe: false });
        return kubernetes.create(JSON.parse(JSON.stringify(object)) as KubeObject, { fieldManager: 'bench' });
      }),
    );
  }
  await waitFor(
    'the fleet to be available',
    async () => {
      const listed = await kubernetes.list<KubeObject & { status?: { availableReplicas?: number } }>({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        namespace,
      });
      return listed.kind === 'read' && listed.value.items.every((d) => d.status?.availableReplicas === 1);
    },
    300_000,
    1_000,
  );
  const spec = (targets: readonly string[], pollInterval: string): ReleaseSpecInput => ({
    mode: 'Enforce',
    image,
    track: { line: '^1\\.' },
    pollInterval,
    targets: targets.map((name) => ({ namespace, deployment: name, container: 'spoke', kind: 'plain' as const })),
  });

  const rows: Record<string, unknown>[] = [];
  for (const size of SIZES) {
    const parsed = releaseSpec.parse(spec(names.slice(0, size), '1m'));
    const took: number[] = [];
    let api = 0;
    let asked = 0;
    // The first one fills the cache of what digests hold, which never changes.
    for (let run = 0; run <= EVALUATIONS; run += 1) {
      const mark = await markAudit(lab);
      const before = registry.requests.length;
      const started = performance.now();
      await client.workflow.execute(PLAN_WORKFLOW, {
        workflowId: `bench/plan-${suffix}-${size}-${run}`,
        taskQueue: RELEASE_QUEUE,
        args: [{ name: `fleet-${suffix}`, spec: parsed }],
      });
      if (run > 0) took.push(performance.now() - started);
      asked = registry.requests.length - before;
      api = (await readAudit(lab, mark)).filter(byHoldfast).length;
    }
    const ms = spread(took);
    rows.push({
      targets: size,
      'ms median': Math.round(ms.median),
      'ms worst': Math.round(ms.worst),
      'API requests': api,
      'registry requests': asked,
    });
  }
  console.table(rows);

  const idle = await world.apply(`idle-${suffix}`, spec(names.slice(0, 1), '1s'));
  await statusWhere(idle, 'the idle release is current', (s) => s.targets[0]?.phase === 'Current');
  const asked = registry.requests.length;
  const events = async () => Number((await idle.describe()).historyLength);
  // It has settled into its wait once a further poll has added nothing.
  await waitFor('the first poll of the wait', () => registry.requests.length > asked + 1);
  const before = await events();
  await waitFor('the polls', () => registry.requests.length > asked + IDLE_POLLS, IDLE_POLLS * 5_000, 500);
  const added = (await events()) - before;
  console.log(
    `idle release: ${added} history events over ${IDLE_POLLS} polls; its wait of 6 h ends in 6 events, so ${added === 0 ? 24 : 'more than 24'} a day at any poll interval`,
  );

  const small = rss();
  for (let i = 0; i < RELEASES; i += 20) {
    await Promise.all(
      Array.from({ length: Math.min(20, RELEASES - i) }, (_, k) =>
        world.apply(`many-${suffix}-${i + k}`, spec([names[(i + k) % names.length] ?? ''], '1m')),
      ),
    );
  }
  const last = client.workflow.getHandle(`release/many-${suffix}-${RELEASES - 1}`);
  await statusWhere(last, 'the last of many releases is current', (s) => s.targets[0]?.phase === 'Current', 300_000);
  console.log(`worker: ${small} MiB with one release, ${rss()} MiB with ${RELEASES} more`);
  console.log(world.machine);
} finally {
  await world.close();
  await registry.close();
  await lab.removeNodes(nodes);
  if (running === undefined) await lab.stop();
}

function byHoldfast(event: { userAgent?: string; stage: string }): boolean {
  return event.userAgent?.startsWith('holdfast') === true && event.stage === 'ResponseComplete';
}

/** Resident memory of the worker, MiB. */
function rss(): number {
  const status = readFileSync(`/proc/${world.worker.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024);
}
