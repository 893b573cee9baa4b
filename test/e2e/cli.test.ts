import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { createKubernetes } from '../../src/activities/kubernetes/create.ts';
import type { KubernetesClient, KubeObject } from '../../src/activities/kubernetes/port.ts';
import type { ReleaseStatus } from '../../src/domain/release/status.ts';
import { findTemporalCli } from '../../src/starters/dev/find-temporal-cli.ts';
import { createNamespace, deleteNamespace, markAudit, readAudit, serviceAccountKubeconfig } from '../lab/access.ts';
import { pushSpokeImage, type PushedImage } from '../lab/images.ts';
import { attachLab } from '../lab/lab.ts';
import { spokeDeployment } from '../lab/manifests.ts';
import { waitFor } from '../lab/wait.ts';
import { runCli, stackTraceIn, type CliRun } from '../unit/cli/run-cli.ts';
import { startCli, type RunningCli } from './start-cli.ts';

const lab = inject('lab');
/** Release names are unique to this run, so that a lab can serve many. */
const run = Date.now().toString(36);
/** What the targets' health answers, by target name. */
const answers = new Map<string, number>();
let folder: string;
let namespace: string;
let nodes: string[] = [];
let kubernetes: KubernetesClient;
let health: Server;
let worker: RunningCli;
let workerConfig: string;
let env: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-'));
  nodes = await (await attachLab(lab.dir)).addNodes({ count: 1, arch: 'amd64', prefix: 'cli' });
  namespace = await createNamespace(lab, 'cli');
  kubernetes = await createKubernetes({ name: 'test', kubeconfig: lab.kubeconfig });
  health = createServer((request, response) => {
    response.writeHead(answers.get((request.url ?? '').slice(1)) ?? 200).end();
  });
  await new Promise<void>((resolve) => health.listen(0, '127.0.0.1', resolve));
  workerConfig = join(folder, 'worker.yaml');
  const registries = { [lab.registry]: { plainHttp: true } };
  writeFileSync(workerConfig, JSON.stringify({ clusters: { default: { kubeconfig: lab.kubeconfig } }, registries }));
  env = { TEMPORAL_ADDRESS: lab.temporalAddress, HOLDFAST_USER: 'ada', KUBECONFIG: lab.kubeconfig };
  worker = await startWorker();
});

afterAll(async () => {
  worker.signal('SIGTERM');
  await worker.exited;
  health.close();
  await kubernetes.close();
  await deleteNamespace(lab, namespace);
  await (await attachLab(lab.dir)).removeNodes(nodes);
  rmSync(folder, { recursive: true });
});

async function startWorker(): Promise<RunningCli> {
  const started = startCli(
    ['worker', '--config', workerConfig, '--listen', '127.0.0.1:0', '--log-level', 'error'],
    env,
  );
  await started.says(/Worker polls/);
  return started;
}

async function holdfast(...args: string[]): Promise<CliRun> {
  const done = await runCli(args, { env });
  expect(stackTraceIn(done)).toEqual([]);
  return done;
}

async function statusOf(name: string): Promise<ReleaseStatus> {
  const { code, stdout, stderr } = await holdfast('status', `release/${name}`, '-o', 'json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as ReleaseStatus;
}

async function image(repository: string, version: string): Promise<PushedImage> {
  const revision = version.padStart(40, '0').replaceAll('.', 'a');
  return pushSpokeImage(lab.registry, { repository, tag: version, version, revision });
}

async function deploy(name: string, reference: string): Promise<void> {
  const wanted = spokeDeployment({ namespace, name, image: reference, node: 'kwok', readinessProbe: false });
  await kubernetes.create(JSON.parse(JSON.stringify(wanted)) as KubeObject, { fieldManager: 'test' });
  await waitFor(`deployment ${name} to be available`, async () => {
    const ref = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name };
    const seen = await kubernetes.get<KubeObject & { status?: { availableReplicas?: number } }>(ref);
    return seen.kind === 'read' && seen.value.status?.availableReplicas === 1;
  });
}

/** A release of two targets on a line of its own, and its file. */
async function release(what: string, more: Record<string, unknown> = {}) {
  const name = `${what}-${run}`;
  const first = await image(name, '1.0.0');
  const targets = [`${what}-a`, `${what}-b`];
  for (const target of targets) await deploy(target, first.reference);
  const { port } = health.address() as AddressInfo;
  const spec = {
    mode: 'Enforce',
    image: `${lab.registry}/${name}`,
    track: { line: '^1' },
    pollInterval: '1s',
    soak: '1s',
    soakProbeInterval: '200ms',
    targets: targets.map((target) => ({
      namespace,
      deployment: target,
      container: 'spoke',
      kind: 'hub',
      healthURL: `http://127.0.0.1:${port}/${target}`,
    })),
    ...more,
  };
  const file = join(folder, `${name}.yaml`);
  const write = (changed: Record<string, unknown> = {}): void => {
    const document = {
      apiVersion: 'holdfast.dev/v1alpha1',
      kind: 'Release',
      metadata: { name },
      spec: { ...spec, ...changed },
    };
    writeFileSync(file, JSON.stringify(document));
  };
  write();
  onTestFinished(async () => {
    await runCli(['abort', `release/${name}`, '--stop', '--now'], { env });
    await runCli(['release-ownership', `release/${name}`], { env });
  });
  return { name, object: `release/${name}`, file, write, first, targets };
}

describe('the worker from the command line', () => {
  test('says where it polls and answers on its health endpoints', async () => {
    const where = await worker.says(/http:\/\/[\d.:]+(?=\/readyz)/);
    expect((await fetch(`${where}/readyz`)).status).toBe(200);
    expect(worker.output()).toContain(lab.temporalAddress);
  });
});

describe('plan and apply', () => {
  test('plan shows a diff, ends with 6 and writes nothing; apply twice is apply once', async () => {
    const { object, file, write, name, first } = await release('plan', { mode: 'Shadow' });
    const none = await holdfast('plan', '-f', file);
    expect(none).toMatchObject({ code: 0, stderr: '' });
    expect(none.stdout).toContain(`${object}: nothing to do`);

    const next = await image(name, '1.1.0');
    const since = await markAudit(lab);
    const plan = await holdfast('plan', '-f', file);
    expect(plan).toMatchObject({ code: 6, stderr: '' });
    expect(plan.stdout).toContain(`     - ${first.reference}\n     + ${next.reference}  1.1.0\n`);
    const data = await holdfast('plan', '-f', file, '-o', 'json');
    expect(data.code).toBe(6);
    expect(JSON.parse(data.stdout)).toMatchObject({
      kind: 'Release',
      name,
      mode: 'Shadow',
      effectiveMode: 'Shadow',
      plan: { items: [{ target: 'plan-a', action: 'roll', to: next.reference }, { target: 'plan-b' }] },
    });
    expect((await holdfast('apply', '-f', file)).stdout).toBe(`${object} created\n`);
    expect((await holdfast('apply', '-f', file)).stdout).toBe(`${object} unchanged\n`);
    write({ soak: '5s' });
    expect((await holdfast('apply', '-f', file)).stdout).toBe(`${object} configured: applies a new spec: soak\n`);

    const shadow = await holdfast('run', '-f', file, '--wait');
    expect(shadow.code).toBe(0);
    expect(shadow.stdout).toContain('Shadow wrote nothing; Enforce would roll plan-a, plan-b');
    const writes = (await readAudit(lab, since)).filter(
      (e) => e.userAgent?.includes('holdfast') === true && !['get', 'list', 'watch'].includes(e.verb),
    );
    expect(writes).toEqual([]);
  });

  test('a registry that does not answer is no "nothing to do": plan and run are undetermined', async () => {
    const { file, write } = await release('dark', { image: '127.0.0.1:1/dark' });
    write();
    const plan = await holdfast('plan', '-f', file, '-o', 'json');
    expect(plan.code).toBe(3);
    expect(JSON.parse(plan.stdout)).toMatchObject({ registryReachable: false, plan: { items: [] } });
    const pass = await holdfast('run', '-f', file, '--wait');
    expect(pass.code).toBe(3);
    expect(pass.stdout).toContain('127.0.0.1:1');
  });
});

describe('run --wait', () => {
  /** A poll must not begin the rollout before the command that is to see it begin. */
  const looksWhenAsked = { pollInterval: '1m' };

  test('follows a release through its approval to the end, with a line per change', async () => {
    const { name, object, file, targets } = await release('steps', { approval: 'afterCanary', ...looksWhenAsked });
    expect((await holdfast('run', '-f', file, '--wait')).code).toBe(0);
    const next = await image(name, '1.1.0');
    const asked = await holdfast('run', '-f', file, '--wait');
    expect(asked.code).toBe(4);
    expect(asked.stdout).toContain('waits for an approval of 1.1.0 on steps-b');
    expect(asked.stderr).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ rollout .+ begins, plan sha256:/m);
    expect(asked.stderr).toContain('steps-b: Pending/Approval (AwaitingApproval)');

    const { rollout, waiting } = await statusOf(name);
    expect(waiting?.who).toBe('person');
    const view = await holdfast('status', object);
    expect(view.stdout).toContain(`Phase:       AwaitingApproval`);
    expect(view.stdout).toContain(rollout?.planHash ?? 'no rollout');

    const stale = await holdfast('approve', object, '--plan', `sha256:${'0'.repeat(64)}`);
    expect(stale).toMatchObject({ code: 2, stdout: '' });
    expect(stale.stderr).toContain('holdfast: refused: plan sha256:0000');
    const approved = await holdfast('approve', object, '--plan', rollout?.planHash ?? '', '--reason', 'looked at it');
    expect(approved).toMatchObject({ code: 0, stderr: '' });
    expect(approved.stdout).toContain(`${object}: ada approves 1.1.0 on steps-b`);

    const done = await holdfast('run', '-f', file, '--wait');
    expect(done.code).toBe(0);
    expect(done.stdout).toContain('every target runs what is wanted');
    expect((await statusOf(name)).targets.map((t) => t.current)).toEqual(targets.map(() => next.reference));

    const history = await holdfast('history', object, '-o', 'json');
    expect(JSON.parse(history.stdout)).toMatchObject({ items: [{ outcome: 'Promoted' }], rollbacks: 0 });
    expect((await holdfast('history', object)).stdout).toMatch(/Promoted +2 of 2 targets promoted/);
    const listed = await holdfast('get', 'releases');
    expect(listed.stdout).toMatch(new RegExp(`^${object} +Current +Enforce +2/2 +1\\.1\\.0`, 'm'));
    expect((await holdfast('plan', '-f', file)).code).toBe(0);
  });

  test('a canary that fails its soak ends with 5 and the reason; block, pin and unblock are decisions with a name', async () => {
    const { name, object, file, first, write } = await release('back', { soak: '60s', ...looksWhenAsked });
    expect((await holdfast('run', '-f', file, '--wait')).code).toBe(0);
    const bad = await image(name, '1.1.0');
    const following = startCli(['run', '-f', file, '--wait'], env);
    await following.says(/back-a: RollingOut\/Soaking/);
    answers.set('back-a', 500);
    await following.says(/back-a: RollingOut\/(RollingBack|Recovering)/);
    answers.delete('back-a');
    expect(await following.exited).toBe(5);
    expect(following.output()).toContain(
      `${object}: back-a is RolledBack: rolled back from 1.1.0 to ${first.reference}`,
    );
    expect(following.output()).toContain('answered 500');

    const again = await holdfast('run', '-f', file, '--wait');
    expect(again.code).toBe(5);
    expect((await statusOf(name)).blocked.map((entry) => entry.image)).toEqual([bad.digest]);
    const unblocked = await holdfast('unblock', object, bad.digest, '--as', 'ben', '--reason', 'it was the network');
    expect(unblocked.stdout).toContain(`${object}: ben unblocks ${bad.digest}`);
    write({ soak: '1s' });
    await holdfast('apply', '-f', file);
    expect((await holdfast('retry', object)).code).toBe(0);
    await waitFor('1.1.0 everywhere', async () =>
      (await statusOf(name)).targets.every((t) => t.current === bad.reference),
    );
    const pinned = await holdfast('pin', object, '1.0.0', '--reason', 'back on purpose');
    expect(pinned.stdout).toContain('ada pins 1.0.0');
    const back = await holdfast('run', '-f', file, '--wait');
    expect(back.code).toBe(0);
    expect((await statusOf(name)).pinned).toMatchObject({ by: 'ada', reason: 'back on purpose', image: '1.0.0' });
    expect((await statusOf(name)).targets.map((t) => t.current)).toEqual([first.reference, first.reference]);
  });

  test('Ctrl-C leaves the release going on, says how to follow it and ends with 130', async () => {
    const { name, object, file } = await release('leave', { soak: '60s' });
    expect((await holdfast('run', '-f', file, '--wait')).code).toBe(0);
    await image(name, '1.1.0');
    const following = startCli(['run', '-f', file, '--wait'], env);
    await following.says(/leave-a: RollingOut\/Soaking/);
    const watching = startCli(['status', object, '--watch'], env);
    await watching.says(/leave-a +RollingOut\/Soaking/);
    following.signal('SIGINT');
    expect(await following.exited).toBe(130);
    expect(following.output()).toContain(`${object} goes on. Follow it: holdfast status ${object} --watch`);
    expect((await statusOf(name)).rollout).not.toBeNull();

    const aborted = await holdfast('abort', object, '--roll-back', '--reason', 'test');
    expect(aborted.stdout).toContain('ada aborts rollout');
    await watching.says(/Z leave-a: RolledBack \(Aborted\)/);
    watching.signal('SIGINT');
    expect(await watching.exited).toBe(130);
  });

  test('pause, resume, set-mode and release-ownership', async () => {
    const { name, object, file } = await release('hands', {});
    expect((await holdfast('run', '-f', file, '--wait')).code).toBe(0);
    expect((await holdfast('pause', object, '--reason', 'incident 42')).code).toBe(0);
    await image(name, '1.1.0');
    const paused = await holdfast('run', '-f', file, '--wait');
    expect(paused.code).toBe(4);
    expect(paused.stdout).toContain('paused by ada');
    expect((await holdfast('set-mode', object, 'shadow')).code).toBe(0);
    expect((await holdfast('resume', object)).code).toBe(0);
    expect(await statusOf(name)).toMatchObject({ mode: 'Shadow', paused: null });
    expect((await holdfast('release-ownership', object)).code).toBe(0);
    await waitFor('the release to be gone', async () => !(await holdfast('get')).stdout.includes(object));
    const after = await holdfast('status', object);
    expect(after.code).toBe(0);
    expect(after.stderr).toContain(`${object} has ended (completed`);
    expect((await holdfast('pause', object)).code).toBe(2);
  });
});

describe('doctor', () => {
  test('everything is right for the administrator', async () => {
    const { file } = await release('doctor', {});
    const done = await holdfast('doctor', '-f', file, '--config', workerConfig, '--mode', 'Enforce');
    expect(done.stdout).not.toMatch(/^(WRONG|\?)/m);
    expect(done.code).toBe(0);
    for (const line of ['Temporal', 'search attributes', 'workers', 'clock', 'cluster default: writes', 'registry']) {
      expect(done.stdout).toMatch(new RegExp(`^ok +${line} `, 'm'));
    }
  });

  test('a right that is missing is named with its fix, and is wrong only where the mode needs it', async () => {
    const { file } = await release('rights', { mode: 'Shadow' });
    const reads = { resources: ['deployments', 'replicasets'], apiGroups: ['apps'], verbs: ['get', 'list', 'watch'] };
    const kubeconfig = await serviceAccountKubeconfig(lab, {
      namespace,
      name: 'reader',
      rules: [reads, { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }],
      clusterRules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list'] }],
    });
    const config = join(folder, 'reader.yaml');
    const registries = { [lab.registry]: { plainHttp: true } };
    writeFileSync(config, JSON.stringify({ clusters: { default: { kubeconfig } }, registries }));
    const shadow = await holdfast('doctor', '-f', file, '--config', config);
    expect(shadow.code).toBe(0);
    expect(shadow.stdout).toContain('Shadow writes nothing; Enforce would also need: patch deployments.apps in');
    const enforce = await holdfast('doctor', '-f', file, '--config', config, '--mode', 'Enforce');
    expect(enforce.code).toBe(1);
    expect(enforce.stdout).toMatch(/^WRONG +cluster default: writes +this identity may not: patch deployments\.apps/m);
    expect(enforce.stdout).toContain('fix: kubectl apply -k deploy/release/enforce');
  });
});

describe('a worker that is gone', () => {
  test('a decision that nobody took is undetermined and says what to do; it is not lost in silence', async () => {
    const { object, file } = await release('gone', {});
    expect((await holdfast('run', '-f', file, '--wait')).code).toBe(0);
    worker.signal('SIGKILL');
    await worker.exited;
    try {
      const decision = await holdfast('pause', object);
      expect(decision).toMatchObject({ code: 3, stdout: '' });
      expect(decision.stderr).toMatch(/holdfast worker/);
      expect(decision.stderr).toContain(`holdfast status ${object}`);
      const status = await holdfast('status', object);
      expect(status).toMatchObject({ code: 3, stdout: '' });
      expect(status.stderr).toMatch(/holdfast worker/);
      expect(status.stderr).not.toMatch(/takes effect/);
      const plan = await holdfast('plan', '-f', file);
      expect(plan).toMatchObject({ code: 3, stdout: '' });
      expect(plan.stderr).toMatch(/no worker took up the plan of .*holdfast worker/);
    } finally {
      worker = await startWorker();
    }
  });
});

describe('dev', () => {
  async function freePort(): Promise<number> {
    const server = createTcpServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }

  function listens(port: number): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect({ host: '127.0.0.1', port }, () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
  }

  async function startDev() {
    const [port, uiPort] = [await freePort(), await freePort()];
    const data = mkdtempSync(join(folder, 'data-'));
    const args = ['dev', '--port', String(port), '--ui-port', String(uiPort), '--data', data];
    const dev = startCli(args, { ...env, HOLDFAST_TEMPORAL_CLI: findTemporalCli() });
    onTestFinished(async () => {
      dev.signal('SIGKILL');
      await dev.exited;
    });
    await dev.says(/Worker +ready/);
    return { dev, port, uiPort, address: `127.0.0.1:${port}` };
  }

  test('starts a server with its UI and a worker, and Ctrl-C ends both', async () => {
    const { dev, port, uiPort, address } = await startDev();
    expect((await fetch(`http://127.0.0.1:${uiPort}/`)).status).toBe(200);
    const run = await runCli(['doctor'], { env: { ...env, TEMPORAL_ADDRESS: address } });
    expect(run.stdout).toMatch(/^ok +search attributes/m);
    expect(run.stdout).toMatch(/^ok +workers/m);
    const second = await runCli(['dev', '--port', String(port)], {
      env: { ...env, HOLDFAST_TEMPORAL_CLI: findTemporalCli() },
    });
    expect(second).toMatchObject({ code: 2, stdout: '' });
    expect(second.stderr).toContain(`something listens on ${address} already; give another port (--port)`);
    dev.signal('SIGINT');
    expect(await dev.exited).toBe(0);
    expect(await listens(port)).toBe(false);
    expect(dev.output()).toContain('Both have ended');
  });

  test('killed, it leaves no server behind', async () => {
    const { dev, port } = await startDev();
    dev.signal('SIGKILL');
    await dev.exited;
    await waitFor('the server to be gone', async () => !(await listens(port)));
  });
});
