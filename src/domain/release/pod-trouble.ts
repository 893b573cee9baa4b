import { counted } from '../core/counted.ts';
import type { Condition, Container, ContainerStatus, Pod, PodSpec } from '../core/workload.ts';
import { own } from '../core/own.ts';

/** Why a pod is not ready, by what it means for the image. */
export type PodTrouble =
  /** Measured: a container fails again and again. */
  | { readonly kind: 'crashing'; readonly reason: string; readonly message: string; readonly container: string }
  /** An image cannot be pulled, which may be the registry's, the node's or the image's fault. */
  | { readonly kind: 'pull'; readonly reason: string; readonly message: string; readonly container: string }
  /** A container cannot be made or started, although its image is there. */
  | { readonly kind: 'unstartable'; readonly reason: string; readonly message: string; readonly container: string }
  /** Something outside the image: eviction, the node, no capacity, a missing volume. Nothing is measured about it. */
  | { readonly kind: 'outside'; readonly message: string }
  /** Nothing runs yet: nothing is measured. */
  | { readonly kind: 'starting'; readonly message: string }
  /** It runs, or has ended, and is not ready. Measured once it has had its time. */
  | { readonly kind: 'unready'; readonly message: string; readonly runsSince: number | null };

/** What is known of a node; what was not read is null. */
export interface NodeState {
  readonly ready: boolean | null;
  readonly cordoned: boolean | null;
  /** Such as `linux/amd64`. */
  readonly platform: string | null;
}

/** An event about a pod. */
export interface PodEvent {
  readonly podUid: string;
  /** Such as `FailedMount`. */
  readonly reason: string;
  readonly message: string;
}

export interface PodSurroundings {
  /** By name of the node. */
  readonly nodes: Readonly<Record<string, NodeState>>;
  readonly events: readonly PodEvent[];
}

/** Reasons of `waiting` with which the kubelet says that it has no image to run. */
const pullReasons = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'RegistryUnavailable',
  'ImageInspectError',
  'SignatureValidationFailed',
]);

/** Reasons of `waiting` with which the kubelet says that it has the image and cannot run it. */
const unstartableReasons = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'PreCreateHookError',
  'PreStartHookError',
  'PostStartHookError',
]);

/** Reasons of events that tell why a pod's containers are not even created. */
const volumeReasons = new Set(['FailedMount', 'FailedAttachVolume', 'FailedMapVolume', 'FailedCreatePodSandBox']);

/** Why an active pod is not ready; null where it is. */
export function podTrouble(pod: Pod, { nodes, events }: PodSurroundings): PodTrouble | null {
  if (isReady(pod)) return null;
  return failing(pod) ?? outside(pod, nodes, events) ?? stillComing(pod);
}

/** The pod's own word for being ready. */
export function isReady(pod: Pod): boolean {
  return conditionOf(pod, 'Ready')?.status === 'True';
}

/** Statuses of all containers, init containers first: one that fails there keeps the others from starting. */
export function statusesOf(pod: Pod): readonly ContainerStatus[] {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
}

/** Such as `pod shop/web-7d9f`. */
export function podName({ metadata }: Pod): string {
  return `pod ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;
}

/** The image that a template has for a container. */
export function imageOf({ containers, initContainers = [] }: PodSpec, name: string): string | null {
  return [...containers, ...initContainers].find((container: Container) => container.name === name)?.image ?? null;
}

/** How a container last ended, in words: `it ended with exit code 1 (Error)`. */
export function lastEnd(status: ContainerStatus): string {
  const ended = status.state?.terminated ?? status.lastState?.terminated;
  if (ended === undefined) return counted(status.restartCount, 'restart');
  const why = ended.reason === undefined ? '' : ` (${ended.reason})`;
  return `it ended with exit code ${ended.exitCode}${why}, ${counted(status.restartCount, 'restart')}`;
}

function failing(pod: Pod): PodTrouble | null {
  for (const status of statusesOf(pod)) {
    const reason = status.state?.waiting?.reason ?? '';
    const container = status.name;
    const what = `container ${container} of ${podName(pod)}`;
    const detail = status.state?.waiting?.message;
    const more = detail === undefined ? '' : `: ${detail}`;
    if (reason === 'CrashLoopBackOff') {
      return { kind: 'crashing', reason, message: `${what} crashes again and again: ${lastEnd(status)}`, container };
    }
    if (reason === 'InvalidImageName') {
      return { kind: 'unstartable', reason, message: `${what} has an image name that is not valid${more}`, container };
    }
    if (pullReasons.has(reason)) {
      return { kind: 'pull', reason, message: `${what} cannot get its image (${reason})${more}`, container };
    }
    if (unstartableReasons.has(reason)) {
      return { kind: 'unstartable', reason, message: `${what} cannot be started (${reason})${more}`, container };
    }
  }
  return null;
}

function outside(pod: Pod, nodes: PodSurroundings['nodes'], events: PodSurroundings['events']): PodTrouble | null {
  const name = podName(pod);
  const disrupted = conditionOf(pod, 'DisruptionTarget');
  if (disrupted?.status === 'True') {
    return { kind: 'outside', message: `${name} is being evicted (${disrupted.reason ?? 'DisruptionTarget'})` };
  }
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (scheduled?.status === 'False') {
    return { kind: 'outside', message: `${name} is not scheduled: ${scheduled.message ?? scheduled.reason ?? ''}` };
  }
  const nodeName = pod.spec?.nodeName ?? '';
  const node = own(nodes, nodeName);
  if (pod.status?.reason === 'NodeLost' || node?.ready === false) {
    return { kind: 'outside', message: `${name} is on node ${nodeName}, which is not ready` };
  }
  if (node?.cordoned === true) {
    return { kind: 'outside', message: `${name} is on node ${nodeName}, which is cordoned` };
  }
  if (hasStarted(pod)) return null;
  const volume = events.find((event) => event.podUid === pod.metadata.uid && volumeReasons.has(event.reason));
  return volume === undefined
    ? null
    : { kind: 'outside', message: `${name} cannot be set up (${volume.reason}): ${volume.message}` };
}

function stillComing(pod: Pod): PodTrouble {
  const name = podName(pod);
  if (!hasStarted(pod)) return { kind: 'starting', message: `${name} has not started a container yet` };
  const why = conditionOf(pod, 'Ready')?.message ?? 'it is not ready';
  const ended = statusesOf(pod).find((status) => (status.state?.terminated?.exitCode ?? 0) !== 0);
  const message =
    ended === undefined
      ? `${name} runs but is not ready: ${why}`
      : `container ${ended.name} of ${name} has failed: ${lastEnd(ended)}`;
  return { kind: 'unready', message, runsSince: runsSince(pod) };
}

/** Some container runs or has run: from then on the pod says something about its images. */
function hasStarted(pod: Pod): boolean {
  return statusesOf(pod).some(
    ({ state, lastState }) =>
      state?.running !== undefined || state?.terminated !== undefined || lastState?.terminated !== undefined,
  );
}

/** Since when the pod has been running, at most: the earliest start that its containers tell. */
function runsSince(pod: Pod): number | null {
  const starts = statusesOf(pod)
    .flatMap(({ state, lastState }) => [state?.running, state?.terminated, lastState?.terminated])
    .map((run) => Date.parse(run?.startedAt ?? ''))
    .filter((start) => !Number.isNaN(start));
  return starts.length === 0 ? null : Math.min(...starts);
}

function conditionOf(pod: Pod, type: string): Condition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}
