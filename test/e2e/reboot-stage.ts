import { randomUUID } from 'node:crypto';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { createApprovalActivities } from '../../src/activities/approval/verify-signature.ts';
import { createKubernetes } from '../../src/activities/kubernetes/create.ts';
import type { KubernetesClient } from '../../src/activities/kubernetes/port.ts';
import { createNodeRebootActivities } from '../../src/activities/node-reboot/create.ts';
import type { NodeRebootActivities } from '../../src/activities/node-reboot/port.ts';
import { createNotifyActivities } from '../../src/activities/notify/create.ts';
import type { Notification } from '../../src/domain/core/notification.ts';
import { lockName } from '../../src/domain/node-reboot/by-hand.ts';
import type { NodeRebootAction } from '../../src/domain/node-reboot/actions.ts';
import { hostPods } from '../../src/domain/node-reboot/pod.ts';
import { nodeRebootSpec, type NodeRebootSpecInput } from '../../src/domain/node-reboot/spec.ts';
import type { NodeRebootStatus } from '../../src/domain/node-reboot/status.ts';
import { holderRun } from '../../src/worker/node-reboot-activities.ts';
import {
  NODE_REBOOT_QUEUE,
  NODE_REBOOT_WAIT_QUEUE,
  nodeRebootId,
  nodeRebootStatusQuery,
  nodeRebootUpdate,
} from '../../src/workflows/node-reboot/messages.ts';
import type { nodeRebootWorkflow } from '../../src/workflows/node-reboot/workflow.ts';
import { kube } from '../lab/kube-api.ts';
import { startWorkload, type BudgetedWorkload, type WorkloadSpec } from './budgeted-workload.ts';
import type { Lab } from '../lab/lab.ts';
import { observeNodes, type NodeObserver } from '../lab/node-observer.ts';
import { waitFor } from '../lab/wait.ts';

/** A lab of its own, and a worker for campaigns on its nodes. */
export interface RebootStage {
  readonly lab: Lab;
  readonly kubernetes: KubernetesClient;
  /** The pages that people got. */
  readonly told: Notification[];
  /** From now on nobody takes what is told, or somebody does again. */
  deaf(is: boolean): void;
  /** Watches from the beginning; what it saw broken fails `close`. */
  readonly observer: NodeObserver;
  /** @param name of the campaign [one of its own] */
  apply(spec?: Partial<NodeRebootSpecInput>, name?: string): Promise<Campaign>;
  lock(): Promise<Readonly<Record<string, string>>>;
  /** Writes the lock as a person would, whoever holds it. */
  writeLock(data: Readonly<Record<string, string>>): Promise<void>;
  /** The pods on hosts that there are, by their names. */
  hostPods(): Promise<string[]>;
  /** Makes a Deployment with a budget that wants one of its pods ready, and waits until all are. */
  workload(name: string, how: WorkloadSpec): Promise<BudgetedWorkload>;
  /** Ends the worker as a Deployment does, in the middle of its work, and starts another. */
  restartWorker(): Promise<void>;
  close(): Promise<void>;
}

export interface Campaign {
  readonly name: string;
  readonly handle: WorkflowHandle<typeof nodeRebootWorkflow>;
  status(): Promise<NodeRebootStatus>;
  until(what: string, holds: (status: NodeRebootStatus) => boolean, timeoutMs?: number): Promise<NodeRebootStatus>;
  act(action: NodeRebootAction['action'], payload?: Record<string, unknown>): Promise<void>;
  /** Cancels it between turns, and waits for its end. */
  end(): Promise<void>;
  /** Waits until a node is offered, and approves it as it is offered. */
  approve(node: string): Promise<void>;
}

/**
 * @param lab with Temporal and a control plane; it ends with the stage
 * @param nodes those of campaigns, in their order
 * @param image of one-shot pods and of workloads
 * @param around what is done instead of an activity [that activity]
 */
export async function openRebootStage(
  lab: Lab,
  nodes: readonly string[],
  image: string,
  around: (shipped: NodeRebootActivities) => NodeRebootActivities = (shipped) => shipped,
): Promise<RebootStage> {
  const { env } = lab;
  const kubernetes = await createKubernetes({ name: 'default', kubeconfig: env.kubeconfig });
  for (const name of [lockName.namespace, hostPods.namespace]) {
    await kube(env, 'POST', '/api/v1/namespaces', {
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    });
  }
  const lockPath = `/api/v1/namespaces/${lockName.namespace}/configmaps`;
  await kube(env, 'POST', lockPath, {
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: lockName.name } },
  });

  const observer = await observeNodes(env);
  const told: Notification[] = [];
  let isDeaf = false;
  const client = new Client({ connection: await Connection.connect({ address: env.temporalAddress }) });
  const activities = {
    ...createApprovalActivities(),
    ...createNotifyActivities({
      notifiers: [
        {
          name: 'test',
          notify: (said) => {
            if (isDeaf) return Promise.resolve({ kind: 'refused', message: 'nobody is there' });
            if (said.severity === 'page') told.push(said);
            return Promise.resolve({ kind: 'delivered' });
          },
        },
      ],
      signal: () => new AbortController().signal,
    }),
    ...around(
      createNodeRebootActivities({
        kubernetes: (cluster) => (cluster === 'default' ? kubernetes : null),
        holderRun: (name, run) => holderRun(client, name, run),
        prometheus: () => null,
        etcd: () => null,
        hostImage: image,
      }),
    ),
  };
  const connection = await NativeConnection.connect({ address: env.temporalAddress });
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url)),
  });
  async function startWorkers(): Promise<() => Promise<void>> {
    const workers = await Promise.all([
      Worker.create({ connection, workflowBundle, activities, taskQueue: NODE_REBOOT_QUEUE }),
      Worker.create({ connection, activities, taskQueue: NODE_REBOOT_WAIT_QUEUE, maxHeartbeatThrottleInterval: '1s' }),
    ]);
    const running = Promise.all(workers.map((worker) => worker.run()));
    return async () => {
      for (const worker of workers) worker.shutdown();
      await running;
    };
  }
  let stopWorkers = await startWorkers();

  return {
    lab,
    kubernetes,
    told,
    deaf: (is) => {
      isDeaf = is;
    },
    observer,
    async apply(overrides = {}, name = `c-${randomUUID().slice(0, 8)}`) {
      const spec = nodeRebootSpec.parse({
        mode: 'Enforce',
        nodes: [...nodes],
        interval: '10s',
        readyHold: '2s',
        releaseDelay: '2s',
        returnTimeout: '2m',
        gates: { dns: false, host: false },
        ...overrides,
      });
      const handle = await client.workflow.start<typeof nodeRebootWorkflow>('nodeRebootWorkflow', {
        workflowId: nodeRebootId(name),
        taskQueue: NODE_REBOOT_QUEUE,
        args: [{ name, spec }],
      });
      return campaign(name, handle);
    },
    workload: (workload, how) => startWorkload(env, image, workload, how),
    async lock() {
      return (await kube<{ data?: Record<string, string> }>(env, 'GET', `${lockPath}/${lockName.name}`)).data ?? {};
    },
    async writeLock(data) {
      const body = [{ op: 'add', path: '/data', value: data }];
      await kube(env, 'PATCH', `${lockPath}/${lockName.name}`, { body, contentType: 'application/json-patch+json' });
    },
    async hostPods() {
      const path = `/api/v1/namespaces/${hostPods.namespace}/pods`;
      const { items } = await kube<{ items: { metadata: { name: string } }[] }>(env, 'GET', path);
      return items.map(({ metadata }) => metadata.name);
    },
    async restartWorker() {
      await stopWorkers();
      stopWorkers = await startWorkers();
    },
    async close() {
      await stopWorkers();
      await connection.close();
      await client.connection.close();
      await kubernetes.close();
      try {
        await observer.close();
      } finally {
        await lab.stop();
      }
    },
  };
}

function campaign(name: string, handle: WorkflowHandle<typeof nodeRebootWorkflow>): Campaign {
  const status = () => handle.query(nodeRebootStatusQuery);
  const until: Campaign['until'] = async (what, holds, timeoutMs = 120_000) => {
    let last: NodeRebootStatus | null = null;
    try {
      return await waitFor(
        what,
        async () => {
          last = await status();
          return holds(last) ? last : null;
        },
        timeoutMs,
      );
    } catch (error) {
      throw new Error(`${String(error)}; last status: ${JSON.stringify(last, null, 1)}`, { cause: error });
    }
  };
  const act: Campaign['act'] = async (action, payload = {}) => {
    await handle.executeUpdate(nodeRebootUpdate(action), { args: [{ by: 'ana', reason: '', ...payload }] });
  };
  return {
    name,
    handle,
    status,
    until,
    act,
    async end() {
      await act('cancel');
      await handle.result();
    },
    async approve(node) {
      const { waiting } = await until(
        `an offer of ${node}`,
        (s) => s.waiting?.next.includes(`--node ${node} `) === true,
      );
      await act('approve', { node, plan: /--plan (\S+)/.exec(waiting?.next ?? '')?.[1] });
    },
  };
}
