import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createKubernetes } from '../../src/activities/kubernetes/create.ts';
import type { KubeObject, KubernetesPort } from '../../src/activities/kubernetes/port.ts';
import { releaseSpec, type ReleaseSpecInput } from '../../src/domain/release/spec.ts';
import type { ReleaseStatus } from '../../src/domain/release/status.ts';
import {
  actionSignal,
  actionUpdate,
  RELEASE_QUEUE,
  releaseId,
  rolloutId,
  statusQuery,
} from '../../src/workflows/release/messages.ts';
import { releaseWorkflow } from '../../src/workflows/release/workflow.ts';
import { createNamespace, deleteNamespace, markAudit, readAudit } from '../lab/access.ts';
import { pushSpokeImage, tagImage, type PushedImage } from '../lab/images.ts';
import { attachLab } from '../lab/lab.ts';
import { spokeDeployment } from '../lab/manifests.ts';
import { startTestWorker, type TestWorker } from './worker-in-process.ts';

const lab = inject('lab');
let worker: TestWorker;
let kubernetes: KubernetesPort;
let namespace: string;
let health: Server;
/** What the targets' health answers, by target name. */
const answers = new Map<string, number>();
let nodes: string[] = [];
/** Release names are unique to this run, so that a lab can serve many. */
const run = Date.now().toString(36);

interface Deployment extends KubeObject {
  spec: { template: { spec: { containers: { name: string; image: string }[] } } };
}

beforeAll(async () => {
  nodes = await (await attachLab(lab.dir)).addNodes({ count: 1, arch: 'amd64', prefix: 'e2e' });
  worker = await startTestWorker(lab);
  kubernetes = await createKubernetes({ name: 'test', kubeconfig: lab.kubeconfig });
  namespace = await createNamespace(lab, 'release');
  health = createServer((request, response) => {
    response.writeHead(answers.get((request.url ?? '').slice(1)) ?? 200).end();
  });
  await new Promise<void>((resolve) => health.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  await worker.stop();
  health.close();
  await deleteNamespace(lab, namespace);
  await (await attachLab(lab.dir)).removeNodes(nodes);
});

async function image(repository: string, version: string): Promise<PushedImage> {
  return pushSpokeImage(lab.registry, {
    repository,
    tag: version,
    version,
    revision: version.padStart(40, '0').replaceAll('.', 'a'),
  });
}

async function deploy(name: string, reference: string): Promise<void> {
  const wanted = spokeDeployment({ namespace, name, image: reference, node: 'kwok', readinessProbe: false });
  // As it goes over the wire: client-node's types allow undefined where ours leave a field out.
  await kubernetes.create(JSON.parse(JSON.stringify(wanted)) as KubeObject, { fieldManager: 'test' });
  await until(`deployment ${name} to be available`, async () => {
    const seen = await kubernetes.get<KubeObject & { status?: { availableReplicas?: number } }>(ref(name));
    return seen.kind === 'read' && seen.value.status?.availableReplicas === 1;
  });
}

function ref(name: string) {
  return { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name };
}

async function deployment(name: string): Promise<Deployment> {
  const seen = await kubernetes.get<Deployment>(ref(name));
  if (seen.kind !== 'read') throw new Error(seen.message);
  return seen.value;
}

async function imageOf(name: string): Promise<string> {
  return (await deployment(name)).spec.template.spec.containers[0]?.image ?? '';
}

function spec(repository: string, targets: readonly string[], more: Partial<ReleaseSpecInput> = {}): ReleaseSpecInput {
  const { port } = health.address() as AddressInfo;
  return {
    mode: 'Enforce',
    image: `${lab.registry}/${repository}`,
    track: { line: '^\\d' },
    pollInterval: '1s',
    soak: '2s',
    soakProbeInterval: '300ms',
    rolloutTimeout: '60s',
    targets: targets.map((t) => ({
      namespace,
      deployment: t,
      container: 'spoke',
      kind: 'hub' as const,
      healthURL: `http://127.0.0.1:${port}/${t}`,
    })),
    ...more,
  };
}

async function apply(name: string, input: ReleaseSpecInput): Promise<WorkflowHandle<typeof releaseWorkflow>> {
  return worker.client.workflow.start(releaseWorkflow, {
    workflowId: releaseId(`${name}-${run}`),
    taskQueue: RELEASE_QUEUE,
    args: [{ name: `${name}-${run}`, spec: releaseSpec.parse(input) }],
  });
}

async function until<T>(what: string, ask: () => Promise<T | false | undefined>, timeoutMs = 60_000): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== false && answer !== undefined) return answer;
    if (Date.now() > end) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function statusWhere(
  handle: WorkflowHandle,
  what: string,
  holds: (status: ReleaseStatus) => boolean,
): Promise<ReleaseStatus> {
  let last: ReleaseStatus | null = null;
  try {
    return await until(what, async () => {
      last = await handle.query(statusQuery);
      return holds(last) ? last : false;
    });
  } catch (error) {
    throw new Error(`${String(error)}; last status: ${JSON.stringify(last, null, 1)}`, { cause: error });
  }
}

/** Ends a release's workflows and replays what they recorded against the workflows as they are. */
async function endAndReplay(name: string): Promise<void> {
  for (const id of [releaseId(`${name}-${run}`), rolloutId(`${name}-${run}`)]) {
    const handle = worker.client.workflow.getHandle(id);
    try {
      const history = await handle.fetchHistory();
      await Worker.runReplayHistory(
        { workflowsPath: fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url)) },
        history,
        id,
      );
      await handle.terminate('test is over');
    } catch (error) {
      if (!/not found|already completed/i.test(String(error))) throw error;
    }
  }
}

const allCurrent = (label: string) => (s: ReleaseStatus) =>
  s.rollout === null &&
  s.targets.length > 0 &&
  s.targets.every((t) => t.phase === 'Current' && (t.desired ?? '').includes(label));

describe('a release on a real API server, registry and Temporal', () => {
  test('rolls a new image out canary first, each target in one patch that carries its way back', async () => {
    const one = await image('good', '1.0.0');
    await deploy('good-a', one.reference);
    await deploy('good-b', one.reference);
    const since = await markAudit(lab);
    const handle = await apply('good', spec('good', ['good-a', 'good-b']));
    await statusWhere(handle, 'both targets current on 1.0.0', allCurrent('1.0.0'));
    const two = await image('good', '1.1.0');
    await statusWhere(handle, 'both targets current on 1.1.0', allCurrent('1.1.0'));
    for (const name of ['good-a', 'good-b']) {
      const object = await deployment(name);
      expect(object.spec.template.spec.containers[0]?.image).toBe(two.reference);
      expect(object.metadata.annotations?.['holdfast.dev/previous-image']).toBe(one.reference);
      expect(object.metadata.annotations?.['holdfast.dev/managed-by']).toBe(releaseId(`good-${run}`));
      expect(object.metadata.annotations?.['holdfast.dev/passed']).toBe(two.reference);
    }
    const writes = (await readAudit(lab, since)).filter(
      (e) => e.verb === 'patch' && e.objectRef?.resource === 'deployments' && e.userAgent?.includes('holdfast'),
    );
    expect(writes.map((e) => e.objectRef?.name)).toEqual(['good-a', 'good-a', 'good-b', 'good-b']);
    await endAndReplay('good');
  });

  test('rolls the canary back when its health fails in the soak, touches no other target, blocks the digest, and keeps the block through a terminate', async () => {
    const one = await image('bad', '1.0.0');
    await deploy('bad-a', one.reference);
    await deploy('bad-b', one.reference);
    const handle = await apply('bad', spec('bad', ['bad-a', 'bad-b'], { soak: '60s' }));
    await statusWhere(handle, 'both targets current', allCurrent('1.0.0'));
    const bad = await image('bad', '1.1.0');
    await statusWhere(handle, 'the canary soaking', (s) => s.targets[0]?.step === 'Soaking');
    answers.set('bad-a', 500);
    await until('the way back to be written', async () => (await imageOf('bad-a')) === one.reference);
    answers.delete('bad-a');
    const status = await statusWhere(
      handle,
      'the canary rolled back',
      (s) => s.rollout === null && s.targets[0]?.phase === 'RolledBack',
    );
    expect(status.targets[0]?.message).toMatch(/500/);
    expect(status.blocked.map((b) => b.image)).toContain(bad.digest);
    expect(status.rollbacks).toBe(1);
    expect(await imageOf('bad-a')).toBe(one.reference);
    expect(await imageOf('bad-b')).toBe(one.reference);
    expect((await deployment('bad-b')).metadata.annotations?.['holdfast.dev/applied']).toBeUndefined();
    await endAndReplay('bad');

    const again = await apply('bad', spec('bad', ['bad-a', 'bad-b']));
    const rebuilt = await statusWhere(again, 'the new run to know the block', (s) =>
      s.blocked.some((b) => b.image === bad.digest),
    );
    expect(rebuilt.plan.items).toEqual([]);
    expect(await imageOf('bad-a')).toBe(one.reference);
    await endAndReplay('bad');
  });

  test('reverts an image that somebody else put there, through gate and soak', async () => {
    const one = await image('drift', '1.0.0');
    const other = await image('drift', '0.9.0');
    await deploy('drift-a', one.reference);
    const handle = await apply('drift', spec('drift', ['drift-a']));
    await statusWhere(handle, 'current', allCurrent('1.0.0'));
    await image('drift', '1.0.1');
    const done = await statusWhere(handle, 'current on 1.0.1', allCurrent('1.0.1'));
    await kubernetes.patch(
      ref('drift-a'),
      { spec: { template: { spec: { containers: [{ name: 'spoke', image: other.reference }] } } } },
      { type: 'strategic', fieldManager: 'somebody' },
    );
    await until('the applied image back', async () => (await imageOf('drift-a')) === done.targets[0]?.desired);
    await statusWhere(handle, 'current again', allCurrent('1.0.1'));
    await endAndReplay('drift');
  });

  test('waits for a person before the first target when asked to, and a stale plan hash is refused', async () => {
    const one = await image('ask', '1.0.0');
    await deploy('ask-a', one.reference);
    const handle = await apply('ask', spec('ask', ['ask-a'], { approval: 'beforeFirst', soak: '0s' }));
    await statusWhere(handle, 'current', allCurrent('1.0.0'));
    const two = await image('ask', '1.0.1');
    const waiting = await statusWhere(
      handle,
      'waiting for approval',
      (s) => s.waiting?.who === 'person' && s.plan.items.length === 1,
    );
    expect(await imageOf('ask-a')).toBe(one.reference);
    const approve = actionUpdate('approve');
    const stale = `sha256:${'0'.repeat(64)}`;
    await expect(handle.executeUpdate(approve, { args: [{ by: 'ana', reason: '', plan: stale }] })).rejects.toThrow();
    expect(await imageOf('ask-a')).toBe(one.reference);
    await handle.signal(actionSignal('approve'), { by: 'ana', reason: 'looked at it', plan: waiting.planHash });
    await statusWhere(handle, 'current on 1.0.1', allCurrent('1.0.1'));
    expect(await imageOf('ask-a')).toBe(two.reference);
    await endAndReplay('ask');
  });

  test('writes nothing in Shadow and shows the plan; Enforce then runs it', async () => {
    const one = await image('shadow', '1.0.0');
    await deploy('shadow-a', one.reference);
    await image('shadow', '1.1.0');
    const since = await markAudit(lab);
    const handle = await apply('shadow', spec('shadow', ['shadow-a'], { mode: 'Shadow', soak: '0s' }));
    const status = await statusWhere(handle, 'a plan', (s) => s.plan.items.length === 1);
    expect(status.plan.items[0]).toMatchObject({ target: 'shadow-a', action: 'roll', toLabel: '1.1.0' });
    const writes = (await readAudit(lab, since)).filter(
      (e) => e.userAgent?.includes('holdfast') && !['get', 'list', 'watch'].includes(e.verb),
    );
    expect(writes).toEqual([]);
    await handle.executeUpdate(actionUpdate('setMode'), { args: [{ by: 'ana', reason: '', mode: 'Enforce' }] });
    await statusWhere(handle, 'current on 1.1.0', allCurrent('1.1.0'));
    await endAndReplay('shadow');
  });

  test('phases are computed at scrape and rollback counters start at 0', async () => {
    const one = await image('metrics', '1.0.0');
    await deploy('metrics-a', one.reference);
    await tagImage(lab.registry, 'metrics', one.digest, 'edge');
    const handle = await apply('metrics', spec('metrics', ['metrics-a']));
    await statusWhere(handle, 'current', allCurrent('1.0.0'));
    const text = await until('the release in /metrics', async () => {
      const body = await (await fetch(`http://${worker.health}/metrics`)).text();
      return body.includes(`release="metrics-${run}"`) ? body : false;
    });
    const lines = text.split('\n');
    expect(lines.filter((l) => l.includes('metrics-a'))).toContain(
      `release_target_phase{release="metrics-${run}",target="metrics-a",cluster="default",phase="Current"} 1`,
    );
    expect(lines.filter((l) => l.startsWith('release_rollbacks'))).toContain(
      `release_rollbacks_total{release="metrics-${run}",reason="gate"} 0`,
    );
    expect(lines.some((l) => l.startsWith('temporal_'))).toBe(true);
    await endAndReplay('metrics');
  });
});
