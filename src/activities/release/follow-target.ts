import type { Unmeasured } from '../../domain/core/verdict.ts';
import type { Pod, Revision } from '../../domain/core/workload.ts';
import type { TargetAddress } from '../../domain/release/address.ts';
import type { WatchedTarget } from '../../domain/release/judge-rollout.ts';
import type { KubeObject, KubernetesPort, ListQuery, WatchEvent } from '../kubernetes/port.ts';
import type { Pulse } from '../pulse.ts';
import { selectorText, type WorkloadObject } from './workload.ts';

/** A target as its watches tell it, kept up to date. */
export type LiveTarget = WatchedTarget & { readonly workload: WorkloadObject | null };

/**
 * Follows a target by three watches (the workload; its pods; its ReplicaSets or ControllerRevisions) while `work` runs.
 * `pulse` happens on every event. The watches end with the work.
 *
 * @param work gets a function that tells the target as it is now
 */
export async function following<T>(
  port: KubernetesPort,
  target: TargetAddress,
  pulse: Pulse,
  signal: AbortSignal,
  work: (now: () => LiveTarget) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const until = AbortSignal.any([signal, end.signal]);
  const workloads = keep<WorkloadObject>();
  const pods = keep<Pod & KubeObject>();
  const revisions = keep<Revision & KubeObject>();
  // Ownership decides which pods count, by uid; the selector only keeps the rest of the namespace away.
  let selector: string | null = null;
  const running: Promise<void>[] = [];

  function follow<O extends KubeObject>(query: ListQuery, kept: Kept<O>, then: () => void = () => undefined): void {
    running.push(
      consume(port.watch<O>(query, { signal: until }), kept, () => {
        then();
        pulse.happened();
      }),
    );
  }

  function followPods(): void {
    const [workload] = workloads.items();
    if (workload === undefined || selector !== null) return;
    selector = selectorText(workload.spec.selector);
    const inNamespace = { namespace: target.namespace, labelSelector: selector };
    follow({ apiVersion: 'v1', kind: 'Pod', ...inNamespace }, pods);
    if (target.kind === 'StatefulSet') return;
    const kind = target.kind === 'Deployment' ? 'ReplicaSet' : 'ControllerRevision';
    follow({ apiVersion: 'apps/v1', kind, ...inNamespace }, revisions);
  }

  function now(): LiveTarget {
    const [workload] = workloads.items();
    const listed = pods.listed() && (revisions.listed() || target.kind === 'StatefulSet');
    return {
      // Items of a list do not say their kind.
      workload: workload === undefined ? null : { ...workload, kind: target.kind },
      revisions: revisions.items(),
      pods: pods.items(),
      complete: workloads.listed() && (listed || workload === undefined),
      interrupted: workloads.interrupted() ?? pods.interrupted() ?? revisions.interrupted(),
    };
  }

  const one: ListQuery = {
    apiVersion: 'apps/v1',
    kind: target.kind,
    namespace: target.namespace,
    fieldSelector: `metadata.name=${target.workload}`,
  };
  try {
    follow(one, workloads, followPods);
    return await work(now);
  } finally {
    end.abort();
    await Promise.allSettled(running);
  }
}

/** Objects of one watch, by uid. */
interface Kept<O> {
  take(event: WatchEvent<O>): void;
  items(): O[];
  listed(): boolean;
  interrupted(): Unmeasured | null;
}

function keep<O extends KubeObject>(): Kept<O> {
  const objects = new Map<string, O>();
  let listed = false;
  let interrupted: Unmeasured | null = null;
  const key = ({ metadata }: O) => metadata.uid ?? metadata.name;
  return {
    take(event) {
      if (event.type === 'interrupted') {
        interrupted = event.reading;
        return;
      }
      interrupted = null;
      if (event.type === 'listed') {
        listed = true;
        objects.clear();
        for (const object of event.items) objects.set(key(object), object);
      } else if (event.type === 'deleted') objects.delete(key(event.object));
      else objects.set(key(event.object), event.object);
    },
    items: () => [...objects.values()],
    listed: () => listed,
    interrupted: () => interrupted,
  };
}

async function consume<O extends KubeObject>(
  events: AsyncGenerator<WatchEvent<O>, void, undefined>,
  kept: Kept<O>,
  happened: () => void,
): Promise<void> {
  for await (const event of events) {
    kept.take(event);
    happened();
  }
}
