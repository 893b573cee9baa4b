import { fail, unmeasured, type Fail, type Reading, type Unmeasured } from '../core/verdict.ts';
import {
  isActive,
  isObserved,
  podsOfCurrentTemplate,
  podsOfOlderTemplates,
  type Pod,
  type Revision,
  type Workload,
} from '../core/workload.ts';
import type { TargetAddress } from './address.ts';
import { matchImageId, type ImageIndex } from './image-id.ts';
import {
  imageOf,
  isReady,
  podName,
  podTrouble,
  statusesOf,
  type NodeState,
  type PodEvent,
  type PodTrouble,
} from './pod-trouble.ts';
import { whyIncomplete } from './rollout-completion.ts';
import { kubectl, kubectlObject } from './rollback-message.ts';
import type { StuckPod } from './rollout.ts';
import { IMAGE_CHANGED, WORKLOAD_PAUSED } from './stop-reasons.ts';

/** A target as its watches tell it. */
export interface WatchedTarget {
  /** Null where it does not exist. */
  readonly workload: Workload | null;
  /** ReplicaSets of a Deployment, ControllerRevisions of a DaemonSet. */
  readonly revisions: readonly Revision[];
  readonly pods: readonly Pod[];
  /** False until everything was read once. Before that, what is missing may merely not have been read. */
  readonly complete: boolean;
  /** Why what is told may be old; null where it is not. */
  readonly interrupted: Unmeasured | null;
}

/** What the registry itself says of an image that a node could not pull. */
export type ImagePresence =
  | { readonly is: 'absent' }
  | { readonly is: 'there'; readonly platforms: readonly string[]; readonly unplatformed: number };

export interface RolloutMoment {
  readonly target: TargetAddress;
  /** `repo:tag@sha256:…` that the template must have all the while. */
  readonly image: string;
  readonly live: WatchedTarget;
  /** Whether the registry has the image; null while it has not been asked. */
  readonly presence: Reading<ImagePresence> | null;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly deadline: number;
  /** When the wait began: a pod that came up in its second half had no fair chance to become ready. */
  readonly since?: number;
  /** When the controller was first seen to have looked at this generation: its conditions settle from then on. */
  readonly observedSince?: number | null;
  /** The wait after a rollback: nothing is decided before the deadline, since there is nothing left to roll back to. */
  readonly recovering?: boolean;
  /** By name; those that were not read may be left out. */
  readonly nodes?: Readonly<Record<string, NodeState>>;
  readonly events?: readonly PodEvent[];
  /** The index of the image, from the registry; null where it is not known. */
  readonly index?: ImageIndex | null;
}

/** What a target's rollout has come to at one moment. */
export type RolloutJudgement =
  | { readonly kind: 'failed'; readonly verdict: Fail; readonly block: boolean }
  | { readonly kind: 'unmeasured'; readonly verdict: Unmeasured }
  /** Goes on; `why` is what stands between it and being ready. `askRegistry`: an image could not be pulled. */
  | { readonly kind: 'rolling'; readonly why: string; readonly askRegistry: boolean }
  /** While recovering: a broken pod of the template before, for which a StatefulSet waits for ever. */
  | { readonly kind: 'stuck'; readonly pod: StuckPod }
  | { readonly kind: 'ready'; readonly pods: readonly Pod[] };

/** How long a controller may take to put right a condition that speaks of the generation before. */
export const CONDITION_SETTLES_MS = 10_000;

/**
 * Judges a rollout by the pods that are owned by the template the workload has now, never by labels or by counters of
 * pods that are ready. What is measured to be wrong fails, at once where it cannot get better; what comes from outside
 * the image is waited for until the deadline and then is unmeasured.
 */
export function judgeRollout(moment: RolloutMoment): RolloutJudgement {
  const { target, live } = moment;
  const name = `${target.kind} ${target.namespace}/${target.workload}`;
  if (!live.complete) return waiting(moment, `${name} has not been read yet`);
  const { workload } = live;
  if (workload === null) {
    return unknown(unmeasured(name, 'API server', 'missing', `${name} does not exist any more`));
  }
  const theirs = changedByOthers(moment, workload, name);
  if (theirs !== null) return theirs;
  if (!isObserved(workload)) return waiting(moment, `the controller of ${name} has not looked at the new template yet`);
  const current = podsOfCurrentTemplate(workload, live.revisions, live.pods);
  if (current === null) return waiting(moment, `the controller of ${name} has not made its pods yet`);

  const troubles = troublesOf(moment, current.filter(isActive));
  const failed = moment.recovering === true ? null : failedAtOnce(moment, workload, troubles);
  if (failed !== null) return failed;
  const why = whyIncomplete(workload, current);
  if (why === null) return otherImage(moment, current) ?? { kind: 'ready', pods: current.filter(isActive) };
  const stuck = moment.recovering === true ? stuckPod(moment, workload) : null;
  if (stuck !== null) return stuck;
  if (!isOver(moment, workload)) return { kind: 'rolling', why: sentence(why, troubles), askRegistry: asks(troubles) };
  return timedOut(moment, workload, troubles, why);
}

type Failed = Extract<RolloutJudgement, { kind: 'failed' }>;

function failed(verdict: Fail, block: boolean): Failed {
  return { kind: 'failed', verdict, block };
}

function unknown(verdict: Unmeasured): RolloutJudgement {
  return { kind: 'unmeasured', verdict };
}

/** Goes on until the deadline, and then is unmeasured. */
function waiting(moment: RolloutMoment, why: string): RolloutJudgement {
  return moment.now < moment.deadline ? { kind: 'rolling', why, askRegistry: false } : late(moment, why);
}

function late({ target, live }: RolloutMoment, why: string): RolloutJudgement {
  const interrupted = live.interrupted === null ? '' : `; what is known may be old: ${live.interrupted.message}`;
  const name = `${target.kind} ${target.namespace}/${target.workload}`;
  const message = `${name} did not roll out in time, and nothing measured says that it is the image: ${why}${interrupted}`;
  return unknown(unmeasured(`rollout of ${target.name}`, 'API server', 'timeout', message));
}

/** What somebody did to the workload while it was watched; it is theirs, and ends the wait at once. */
function changedByOthers({ target, image }: RolloutMoment, workload: Workload, name: string): RolloutJudgement | null {
  const found = imageOf(workload.spec.template.spec, target.container);
  if (found !== image) {
    const now = found === null ? `no container ${target.container} any more` : `${found} now, not ${image}`;
    return failed(fail(IMAGE_CHANGED, `${name} has ${now}: somebody else changed it`), false);
  }
  if (workload.kind === 'Deployment' && workload.spec.paused === true) {
    const message = `${name} is paused, so nothing rolls; resume it when it may: ${kubectl(target)} rollout resume ${kubectlObject(target)}`;
    return failed(fail(WORKLOAD_PAUSED, message), false);
  }
  const strategy = workload.kind === 'Deployment' ? undefined : workload.spec.updateStrategy?.type;
  if (strategy === 'OnDelete') {
    const message = `${name} has the update strategy OnDelete by now, so nothing rolls`;
    return unknown(unmeasured(`rollout of ${target.name}`, 'API server', 'not-ready', message));
  }
  return null;
}

interface Troubled {
  readonly pod: Pod;
  readonly trouble: PodTrouble;
}

function troublesOf({ nodes = {}, events = [] }: RolloutMoment, pods: readonly Pod[]): readonly Troubled[] {
  return pods.flatMap((pod) => {
    const trouble = podTrouble(pod, { nodes, events });
    return trouble === null ? [] : [{ pod, trouble }];
  });
}

/** What cannot get better by waiting. Where several pods fail, one that proves the image bad comes first. */
function failedAtOnce(moment: RolloutMoment, workload: Workload, troubles: readonly Troubled[]): Failed | null {
  const found = troubles.map((t) => atOnce(moment, workload, t)).filter((f) => f !== null);
  return found.find((f) => f.block) ?? found[0] ?? null;
}

function atOnce(moment: RolloutMoment, workload: Workload, { pod, trouble }: Troubled): Failed | null {
  switch (trouble.kind) {
    case 'crashing':
      return failed(fail(trouble.reason, trouble.message), isOurs(moment, workload, trouble.container));
    case 'unstartable':
      return trouble.reason === 'InvalidImageName' ? failed(fail(trouble.reason, trouble.message), false) : null;
    case 'pull':
      return isOurs(moment, workload, trouble.container) ? pullFailed(moment, pod, trouble) : null;
    case 'outside':
    case 'starting':
    case 'unready':
      return null;
  }
}

/** A pull error is the image's fault only by the registry's own word; with the registry down it is nobody's. */
function pullFailed(
  { presence, nodes = {} }: RolloutMoment,
  pod: Pod,
  { reason, message }: Extract<PodTrouble, { kind: 'pull' }>,
): Failed | null {
  if (presence?.kind !== 'read') return null;
  if (presence.value.is === 'absent') {
    return failed(fail('ImageAbsent', `${message}; the registry does not have it`), true);
  }
  const platform = nodes[pod.spec?.nodeName ?? '']?.platform ?? null;
  const { platforms } = presence.value;
  if (
    platform !== null &&
    platforms.length > 0 &&
    !platforms.some((p) => p === platform || p.startsWith(`${platform}/`))
  ) {
    const has = platforms.join(', ');
    return failed(fail('WrongArchitecture', `${message}; the node is ${platform}, and the image has ${has}`), true);
  }
  // The first try may have failed by chance; the kubelet backs off once it has failed again.
  if (reason === 'ErrImagePull') return null;
  return failed(fail(reason, `${message}, although the registry has it`), false);
}

/** True for the written container, and for every other one that runs the same image. */
function isOurs({ image }: RolloutMoment, workload: Workload, container: string): boolean {
  return imageOf(workload.spec.template.spec, container) === image;
}

function asks(troubles: readonly Troubled[]): boolean {
  return troubles.some(({ trouble }) => trouble.kind === 'pull');
}

function sentence(why: string, [first]: readonly Troubled[]): string {
  return first === undefined ? why : `${why}; ${first.trouble.message}`;
}

/** A runtime that runs something else than what was written: nothing is measured about what was. */
function otherImage(
  { image, index, nodes = {}, target }: RolloutMoment,
  pods: readonly Pod[],
): RolloutJudgement | null {
  for (const pod of pods.filter(isActive)) {
    const status = statusesOf(pod).find((s) => s.name === target.container);
    const platform = nodes[pod.spec?.nodeName ?? '']?.platform ?? null;
    if (matchImageId(status?.imageID, image, index ?? null, platform) === 'different') {
      const message = `container ${target.container} of ${podName(pod)} runs ${status?.imageID ?? ''}, which is not ${image}`;
      return failed(fail(IMAGE_CHANGED, message), false);
    }
  }
  return null;
}

function stuckPod({ live }: RolloutMoment, workload: Workload): RolloutJudgement | null {
  if (workload.kind !== 'StatefulSet') return null;
  const pod = podsOfOlderTemplates(workload, live.revisions, live.pods).find(
    (p) => !isReady(p) && statusesOf(p).some((s) => s.state?.waiting !== undefined || s.restartCount > 0),
  );
  return pod?.metadata.uid === undefined
    ? null
    : { kind: 'stuck', pod: { name: pod.metadata.name, uid: pod.metadata.uid } };
}

/** The deadline has come, or the controller itself has given up on this very generation. */
function isOver({ now, deadline, observedSince = null }: RolloutMoment, workload: Workload): boolean {
  if (now >= deadline) return true;
  if (observedSince === null || now < observedSince + CONDITION_SETTLES_MS) return false;
  return (workload.status?.conditions ?? []).some(
    (c) => c.type === 'Progressing' && c.status === 'False' && c.reason === 'ProgressDeadlineExceeded',
  );
}

/** After the deadline: what ran and was not ready was measured, and so was what could not be started. */
function timedOut(
  moment: RolloutMoment,
  workload: Workload,
  troubles: readonly Troubled[],
  why: string,
): RolloutJudgement {
  const name = `${moment.target.kind} ${moment.target.namespace}/${moment.target.workload}`;
  const measured = troubles.find(({ trouble }) => isMeasured(moment, workload, trouble));
  if (measured !== undefined) {
    const message = `${name} did not become ready in time: ${why}; ${measured.trouble.message}`;
    return failed(fail('RolloutTimeout', message), blocks(moment, workload, measured.trouble));
  }
  const { presence } = moment;
  const registry = presence?.kind === 'unmeasured' ? `; the registry does not tell: ${presence.message}` : '';
  return late(moment, `${sentence(why, troubles)}${registry}`);
}

function isMeasured(moment: RolloutMoment, workload: Workload, trouble: PodTrouble): boolean {
  const { since, deadline } = moment;
  switch (trouble.kind) {
    case 'crashing':
    case 'unstartable':
      return true;
    case 'unready':
      return since === undefined || trouble.runsSince === null || trouble.runsSince <= since + (deadline - since) / 2;
    case 'pull':
      return moment.presence?.kind === 'read' && isOurs(moment, workload, trouble.container);
    case 'outside':
    case 'starting':
      return false;
  }
}

/** A configuration that is missing and a pull that failed once prove nothing against the digest. */
function blocks(moment: RolloutMoment, workload: Workload, trouble: PodTrouble): boolean {
  if (moment.recovering === true) return false;
  switch (trouble.kind) {
    case 'unready':
      return true;
    case 'crashing':
      return isOurs(moment, workload, trouble.container);
    case 'unstartable':
      return trouble.reason !== 'CreateContainerConfigError' && isOurs(moment, workload, trouble.container);
    case 'pull':
    case 'outside':
    case 'starting':
      return false;
  }
}
