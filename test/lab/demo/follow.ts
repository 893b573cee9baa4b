import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { createKubernetes } from '../../../src/activities/kubernetes/create.ts';
import type { KubeObject, ListQuery } from '../../../src/activities/kubernetes/port.ts';
import type { ReleaseStatus } from '../../../src/domain/release/status.ts';
import { releaseId, rolloutId, statusQuery } from '../../../src/workflows/release/messages.ts';
import { GaveUp, waitFor } from '../wait.ts';
import { changesOf } from './changes.ts';
import { createPodWatch, type Pod } from './pods.ts';
import { whyNoWorker } from './processes.ts';
import { imageIn, isAbout, type Deployment, type HoldfastEvent } from './shop.ts';
import { TARGETS, type Stage } from './stage.ts';
import type { Timeline } from './timeline.ts';

const LOOK_EVERY_MS = 150;
const LOOK_TIMEOUT_MS = 10_000;
const PATIENCE_MS = 120_000;

/** What Holdfast and the cluster report goes to the timeline for as long as it follows. */
export interface Follower {
  /** Waits until the release's own status says so. @throws Error with what it says instead, after two minutes */
  until(what: string, holds: (status: ReleaseStatus) => boolean): Promise<ReleaseStatus>;
  /** Ends the release's workflows, as they are. */
  terminate(): Promise<void>;
  stop(): Promise<void>;
}

/** Follows status, events, Deployments and pods. */
export async function follow(stage: Stage, timeline: Timeline, leaving: AbortSignal): Promise<Follower> {
  const connection = await Connection.connect({ address: stage.lab.temporalAddress });
  const { workflow } = new Client({ connection });
  const kubernetes = await createKubernetes({ name: 'demo', kubeconfig: stage.lab.kubeconfig, userAgent: 'demo' });
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, leaving]);
  let latest: ReleaseStatus | null = null;
  async function followStatus(): Promise<void> {
    const handle = workflow.getHandle(releaseId(stage.release));
    while (!signal.aborted) {
      const status = await askStatus(connection, handle);
      if (status !== null) {
        for (const { text, tone } of changesOf(latest, status)) timeline.tell('holdfast', text, tone);
        latest = status;
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Objects of one kind as they come and change. */
  async function* objects<T extends KubeObject>(query: Omit<ListQuery, 'namespace'>): AsyncGenerator<T> {
    const { namespace } = stage;
    for await (const event of kubernetes.watch<T>({ ...query, namespace }, { signal })) {
      if (event.type === 'listed') yield* event.items;
      else if (event.type === 'added' || event.type === 'modified') yield event.object;
    }
  }

  async function tellEvents(): Promise<void> {
    const told = new Set<string>();
    for await (const event of objects<KubeObject & HoldfastEvent>({ apiVersion: 'events.k8s.io/v1', kind: 'Event' })) {
      const target = TARGETS.find((name) => isAbout(event, name));
      if (target === undefined || told.has(event.metadata.name)) continue;
      told.add(event.metadata.name);
      const tone = event.type === 'Warning' ? 'bad' : event.reason === 'Promoted' ? 'good' : 'plain';
      timeline.tell('holdfast', `${target}: ${asStatusSays(event.reason)}: ${event.note ?? ''}`, tone);
    }
  }

  async function tellImages(): Promise<void> {
    const known = new Map<string, string>();
    for await (const found of objects<KubeObject & Deployment>({ apiVersion: 'apps/v1', kind: 'Deployment' })) {
      const image = imageIn(found);
      const before = known.get(found.metadata.name);
      known.set(found.metadata.name, image);
      if (before !== undefined && before !== image) {
        timeline.tell('cluster', `${found.metadata.name}: image ${image}, was ${before}`);
      }
    }
  }

  async function tellPods(): Promise<void> {
    const look = createPodWatch(Date.now());
    for await (const pod of objects<KubeObject & Pod>({ apiVersion: 'v1', kind: 'Pod' })) {
      for (const { text, tone } of look(pod)) timeline.tell('cluster', text, tone);
    }
  }

  const followed = [followStatus(), tellEvents(), tellImages(), tellPods()];
  for (const following of followed) following.catch(() => undefined); // seen when it stops

  return {
    until: (what, holds) =>
      waitFor(
        what,
        () => {
          if (signal.aborted) throw new GaveUp('the demo has ended');
          const dead = whyNoWorker(stage);
          if (dead !== null) throw new GaveUp(dead);
          if (latest !== null && holds(latest)) return latest;
          throw new Error(latest === null ? 'no status yet' : summary(latest));
        },
        PATIENCE_MS,
        50,
      ),
    async terminate() {
      for (const id of [releaseId(stage.release), rolloutId(stage.release)]) {
        await workflow
          .getHandle(id)
          .terminate('the demo is over')
          .catch(() => undefined); // it has ended, or never began
      }
    },
    async stop() {
      ending.abort();
      await Promise.allSettled(followed);
      await kubernetes.close();
      await connection.close();
    },
  };
}

/** Null where no answer was to be had right now. */
async function askStatus(connection: Connection, handle: WorkflowHandle): Promise<ReleaseStatus | null> {
  try {
    return await connection.withDeadline(Date.now() + LOOK_TIMEOUT_MS, () => handle.query(statusQuery));
  } catch {
    return null;
  }
}

function summary({ phase, targets }: ReleaseStatus): string {
  const each = targets.map((t) => `${t.name} ${t.step ?? t.phase} (${t.label ?? ''}) ${t.message}`);
  return `the release is ${phase}; ${each.join('; ')}`;
}

/** The word of an event as status has it: `HeldBlocked` is Held, and why. */
function asStatusSays(reason = ''): string {
  return reason.replace(/^Held(?=[A-Z])(.+)$/, 'Held ($1)');
}
