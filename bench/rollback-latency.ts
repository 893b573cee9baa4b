// How long a bad image lives: from the pod status that decides it (and from the first failing one) to the rollback
// patch, as an observer beside Holdfast sees both on the API's watch. On a real node, with real images.
import { deleteManifest, pushSpokeImage } from '../test/lab/images.ts';
import { spokeDeployment } from '../test/lab/manifests.ts';
import { waitFor } from '../test/lab/wait.ts';
import type { KubeObject } from '../src/activities/kubernetes/port.ts';
import { observe } from './observer.ts';
import { openWorld, spread, statusWhere } from './world.ts';

const RUNS = Number(process.env.HOLDFAST_BENCH_RUNS ?? 30);
const ROLLOUT_TIMEOUT_MS = 8_000;

interface Fault {
  readonly name: string;
  readonly fault?: string;
  /** The manifest is taken from the registry as soon as the Deployment names it. */
  readonly absent?: true;
  /** Words of the pod's status of which the first decides; none where the deadline does. */
  readonly decides: readonly string[];
}

const faults: readonly Fault[] = [
  { name: 'crash at start', fault: 'crash-start', decides: ['CrashLoopBackOff'] },
  { name: 'crash after 5 s', fault: 'crash-after=5s', decides: ['terminated', 'restarted'] },
  { name: 'absent image', absent: true, decides: ['ErrImagePull', 'ImagePullBackOff'] },
  { name: 'never ready', fault: 'never-ready', decides: [] },
];

const only = process.argv.slice(2);
const world = await openWorld(['control-plane', 'node', 'registry', 'temporal']);
const { lab, kubernetes, namespace } = world;
const suffix = Date.now().toString(36);
const rows: Record<string, unknown>[] = [];
try {
  for (const fault of faults.filter((f) => only.length === 0 || only.includes(f.name))) rows.push(await measure(fault));
} finally {
  await world.close();
}
console.table(rows);
console.log(`${world.machine}; milliseconds; ${RUNS} runs each`);
if (rows.some((row) => row.promoted !== 0)) process.exitCode = 1;

async function measure({ name, fault, absent, decides }: Fault): Promise<Record<string, unknown>> {
  const slug = name.replaceAll(' ', '-');
  const repository = `bench/${slug}-${suffix}`;
  const good = await pushSpokeImage(lab.env.registry, { repository, tag: '1.0.0', version: '1.0.0' });
  let doomed = '';
  const sightings = observe(kubernetes, namespace, (deployment, image) => {
    if (absent === true && deployment === slug && image.endsWith(doomed) && doomed !== '') {
      void deleteManifest(lab.env.registry, repository, doomed);
    }
  });
  const wanted = spokeDeployment({ namespace, name: slug, image: good.reference, node: 'real' });
  await kubernetes.create(JSON.parse(JSON.stringify(wanted)) as KubeObject, { fieldManager: 'bench' });
  const handle = await world.apply(`${slug}-${suffix}`, {
    mode: 'Enforce',
    image: good.repository,
    track: { line: '^1\\.' },
    pollInterval: '1s',
    soak: '60s',
    soakProbeInterval: '1s',
    rolloutTimeout: fault === 'never-ready' ? `${ROLLOUT_TIMEOUT_MS}ms` : '60s',
    targets: [{ namespace, deployment: slug, container: 'spoke', agents: 'none' }],
  });
  await statusWhere(handle, 'the good image is current', (s) => s.targets[0]?.phase === 'Current');
  const fromDeciding: number[] = [];
  const fromFailing: number[] = [];
  let promoted = 0;
  for (let run = 1; run <= RUNS; run += 1) {
    const version = `1.0.${run}`;
    const bad = await pushSpokeImage(lab.env.registry, {
      repository,
      tag: version,
      version,
      ...(fault === undefined ? {} : { fault }),
    });
    if (absent === true) doomed = bad.digest;
    const patched = await waitFor(
      `${version} to be patched`,
      () => sightings.images.get(`${slug} ${bad.reference}`),
      120_000,
      5,
    );
    const back = await waitFor(
      `the way back from ${version}`,
      () => {
        const at = sightings.images.get(`${slug} ${good.reference}`);
        return at !== undefined && at > patched ? at : null;
      },
      150_000,
      5,
    );
    const deciding = decides.length === 0 ? patched + ROLLOUT_TIMEOUT_MS : sightings.first(bad.reference, decides);
    const failing = decides.length === 0 ? deciding : sightings.failing.get(bad.reference);
    if (deciding !== undefined) fromDeciding.push(back - deciding);
    if (failing !== undefined) fromFailing.push(back - failing);
    // By its image: where its tag is gone as well, the image from before is wanted again, and proven in a rollout of its own.
    const of = ({ targets }: { readonly targets: readonly { readonly to: string }[] }) =>
      targets.some((target) => target.to === bad.reference);
    const status = await statusWhere(
      handle,
      `${version} rolled back`,
      (s) => s.rollout === null && s.lastRollouts.some(of),
    );
    const ended = status.lastRollouts.find(of);
    if (ended?.outcome === 'Promoted') promoted += 1;
    if (ended?.outcome !== 'RolledBack') {
      console.error(`${name} ${version} ended as ${ended?.outcome}: ${ended?.message}`);
    }
    process.stderr.write(`${name} ${run}/${RUNS}: ${Math.round(fromDeciding.at(-1) ?? Number.NaN)} ms\n`);
  }
  sightings.stop();
  const deciding = spread(fromDeciding);
  const failing = spread(fromFailing);
  return {
    fault: name,
    runs: deciding.n,
    'deciding median': Math.round(deciding.median),
    'deciding worst': Math.round(deciding.worst),
    'failing median': Math.round(failing.median),
    'failing worst': Math.round(failing.worst),
    promoted,
  };
}
