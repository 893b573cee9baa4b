import { randomBytes } from 'node:crypto';
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { hostPods } from '../../src/domain/node-reboot/pod.ts';
import { nodeRebootSpec, type NodeRebootSpecInput } from '../../src/domain/node-reboot/spec.ts';
import type { NodeRebootStatus } from '../../src/domain/node-reboot/status.ts';
import {
  NODE_REBOOT_QUEUE,
  nodeRebootId,
  nodeRebootStatusQuery,
  nodeRebootUpdate,
} from '../../src/workflows/node-reboot/messages.ts';
import type { nodeRebootWorkflow } from '../../src/workflows/node-reboot/workflow.ts';
import { kube } from '../lab/kube-api.ts';
import { startLab, type Lab } from '../lab/lab.ts';
import { observeNodes, type NodeObserver } from '../lab/node-observer.ts';
import { simulateHosts, type SimulatedHosts } from '../lab/simulated-hosts.ts';
import { waitFor } from '../lab/wait.ts';
import type { Moment } from './activity-moments.ts';
import type { HeldWrite } from './api-proxy.ts';
import { rebootWrite } from './reboot-writes.ts';
import { openStage, type Stage } from './stage.ts';

/** The hosts of a stage; a campaign reboots the first two. */
export const hostNames = ['n1', 'n2', 'n3'] as const;

/** Where a worker dies: at a write, before it reaches the API server or between its effect and its reply, or at an activity. */
export type Death =
  | { readonly write: string; readonly when: 'before' | 'reply' }
  | { readonly activity: string; readonly nth: number; readonly moment: Moment };

export function deathInWords(death: Death): string {
  return 'write' in death ? `${death.write}, ${death.when}` : `${death.activity} ${death.nth} ${death.moment}`;
}

/** A lab of simulated hosts with pods on each, watched by an observer, and a worker in a process of its own that can be killed. */
export interface RebootStage {
  readonly lab: Lab;
  readonly hosts: SimulatedHosts;
  readonly stage: Stage;
  readonly observer: NodeObserver;
  /** Both nodes of a campaign want a reboot from now on. */
  wish(): void;
  /** @param on whose worker carries it out [that of the stage] */
  start(spec?: Partial<NodeRebootSpecInput>, name?: string, on?: Stage): Promise<Campaign>;
  lock(): Promise<Readonly<Record<string, string>>>;
  node(name: string): Promise<SeenNode>;
  /** Everything that is to be the same whatever died on the way, since `wish`. */
  endState(): Promise<EndState>;
  close(): Promise<void>;
}

export interface SeenNode {
  readonly unschedulable: boolean;
  readonly mark: string | null;
  readonly bootId: string;
}

export interface EndState {
  readonly lock: Readonly<Record<string, string>>;
  readonly nodes: readonly Pick<SeenNode, 'unschedulable' | 'mark'>[];
  /** How often each was told to reboot, and booted. */
  readonly told: readonly number[];
  readonly boots: readonly number[];
}

export interface Campaign {
  readonly name: string;
  readonly handle: WorkflowHandleWithFirstExecutionRunId<typeof nodeRebootWorkflow>;
  until(what: string, holds: (status: NodeRebootStatus) => boolean): Promise<NodeRebootStatus>;
  /** Until both nodes are done and nothing is left to do. */
  done(): Promise<NodeRebootStatus>;
  act(action: Parameters<typeof nodeRebootUpdate>[0]): Promise<void>;
  /** Kills the worker there; returns when it is gone. `late` gets a write that never arrived. */
  dies(death: Death, late?: (held: HeldWrite) => void): Promise<void>;
}

/** How long one step may take: a killed activity is missed after twenty seconds at most. */
const patienceMs = 120_000;

export async function openRebootStage(): Promise<RebootStage> {
  const lab = await startLab({ parts: ['temporal', 'control-plane'], log: () => {} });
  const { env } = lab;
  const hosts = await simulateHosts(env, hostNames);
  await createLock(lab);
  const observer = await observeNodes(env);
  const pods = await createPods(lab);
  const stage = await openStage(env, {
    capabilities: 'node-reboot',
    config: { nodeReboot: { hostImage: 'simulated' } },
  });
  let before = { told: [0, 0, 0], boots: [0, 0, 0] };

  const lock = async () => (await kube<{ data?: Record<string, string> }>(env, 'GET', lockPath)).data ?? {};
  const counts = () => ({
    told: hostNames.map((name) => hosts.asked(name)),
    boots: hostNames.map((name) => hosts.boots(name)),
  });
  const since = (now: readonly number[], then: readonly number[]) => now.map((count, i) => count - (then[i] ?? 0));
  async function node(name: string): Promise<SeenNode> {
    const { metadata, spec, status } = await kube<NodeObject>(env, 'GET', `/api/v1/nodes/${name}`);
    return {
      unschedulable: spec.unschedulable === true,
      mark: metadata.annotations?.['holdfast.dev/cordoned-by'] ?? null,
      bootId: status.nodeInfo.bootID,
    };
  }

  return {
    lab,
    hosts,
    stage,
    observer,
    wish() {
      before = counts();
      for (const name of hostNames.slice(0, 2)) hosts.setSentinel(name, ['libc6']);
    },
    async start(overrides = {}, name = `c-${randomBytes(3).toString('hex')}`, on = stage) {
      const spec = nodeRebootSpec.parse({ ...quick, ...overrides });
      const handle = await on.client.workflow.start<typeof nodeRebootWorkflow>('nodeRebootWorkflow', {
        workflowId: nodeRebootId(name),
        taskQueue: NODE_REBOOT_QUEUE,
        args: [{ name, spec }],
      });
      return campaign(on, name, handle);
    },
    lock,
    node,
    async endState() {
      const now = counts();
      const nodes = await Promise.all(hostNames.map(node));
      return {
        lock: await lock(),
        nodes: nodes.map(({ unschedulable, mark }) => ({ unschedulable, mark })),
        told: since(now.told, before.told),
        boots: since(now.boots, before.boots),
      };
    },
    async close() {
      await stage.close();
      await pods.remove();
      await hosts.stop();
      try {
        await observer.close();
      } finally {
        await lab.stop();
      }
    },
  };
}

const quick: NodeRebootSpecInput = {
  mode: 'Enforce',
  approval: 'None',
  nodes: hostNames.slice(0, 2),
  interval: '10s',
  readyHold: '1s',
  releaseDelay: '1s',
  returnTimeout: '2m',
  gates: { dns: false, host: false },
};

function campaign(stage: Stage, name: string, handle: Campaign['handle']): Campaign {
  const until: Campaign['until'] = (what, holds) =>
    waitFor(
      what,
      async () => {
        const status = await handle.query(nodeRebootStatusQuery);
        if (holds(status)) return status;
        const { phase, turn, stopped, waiting, personNext } = status;
        throw new Error(JSON.stringify({ phase, turn, stopped, waiting, personNext }));
      },
      patienceMs,
      300,
    );
  return {
    name,
    handle,
    until,
    done: () =>
      until('both nodes are done', ({ phase, nodes }) => {
        const isDone = (name: string) => nodes.some(({ node, reboot }) => node === name && reboot === 'done');
        return phase === 'Idle' && hostNames.slice(0, 2).every(isDone);
      }),
    async act(action) {
      await handle.executeUpdate(nodeRebootUpdate(action), { args: [{ by: 'ada', reason: '' }] });
    },
    dies(death, late = () => undefined) {
      if (!('write' in death)) {
        const { activity: type, nth, moment } = death;
        return stage.killAt({ workflowId: handle.workflowId, type, nth, moment });
      }
      const which = (write: Parameters<typeof rebootWrite>[0]) => rebootWrite(write) === death.write;
      return death.when === 'reply' ? stage.killAtReply(which) : stage.killAtRequest(which, late);
    },
  };
}

interface NodeObject {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly unschedulable?: boolean };
  readonly status: { readonly nodeInfo: { readonly bootID: string } };
}

const lockPath = '/api/v1/namespaces/holdfast/configmaps/node-reboot-lock';

/** The lock, and the namespace of the pods that are put on hosts. */
async function createLock({ env }: Lab): Promise<void> {
  for (const name of ['holdfast', hostPods.namespace]) {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await kube(env, 'POST', '/api/v1/namespaces', { body: namespace });
  }
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'node-reboot-lock' } };
  await kube(env, 'POST', '/api/v1/namespaces/holdfast/configmaps', { body });
}

/** Pods on each host, so that a drain has something to evict. */
async function createPods({ env }: Lab): Promise<{ remove(): Promise<void> }> {
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const labels = { app: 'shop' };
  const spread = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' };
  const spec = {
    nodeSelector: { type: 'simulated' },
    topologySpreadConstraints: [{ ...spread, labelSelector: { matchLabels: labels } }],
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: 'simulated' }],
  };
  const template = { metadata: { labels }, spec };
  await kube(env, 'POST', path, {
    body: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'shop' },
      spec: { replicas: 6, selector: { matchLabels: labels }, template },
    },
  });
  await waitFor('there are pods on each host', async () => {
    const { items } = await kube<{ items: { spec: { nodeName?: string } }[] }>(
      env,
      'GET',
      '/api/v1/namespaces/default/pods?fieldSelector=status.phase%3DRunning',
    );
    return hostNames.every((name) => items.some(({ spec: { nodeName } }) => nodeName === name));
  });
  return { remove: async () => void (await kube(env, 'DELETE', `${path}/shop`)) };
}
