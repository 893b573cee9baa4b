import { fail, unmeasured, type Fail, type Reading, type Unmeasured } from '../../domain/core/verdict.ts';
import {
  isActive,
  isObserved,
  podsOfCurrentTemplate,
  podsOfOlderTemplates,
  type ContainerStatus,
  type Pod,
} from '../../domain/core/workload.ts';
import type { TargetAddress } from '../../domain/release/address.ts';
import type { StuckPod } from '../../domain/release/rollout.ts';
import { IMAGE_CHANGED, WORKLOAD_PAUSED } from '../../domain/release/stop-reasons.ts';
import type { LiveTarget } from './follow-target.ts';
import type { ImagePresence } from './image-presence.ts';
import { replicasOf } from './snapshot.ts';
import { containerIn, workloadName, type WorkloadObject } from './workload.ts';

/** What a target's rollout has come to at one moment. */
export type RolloutStep =
  | { readonly kind: 'failed'; readonly verdict: Fail; readonly block: boolean }
  | { readonly kind: 'unmeasured'; readonly verdict: Unmeasured }
  /** Goes on; `why` is what stands between it and being ready. `askRegistry`: an image could not be pulled. */
  | { readonly kind: 'rolling'; readonly why: string; readonly askRegistry: boolean }
  | { readonly kind: 'stuck'; readonly pod: StuckPod }
  | { readonly kind: 'ready'; readonly pods: readonly Pod[] };

export interface RolloutMoment {
  readonly target: TargetAddress;
  /** What the template must have all the while. */
  readonly image: string;
  readonly live: LiveTarget;
  /** Whether the registry has the image; null while it has not been asked. */
  readonly presence: Reading<ImagePresence> | null;
  readonly now: number;
  readonly deadline: number;
}

/** Judges a rollout by ownership: only pods of the template that the workload has now count. */
export function rolloutStep(moment: RolloutMoment): RolloutStep {
  const { target, live, image } = moment;
  const name = workloadName(target);
  if (!live.complete) return late(moment, `${name} has not been read yet`) ?? rolling(`${name} is being read`);
  const { workload } = live;
  if (workload === null) {
    return {
      kind: 'unmeasured',
      verdict: unmeasured(name, 'API server', 'missing', `${name} does not exist any more`),
    };
  }
  const found = containerIn(workload, target.container)?.image ?? 'no such container';
  if (found !== image) {
    return failed(fail(IMAGE_CHANGED, `${name} has ${found} now, not ${image}: somebody else changed it`), false);
  }
  if (workload.kind === 'Deployment' && workload.spec.paused === true) {
    return failed(fail(WORKLOAD_PAUSED, `${name} was paused, so nothing rolls`), false);
  }
  const current = podsOfCurrentTemplate(workload, live.revisions, live.pods);
  if (current === null) return late(moment, `${name}: its controller made no pods`) ?? rolling(`${name}: no pods yet`);
  const pods = current.filter(isActive);
  const broken = brokenContainer(moment, pods);
  if (broken !== null) return broken;
  if (isRolledOut(workload, pods)) return { kind: 'ready', pods };
  const stuck = stuckPod(workload, live);
  if (stuck !== null) return { kind: 'stuck', pod: stuck };
  return timedOut(moment, workload, pods) ?? rolling(progressOf(workload, pods));
}

function failed(verdict: Fail, block: boolean): RolloutStep {
  return { kind: 'failed', verdict, block };
}

function rolling(why: string, askRegistry = false): RolloutStep {
  return { kind: 'rolling', why, askRegistry };
}

const pullErrors = new Set(['ErrImagePull', 'ImagePullBackOff', 'ErrImageNeverPull', 'InvalidImageName']);

/** A container that cannot run, init containers too; the first one found decides. */
function brokenContainer(moment: RolloutMoment, pods: readonly Pod[]): RolloutStep | null {
  for (const pod of pods) {
    for (const status of statusesOf(pod)) {
      const reason = status.state?.waiting?.reason ?? '';
      if (reason === 'CrashLoopBackOff') {
        return failed(
          fail(
            'CrashLoopBackOff',
            `container ${status.name} of ${podName(pod)} crashes again and again: ${lastEnd(status)}`,
          ),
          true,
        );
      }
      if (pullErrors.has(reason)) return pullError(moment, pod, status, reason);
    }
  }
  return null;
}

/** A pull error is the image's only by the registry's own word; with the registry down it is nobody's. */
function pullError(
  { presence, image, ...moment }: RolloutMoment,
  pod: Pod,
  status: ContainerStatus,
  reason: string,
): RolloutStep {
  const what = `container ${status.name} of ${podName(pod)} cannot pull ${status.image ?? image} (${reason})`;
  if (presence === null) return rolling(what, true);
  if (presence.kind === 'unmeasured') {
    return (
      late({ presence, image, ...moment }, `${what}, and the registry does not tell: ${presence.message}`) ??
      rolling(what, true)
    );
  }
  if (presence.value.is === 'absent') return failed(fail('ImagePull', `${what}: the registry does not have it`), true);
  if (reason === 'ErrImagePull') return rolling(what);
  return failed(fail('ImagePull', `${what}, although the registry has it`), false);
}

/** Whether the controller has done all it has to on the newest spec, and every pod of it is ready. */
function isRolledOut(workload: WorkloadObject, pods: readonly Pod[]): boolean {
  if (!isObserved(workload)) return false;
  const wanted = replicasOf(workload);
  const { status } = workload;
  const ready = pods.length === wanted && pods.every(isReady);
  if (workload.kind === 'DaemonSet') {
    const { updatedNumberScheduled = 0, numberAvailable = 0 } = workload.status ?? {};
    return ready && wanted > 0 && updatedNumberScheduled === wanted && numberAvailable === wanted;
  }
  const {
    updatedReplicas = 0,
    availableReplicas = 0,
    replicas = 0,
  } = (status ?? {}) as {
    updatedReplicas?: number;
    availableReplicas?: number;
    replicas?: number;
  };
  return ready && wanted > 0 && updatedReplicas === wanted && availableReplicas === wanted && replicas === wanted;
}

/** A pod of an older template that cannot run keeps a StatefulSet from replacing it: it waits for that pod for ever. */
function stuckPod(workload: WorkloadObject, live: LiveTarget): StuckPod | null {
  if (workload.kind !== 'StatefulSet' || !isObserved(workload)) return null;
  const pod = podsOfOlderTemplates(workload, live.revisions, live.pods).find(
    (p) => !isReady(p) && statusesOf(p).some((s) => s.state?.waiting?.reason !== undefined || s.restartCount > 0),
  );
  return pod?.metadata.uid === undefined ? null : { name: pod.metadata.name, uid: pod.metadata.uid };
}

/** After the deadline: a pod that runs and is not ready was measured; one that could not even start was not. */
function timedOut(moment: RolloutMoment, workload: WorkloadObject, pods: readonly Pod[]): RolloutStep | null {
  if (moment.now < moment.deadline) return null;
  const running = pods.find(
    (pod) =>
      !isReady(pod) && statusesOf(pod).some((s) => s.state?.running !== undefined || s.state?.terminated !== undefined),
  );
  if (running === undefined) return late(moment, progressOf(workload, pods));
  const node = condition(running, 'DisruptionTarget');
  if (node?.status === 'True') return late(moment, progressOf(workload, pods));
  return failed(
    fail('NotReady', `${podName(running)} runs but did not become ready in time: ${whyNotReady(running)}`),
    true,
  );
}

function late({ now, deadline, target, live }: RolloutMoment, why: string): RolloutStep | null {
  if (now < deadline) return null;
  const interrupted = live.interrupted === null ? '' : `; the API server does not answer: ${live.interrupted.message}`;
  const message = `${workloadName(target)} did not roll out in time, and not because of what was measured: ${why}${interrupted}`;
  return { kind: 'unmeasured', verdict: unmeasured(`rollout of ${target.name}`, 'API server', 'timeout', message) };
}

function progressOf(workload: WorkloadObject, pods: readonly Pod[]): string {
  const waiting = pods.find((pod) => !isReady(pod));
  const ready = pods.filter(isReady).length;
  const first = waiting === undefined ? 'old pods are still there' : `${podName(waiting)}: ${whyNotReady(waiting)}`;
  return `${ready} of ${replicasOf(workload)} pods are ready; ${first}`;
}

function whyNotReady(pod: Pod): string {
  const waiting = statusesOf(pod).find((s) => s.state?.waiting?.reason !== undefined);
  if (waiting !== undefined) return `container ${waiting.name} waits: ${waiting.state?.waiting?.reason ?? ''}`;
  const scheduled = condition(pod, 'PodScheduled');
  if (scheduled?.status === 'False') return scheduled.message ?? 'it is not scheduled';
  return condition(pod, 'Ready')?.message ?? `phase ${pod.status?.phase ?? 'unknown'}`;
}

function lastEnd(status: ContainerStatus): string {
  const ended = status.state?.terminated ?? status.lastState?.terminated;
  if (ended === undefined) return `${status.restartCount} restarts`;
  return `it ended with ${ended.exitCode}${ended.reason === undefined ? '' : ` (${ended.reason})`}, ${status.restartCount} restarts`;
}

export function statusesOf(pod: Pod): readonly ContainerStatus[] {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
}

export function isReady(pod: Pod): boolean {
  return condition(pod, 'Ready')?.status === 'True';
}

function condition(pod: Pod, type: string) {
  return pod.status?.conditions?.find((c) => c.type === type);
}

export function podName(pod: Pod): string {
  return `pod ${pod.metadata.namespace ?? ''}/${pod.metadata.name}`;
}
