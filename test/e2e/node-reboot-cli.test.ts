import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockName } from '../../src/domain/node-reboot/by-hand.ts';
import { hostPods } from '../../src/domain/node-reboot/pod.ts';
import type { NodeRebootStatus } from '../../src/domain/node-reboot/status.ts';
import { serviceAccountKubeconfig, type RbacRule } from '../lab/access.ts';
import { pushBusyboxImage } from '../lab/busybox-image.ts';
import { kube } from '../lab/kube-api.ts';
import { startLab, type Lab } from '../lab/lab.ts';
import { observeNodes, type NodeObserver } from '../lab/node-observer.ts';
import { whyNoRebootNode } from '../lab/parts/node-precheck.ts';
import { rebootNodesAt, type RebootNodes } from '../lab/reboot-nodes.ts';
import { waitFor } from '../lab/wait.ts';
import { kustomized } from '../unit/shipped/manifests.ts';
import { runCli, stackTraceIn, type CliRun } from '../unit/cli/run-cli.ts';
import { startWorkload } from './budgeted-workload.ts';
import { startCli, type RunningCli } from './start-cli.ts';

const why = whyNoRebootNode(0);
const folder = mkdtempSync(join(tmpdir(), 'holdfast-reboot-cli-'));
const file = join(folder, 'node-reboot.yaml');
const object = 'nodereboot/control-plane';

describe.skipIf(why !== null)(`reboots by the command line${why === null ? '' : ` (${why})`}`, () => {
  let lab: Lab;
  let nodes: RebootNodes;
  let observer: NodeObserver;
  let worker: RunningCli;
  let image: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    lab = await startLab({ parts: ['temporal', 'registry', 'reboot-nodes'], log: () => {} });
    nodes = rebootNodesAt(lab.env.dir);
    const { namespace } = lockName;
    // Namespaces, lock and rights are those of deploy/, to the letter.
    const shipped = kustomized('deploy/node-reboot');
    const one = (kind: string, name: string, within?: string) =>
      shipped.find(
        ({ kind: of, metadata }) => of === kind && metadata.name === name && (metadata.namespace ?? within) === within,
      );
    for (const name of [namespace, hostPods.namespace]) {
      await kube(lab.env, 'POST', '/api/v1/namespaces', { body: one('Namespace', name) });
    }
    await kube(lab.env, 'POST', `/api/v1/namespaces/${namespace}/configmaps`, {
      body: one('ConfigMap', lockName.name, namespace),
    });
    observer = await observeNodes(lab.env);
    const rulesOf = (kind: string, within?: string) =>
      (one(kind, 'holdfast-node-reboot', within) as unknown as { rules: RbacRule[] }).rules;
    const kubeconfig = await serviceAccountKubeconfig(lab, {
      namespace,
      name: 'holdfast-node-reboot',
      rules: rulesOf('Role', namespace),
      clusterRules: rulesOf('ClusterRole'),
      elsewhere: { [hostPods.namespace]: rulesOf('Role', hostPods.namespace) },
    });
    const config = join(folder, 'worker.yaml');
    const { registry, temporalAddress } = lab.env;
    image = await pushBusyboxImage(registry);
    writeFileSync(
      config,
      JSON.stringify({
        clusters: { default: { kubeconfig } },
        nodeReboot: { hostImage: image },
        listen: '127.0.0.1:0',
      }),
    );
    env = { TEMPORAL_ADDRESS: temporalAddress, HOLDFAST_USER: 'ada' };
    worker = startCli(['worker', '--capabilities', 'node-reboot', '--config', config, '--log-level', 'error'], env);
    await worker.says(/Worker polls/);
  });

  afterAll(async () => {
    worker.signal('SIGTERM');
    await worker.exited;
    try {
      await observer.close();
    } finally {
      await lab.stop();
    }
    rmSync(folder, { recursive: true });
  });

  function write(mode: string): void {
    const spec = {
      mode,
      nodes: [...nodes.names],
      interval: '10s',
      readyHold: '2s',
      releaseDelay: '2s',
      gates: { dns: false, host: false },
    };
    const document = {
      apiVersion: 'holdfast.dev/v1alpha1',
      kind: 'NodeReboot',
      metadata: { name: 'control-plane' },
      spec,
    };
    writeFileSync(file, JSON.stringify(document));
  }

  async function holdfast(...args: string[]): Promise<CliRun> {
    const done = await runCli(args, { env });
    expect(stackTraceIn(done)).toEqual([]);
    return done;
  }

  async function until(what: string, holds: (status: NodeRebootStatus) => boolean): Promise<NodeRebootStatus> {
    return waitFor(
      what,
      async () => {
        const { stdout, stderr, code } = await holdfast('status', object, '-o', 'json');
        if (code !== 0) throw new Error(stderr);
        const status = JSON.parse(stdout) as NodeRebootStatus;
        if (!holds(status)) throw new Error(JSON.stringify(status.waiting));
        return status;
      },
      150_000,
    );
  }

  test('a node is planned, refused in Shadow, approved, rebooted, and told of; the next one says why it waits', async () => {
    const [one, two] = ['reboot-1', 'reboot-2'] as const;
    write('Shadow');
    expect(await holdfast('plan', '-f', file)).toMatchObject({ code: 0 });
    for (const name of [one, two]) nodes.setSentinel(name, ['libc6']);
    const plan = await holdfast('plan', '-f', file);
    expect(plan).toMatchObject({ code: 6 });
    expect(plan.stdout).toContain('2 of 3 nodes want a reboot');
    expect(plan.stdout).toMatch(
      /2\. reboot-2: .*\n +earliest \S+; waits for mode Enforce, which is Shadow now, an approval/,
    );

    const shadow = await holdfast('run', '-f', file, '--wait');
    expect(shadow).toMatchObject({ code: 0 });
    expect(shadow.stdout).toContain('mode Shadow writes nothing');
    write('Enforce');
    const waiting = await holdfast('run', '-f', file, '--wait');
    expect(waiting.code).toBe(4);
    const { stdout } = await holdfast('status', object);
    expect(stdout).toMatch(/reboot-2 +wanted .*node reboot-1 goes first \(AwaitingApproval\)/);

    // The account may evict through the budget, and nothing more.
    const workload = await startWorkload(lab.env, image, 'shop', { replicas: 2, startsOn: one });
    const next = / {2}next: +(holdfast approve .*)/.exec(stdout)?.[1] ?? '';
    expect(next).toContain(`--node ${one} --plan sha256:`);
    const before = nodes.bootId(one);
    const wrong = await holdfast('approve', object, '--node', two, '--plan', '00000000');
    expect(wrong).toMatchObject({ code: 2 });
    expect(await holdfast(...next.split(' ').slice(1))).toMatchObject({ code: 0 });
    await until(`${one} is done`, (s) => s.turn === null && s.nodes.some((n) => n.node === one && n.reboot === 'done'));
    expect(nodes.bootId(one)).not.toBe(before);
    expect((await workload.pods()).map(({ node }) => node)).not.toContain(one);
    await workload.remove();

    const history = await holdfast('history', object);
    expect(history.stdout).toContain(nodes.bootId(one));
    expect(history.stdout).toMatch(/ada +decided +approves the reboot of node reboot-1/);
    expect((await holdfast('get', 'nodereboots')).stdout).toContain('nodereboot/control-plane');

    expect(await holdfast('force', object, '--gate', 'nodes', '--node', two, '--reason', 'x')).toMatchObject({
      code: 2,
    });
    expect(await holdfast('release-lock', object, '--node', two)).toMatchObject({ code: 2 });
    expect(await holdfast('cancel', object, '--reason', 'enough')).toMatchObject({ code: 0 });
    await waitFor('it has ended', async () => (await holdfast('get', 'nodereboots')).stderr.includes('nothing yet'));
    expect(nodes.events(two).filter(({ event }) => event === 'asked')).toEqual([]);
  });
});
