import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { createKubernetes } from '../../src/activities/kubernetes/create.ts';
import type { KubernetesClient, KubeObject } from '../../src/activities/kubernetes/port.ts';
import { releaseSpec, type ReleaseSpecInput } from '../../src/domain/release/spec.ts';
import type { ReleaseStatus } from '../../src/domain/release/status.ts';
import { RELEASE_QUEUE, releaseId, rolloutId, statusQuery } from '../../src/workflows/release/messages.ts';
import { releaseWorkflow } from '../../src/workflows/release/workflow.ts';
import { createNamespace, deleteNamespace } from '../lab/access.ts';
import { pushSpokeImage, type PushedImage } from '../lab/images.ts';
import { attachLab, type LabEnv } from '../lab/lab.ts';
import { spokeDeployment } from '../lab/manifests.ts';
import { waitFor } from '../lab/wait.ts';
import { startTestWorker, type TestWorker, type WorkerChanges } from './worker-in-process.ts';

export interface Deployment extends KubeObject {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  };
}

/** A worker, a namespace and a node without a machine, for the releases of one test file. */
export interface Fleet {
  readonly worker: TestWorker;
  readonly kubernetes: KubernetesClient;
  readonly namespace: string;
  /** What the targets' health answers, by target name [200]. */
  readonly answers: Map<string, number>;
  /** A name that no other run of the tests has used. */
  named(what: string): string;
  /** Pushes an image to a repository that is this run's alone, so that a lab can serve many. */
  image(repository: string, version: string): Promise<PushedImage>;
  deploy(name: string, reference: string): Promise<void>;
  deployment(name: string): Promise<Deployment>;
  imageOf(name: string): Promise<string>;
  /** A spec in Enforce on the line of 1.x tags, quick, whose targets' health this process answers. */
  spec(repository: string, targets: readonly string[], more?: Partial<ReleaseSpecInput>): ReleaseSpecInput;
  apply(name: string, input: ReleaseSpecInput): Promise<WorkflowHandle<typeof releaseWorkflow>>;
  statusWhere(
    handle: WorkflowHandle,
    what: string,
    holds: (status: ReleaseStatus) => boolean,
    timeoutMs?: number,
  ): Promise<ReleaseStatus>;
  /** Ends a release's workflows and replays what they recorded against the workflows as they are. */
  endAndReplay(name: string): Promise<void>;
  close(): Promise<void>;
}

export async function startFleet(lab: LabEnv, prefix: string, changes: WorkerChanges = {}): Promise<Fleet> {
  const run = Date.now().toString(36);
  const nodes = await (await attachLab(lab.dir)).addNodes({ count: 1, arch: 'amd64', prefix });
  const worker = await startTestWorker(lab, changes.kubeconfig, changes);
  const kubernetes = await createKubernetes({ name: 'test', kubeconfig: lab.kubeconfig });
  const namespace = await createNamespace(lab, prefix);
  const answers = new Map<string, number>();
  const health = await answering(answers);
  const named = (what: string): string => `${what}-${run}`;

  async function deployment(name: string): Promise<Deployment> {
    const seen = await kubernetes.get<Deployment>({ apiVersion: 'apps/v1', kind: 'Deployment', namespace, name });
    if (seen.kind !== 'read') throw new Error(seen.message);
    return seen.value;
  }

  return {
    worker,
    kubernetes,
    namespace,
    answers,
    named,
    image: (repository, version) =>
      pushSpokeImage(lab.registry, {
        repository: named(repository),
        tag: version,
        version,
        revision: version.padStart(40, '0').replaceAll('.', 'a'),
      }),
    async deploy(name, reference) {
      const wanted = spokeDeployment({ namespace, name, image: reference, node: 'kwok', readinessProbe: false });
      // As it goes over the wire: client-node's types allow undefined where ours leave a field out.
      await kubernetes.create(JSON.parse(JSON.stringify(wanted)) as KubeObject, { fieldManager: 'test' });
      await waitFor(`deployment ${name} to be available`, async () => {
        const { status } = (await deployment(name)) as { status?: { availableReplicas?: number } };
        return status?.availableReplicas === 1;
      });
    },
    deployment,
    imageOf: async (name) => (await deployment(name)).spec.template.spec.containers[0]?.image ?? '',
    spec: (repository, targets, more = {}) => ({
      mode: 'Enforce',
      image: `${lab.registry}/${named(repository)}`,
      track: { line: '^1' },
      pollInterval: '1s',
      soak: '1s',
      soakProbeInterval: '200ms',
      rolloutTimeout: '60s',
      targets: targets.map((target) => ({
        namespace,
        deployment: target,
        container: 'spoke',
        kind: 'hub' as const,
        healthURL: `http://127.0.0.1:${(health.address() as AddressInfo).port}/${target}`,
      })),
      ...more,
    }),
    apply: (name, input) =>
      worker.client.workflow.start(releaseWorkflow, {
        workflowId: releaseId(named(name)),
        taskQueue: RELEASE_QUEUE,
        args: [{ name: named(name), spec: releaseSpec.parse(input) }],
      }),
    async statusWhere(handle, what, holds, timeoutMs = 90_000) {
      let last: ReleaseStatus | null = null;
      try {
        return await waitFor(
          what,
          async () => {
            last = await handle.query(statusQuery);
            return holds(last) ? last : false;
          },
          timeoutMs,
        );
      } catch (error) {
        throw new Error(`${String(error)}; last status: ${JSON.stringify(last, null, 1)}`, { cause: error });
      }
    },
    async endAndReplay(name) {
      const workflowsPath = fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url));
      for (const id of [releaseId(named(name)), rolloutId(named(name))]) {
        const handle = worker.client.workflow.getHandle(id);
        try {
          await Worker.runReplayHistory({ workflowsPath }, await handle.fetchHistory(), id);
          await handle.terminate('test is over');
        } catch (error) {
          if (!/not found|already completed/i.test(String(error))) throw error;
        }
      }
    },
    async close() {
      await worker.stop();
      await new Promise((resolve) => health.close(resolve));
      await kubernetes.close();
      await deleteNamespace(lab, namespace);
      await (await attachLab(lab.dir)).removeNodes(nodes);
    },
  };
}

/** True where every target runs the image of that label and no rollout is under way. */
export function allCurrent(label: string): (status: ReleaseStatus) => boolean {
  return ({ rollout, targets }) =>
    rollout === null &&
    targets.length > 0 &&
    targets.every((target) => target.phase === 'Current' && (target.desired ?? '').includes(label));
}

async function answering(answers: ReadonlyMap<string, number>): Promise<Server> {
  const server = createServer((request, response) => {
    response.writeHead(answers.get((request.url ?? '').slice(1)) ?? 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
