import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { NodeRebootStatus } from '../../../../src/domain/node-reboot/status.ts';
import { describeRebootChanges } from '../../../../src/starters/node-reboot/changes.ts';
import { nodeRebootId, nodeRebootStatusQuery } from '../../../../src/workflows/node-reboot/messages.ts';
import { kube } from '../../kube-api.ts';
import type { NodeEvent } from '../../reboot-nodes.ts';
import { GaveUp, waitFor } from '../../wait.ts';
import { whyWorkerEnded } from '../processes.ts';
import type { Timeline, Tone } from '../timeline.ts';
import type { RebootStage } from './reboot-stage.ts';

const LOOK_EVERY_MS = 200;
const LOOK_TIMEOUT_MS = 10_000;
const PATIENCE_MS = 180_000;

/** A node as the API server shows it. */
export interface ShownNode {
  readonly name: string;
  readonly ready: boolean;
  readonly cordoned: boolean;
  readonly bootId: string;
}

/** What Holdfast, the API server and the machines themselves tell goes to the timeline for as long as it is followed. */
export interface NodesFollower {
  /** Waits until the status says so. @throws Error with what it says instead, after three minutes */
  until(what: string, holds: (status: NodeRebootStatus) => boolean): Promise<NodeRebootStatus>;
  stop(): Promise<void>;
}

export async function followNodes(
  stage: RebootStage,
  timeline: Timeline,
  leaving: AbortSignal,
): Promise<NodesFollower> {
  const { lab, nodes, name, worker } = stage;
  const connection = await Connection.connect({ address: lab.temporalAddress });
  const handle = new Client({ connection }).workflow.getHandle(nodeRebootId(name));
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, leaving]);
  let latest: NodeRebootStatus | null = null;

  async function tellStatus(): Promise<void> {
    const query = () => handle.query(nodeRebootStatusQuery);
    const status = await connection.withDeadline(Date.now() + LOOK_TIMEOUT_MS, query);
    for (const text of describeRebootChanges(latest, status)) timeline.tell('holdfast', text, toneOf(text));
    latest = status;
  }

  let shown: readonly ShownNode[] = await shownNodes(stage);
  async function tellNodes(): Promise<void> {
    const now = await shownNodes(stage);
    for (const node of now) {
      const before = shown.find((other) => other.name === node.name);
      if (before === undefined) continue;
      for (const text of changesOf(before, node)) timeline.tell('cluster', `${node.name}: ${text}`);
    }
    shown = now;
  }

  let placed = '';
  async function tellPods(): Promise<void> {
    const pods = await stage.shop.pods();
    const ready = pods.filter((pod) => pod.ready);
    const now = `shop: ready on ${ready
      .map(({ node }) => node ?? 'no node')
      .sort()
      .join(' and ')}`;
    if (ready.length > 0 && now !== placed) timeline.tell('cluster', now);
    placed = now;
  }

  const heard = new Map(nodes.names.map((node) => [node, nodes.events(node).length]));
  function tellMachines(): Promise<void> {
    for (const node of nodes.names) {
      const events = nodes.events(node);
      for (const event of events.slice(heard.get(node))) timeline.tell('machine', `${node}: ${describe(event)}`);
      heard.set(node, events.length);
    }
    return Promise.resolve();
  }

  async function again(look: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await look().catch(() => undefined); // not known right now
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  const following = Promise.all([again(tellStatus), again(tellNodes), again(tellPods), again(tellMachines)]);

  return {
    until: (what, holds) =>
      waitFor(
        what,
        () => {
          if (signal.aborted) throw new GaveUp('the demo has ended');
          const dead = whyWorkerEnded(lab.dir, worker);
          if (dead !== null) throw new GaveUp(dead);
          if (latest !== null && holds(latest)) return latest;
          throw new Error(latest === null ? 'no status yet' : `${latest.phase}: ${latest.waiting?.for ?? 'at work'}`);
        },
        PATIENCE_MS,
        50,
      ),
    async stop() {
      ending.abort();
      await following;
      await connection.close();
    },
  };
}

interface NodeObject {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly unschedulable?: boolean };
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly nodeInfo: { readonly bootID: string };
  };
}

/** The story's nodes, in their order. */
export async function shownNodes({ lab, nodes }: RebootStage): Promise<ShownNode[]> {
  const { items } = await kube<{ items: NodeObject[] }>(lab, 'GET', '/api/v1/nodes');
  const own = items.filter(({ metadata }) => (nodes.names as readonly string[]).includes(metadata.name));
  return own.map(({ metadata, spec, status }) => ({
    name: metadata.name,
    ready: status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false,
    cordoned: spec.unschedulable === true,
    bootId: status.nodeInfo.bootID,
  }));
}

function changesOf(before: ShownNode, after: ShownNode): string[] {
  const changes: string[] = [];
  if (before.cordoned !== after.cordoned) changes.push(after.cordoned ? 'cordoned' : 'schedulable again');
  if (before.bootId !== after.bootId) changes.push(`runs boot ${after.bootId}, was ${before.bootId}`);
  if (before.ready !== after.ready) changes.push(after.ready ? 'Ready' : 'not Ready any more');
  return changes;
}

function describe(event: NodeEvent): string {
  switch (event.event) {
    case 'asked':
      return `told to ${event.command}`;
    case 'down':
      return 'goes down, with everything on it';
    case 'boot':
      return 'boots';
    case 'power-button':
      return 'somebody presses its power button';
  }
}

function toneOf(text: string): Tone {
  if (/: Hung$|^stopped|: fail,/.test(text)) return 'bad';
  if (text.startsWith('waits for')) return 'waits';
  return /: rebooted,/.test(text) ? 'good' : 'plain';
}
