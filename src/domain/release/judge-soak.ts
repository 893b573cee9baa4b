import { fail, pass, unmeasured, type Fail, type Reading, type Verdict } from '../core/verdict.ts';
import { isActive, podsOfCurrentTemplate, type ContainerStatus, type Pod } from '../core/workload.ts';
import { own, setOwn } from '../core/own.ts';
import type { TargetAddress } from './address.ts';
import type { WatchedTarget } from './judge-rollout.ts';
import type { Placement } from './observation.ts';
import { comparePlacements } from './placements.ts';
import { imageOf, isReady, lastEnd, podName, podTrouble, statusesOf, type PodSurroundings } from './pod-trouble.ts';
import { whyIncomplete } from './rollout-completion.ts';
import type { Check } from './spec.ts';
import { IMAGE_CHANGED } from './stop-reasons.ts';

/** How far a soak is. Plain JSON: it travels in heartbeats, and a worker that takes over goes on from it. */
export interface SoakProgress {
  /**
   * Restart counts per `podUid/container` above which a restart is one. Those of a pod that came later are taken when
   * it is first ready: until then it has proven nothing either way.
   */
  readonly restarts: Readonly<Record<string, number>>;
  /** Samples in which health was measured, good or bad. */
  readonly samples: number;
  /** Of health, and of each check by its name. */
  readonly streaks: Readonly<Record<string, Streak>>;
  /** When the last sample was taken, epoch milliseconds; null before the first. */
  readonly sampledAt: number | null;
  /** Samples past the soak's end. Counted and not timed, so that the time in which no worker ran does not end a soak. */
  readonly late: number;
}

/** What came in a row, up to now. */
export interface Streak {
  readonly failures: number;
  readonly unmeasured: number;
}

export interface SoakParams {
  readonly target: TargetAddress;
  readonly image: string;
  /** Agents that were there before the change; null where the target has none. */
  readonly placements: readonly Placement[] | null;
  readonly minimumSamples: number;
  readonly probeIntervalMs: number;
  /** Epoch milliseconds at which the soak may pass. */
  readonly until: number;
}

/** One sample: what was asked of the pods and of Prometheus at one time. */
export interface SoakSample {
  /** Null where the target's health is its readiness alone. */
  readonly health: Verdict | null;
  /** Null where the target has no agents. */
  readonly agents: Reading<readonly Placement[]> | null;
  readonly checks: readonly CheckReading[];
}

export interface CheckReading {
  readonly check: Check;
  readonly value: Reading<number>;
}

/** What one step of a soak came to; a verdict ends it. */
export interface SoakStep {
  readonly progress: SoakProgress;
  readonly verdict: Verdict | null;
  /** With a failed verdict: the image itself is proven bad. */
  readonly block: boolean;
}

/** Measured failures in a row that fail a soak. */
export const FAILURES_THAT_FAIL = 2;
/** Unmeasured samples in a row that end it. */
export const UNMEASURED_THAT_END = 5;
/** How many samples may follow the one at its end for what a soak still lacks. */
export const EXTRA_SAMPLES = 5;

/** The name under which health is counted, beside the checks; no check can be called so. */
const HEALTH = 'health of the target';

/** A soak that begins with what the gate has counted. */
export function startSoak(restarts: Readonly<Record<string, number>>): SoakProgress {
  return { restarts, samples: 0, streaks: {}, sampledAt: null, late: 0 };
}

/** When the next sample is due, epoch milliseconds: every interval, and once at the very end. */
export function sampleDueAt({ sampledAt }: SoakProgress, { probeIntervalMs, until }: SoakParams, now: number): number {
  if (sampledAt === null) return now;
  const next = sampledAt + probeIntervalMs;
  return sampledAt < until ? Math.min(next, until) : next;
}

/**
 * Judges a soak by what the watches tell now. A crash loop, a restart, a container that has ended and another image in
 * the template end it at once; a pod that was evicted or lost with its node is no failure, and its replacement starts
 * with counts of its own.
 */
export function watchStep(
  progress: SoakProgress,
  live: WatchedTarget,
  params: SoakParams,
  surroundings: PodSurroundings = { nodes: {}, events: [] },
): SoakStep {
  if (!live.complete) return { progress, verdict: null, block: false };
  const { target, image } = params;
  const name = `${target.kind} ${target.namespace}/${target.workload}`;
  const { workload } = live;
  if (workload === null) {
    return ends(progress, unmeasured(name, 'API server', 'missing', `${name} does not exist any more`));
  }
  const template = workload.spec.template.spec;
  const found = imageOf(template, target.container);
  if (found !== image) {
    const message = `${name} has ${found ?? `no container ${target.container}`} now, not ${image}: somebody else changed it`;
    return ends(progress, fail(IMAGE_CHANGED, message));
  }
  const seen = { ...progress, restarts: { ...progress.restarts } };
  for (const pod of soakingPods(live)) {
    const trouble = podTrouble(pod, surroundings);
    if (trouble?.kind === 'outside') continue;
    for (const status of statusesOf(pod)) {
      const broken = brokenContainer(pod, status, seen.restarts);
      if (broken !== null) {
        return { progress: seen, verdict: broken, block: imageOf(template, status.name) === image };
      }
    }
    if (trouble === null) seen.restarts = withBaseline(seen.restarts, pod);
  }
  return { progress: seen, verdict: null, block: false };
}

/** The live pods of the template that soaks. */
export function soakingPods({ workload, revisions, pods }: WatchedTarget): readonly Pod[] {
  if (workload === null) return [];
  return (podsOfCurrentTemplate(workload, revisions, pods) ?? []).filter(isActive);
}

/** Takes a sample in, and says whether the soak ends with it. */
export function sampleStep(
  progress: SoakProgress,
  live: WatchedTarget,
  sample: SoakSample,
  params: SoakParams,
  now: number,
  surroundings: PodSurroundings = { nodes: {}, events: [] },
): SoakStep {
  const lost = lostAgents(params, sample.agents);
  const verdicts: Record<string, Verdict> = { [HEALTH]: healthOf(progress, live, sample, params, surroundings) };
  for (const reading of sample.checks) setOwn(verdicts, reading.check.name, checkVerdict(reading));

  const streaks: Record<string, Streak> = {};
  for (const [name, verdict] of Object.entries(verdicts))
    setOwn(streaks, name, counted(own(progress.streaks, name), verdict));
  const measured = verdicts[HEALTH]?.kind !== 'unmeasured';
  const counts = {
    ...progress,
    streaks,
    samples: progress.samples + (measured ? 1 : 0),
    sampledAt: now,
    late: progress.late + (now < params.until ? 0 : 1),
  };
  if (lost !== null) return { progress: counts, verdict: lost, block: true };

  const failing = Object.entries(verdicts).find(([name]) => (own(streaks, name)?.failures ?? 0) >= FAILURES_THAT_FAIL);
  if (failing !== undefined) return { progress: counts, verdict: inARow(failing[1]), block: true };
  const unknown = Object.entries(verdicts).find(
    ([name]) => (own(streaks, name)?.unmeasured ?? 0) >= UNMEASURED_THAT_END,
  );
  if (unknown !== undefined) return ends(counts, unknown[1]);
  return atTheEnd(counts, live, verdicts, params, now);
}

/** Past its end a soak passes, fails to get what it lacks within a bounded time, or goes on. */
function atTheEnd(
  progress: SoakProgress,
  live: WatchedTarget,
  verdicts: Readonly<Record<string, Verdict>>,
  params: SoakParams,
  now: number,
): SoakStep {
  const { until, minimumSamples, target } = params;
  if (now < until) return { progress, verdict: null, block: false };
  const lacks = whatLacks(progress, live, verdicts, minimumSamples);
  if (lacks === null) return ends(progress, pass(`soaked with ${progress.samples} measured samples`));
  if (progress.late <= Math.max(EXTRA_SAMPLES, minimumSamples)) return { progress, verdict: null, block: false };
  const message = `the soak of ${target.name} did not come to an end in time: ${lacks}`;
  return ends(progress, unmeasured(`soak of ${target.name}`, 'Holdfast', 'timeout', message));
}

function whatLacks(
  { samples }: SoakProgress,
  live: WatchedTarget,
  verdicts: Readonly<Record<string, Verdict>>,
  minimumSamples: number,
): string | null {
  const bad = Object.entries(verdicts).find(([, verdict]) => verdict.kind !== 'pass');
  if (bad !== undefined) return `the last sample of ${bad[0]}: ${bad[1].message ?? ''}`;
  if (samples < minimumSamples) return `${samples} of at least ${minimumSamples} samples were measured`;
  return live.workload === null ? 'the workload is gone' : whyIncomplete(live.workload, soakingPods(live));
}

function ends(progress: SoakProgress, verdict: Verdict): SoakStep {
  return { progress, verdict, block: false };
}

function brokenContainer(pod: Pod, status: ContainerStatus, restarts: Readonly<Record<string, number>>): Fail | null {
  const what = `container ${status.name} of ${podName(pod)}`;
  if (status.state?.waiting?.reason === 'CrashLoopBackOff') {
    return fail('CrashLoopBackOff', `${what} crashes again and again: ${lastEnd(status)}`);
  }
  if (isLostWithNode(status)) return null;
  const before = own(restarts, keyOf(pod, status));
  if (before !== undefined && status.restartCount > before) {
    return fail('Restarted', `${what} has restarted during the soak: ${lastEnd(status)}`);
  }
  const isInit = pod.status?.initContainerStatuses?.includes(status) === true;
  if (!isInit && before !== undefined && status.state?.terminated !== undefined) {
    return fail('Terminated', `${what} has ended during the soak: ${lastEnd(status)}`);
  }
  return null;
}

/** A container whose end nobody saw, as after a node's reboot: that is the node's doing. */
function isLostWithNode({ state, lastState }: ContainerStatus): boolean {
  const ended = state?.terminated ?? lastState?.terminated;
  return ended?.reason === 'ContainerStatusUnknown' || (ended?.reason === 'Unknown' && ended.exitCode === 255);
}

/** A pod that is ready for the first time, or again after its node was lost, counts from here. */
function withBaseline(restarts: Readonly<Record<string, number>>, pod: Pod): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { ...restarts };
  for (const status of statusesOf(pod)) {
    const key = keyOf(pod, status);
    if (own(counts, key) === undefined || isLostWithNode(status)) setOwn(counts, key, status.restartCount);
  }
  return counts;
}

function keyOf(pod: Pod, status: ContainerStatus): string {
  return `${pod.metadata.uid ?? ''}/${status.name}`;
}

/** An agent that is not there any more fails the soak at once; `paused` is not looked at. */
function lostAgents({ target, placements }: SoakParams, agents: SoakSample['agents']): Fail | null {
  if (placements === null || agents?.kind !== 'read') return null;
  const { lost } = comparePlacements(placements, agents.value);
  if (lost.length === 0) return null;
  return fail('AgentLost', `${target.name} has lost ${lost.join(', ')}, which ran there before`);
}

/** Readiness, health and the agents as one: what is measured to be wrong outweighs what is not measured. */
function healthOf(
  { restarts }: SoakProgress,
  live: WatchedTarget,
  { health, agents }: SoakSample,
  { target }: SoakParams,
  surroundings: PodSurroundings,
): Verdict {
  const verdicts: Verdict[] = [readiness(live, restarts, target, surroundings), ...(health === null ? [] : [health])];
  const wrong = verdicts.find((verdict) => verdict.kind === 'fail');
  if (wrong !== undefined) return wrong;
  const unknown = verdicts.find((verdict) => verdict.kind === 'unmeasured');
  if (unknown !== undefined) return unknown;
  return agents?.kind === 'unmeasured' ? agents : pass();
}

/** A pod that was ready and is not any more was measured. One that is still coming says nothing, good or bad. */
function readiness(
  live: WatchedTarget,
  restarts: Readonly<Record<string, number>>,
  target: TargetAddress,
  surroundings: PodSurroundings,
): Verdict {
  const what = `pods of ${target.name}`;
  if (live.interrupted !== null) return live.interrupted;
  const pods = soakingPods(live);
  const fallen = pods.find(
    (pod) =>
      !isReady(pod) &&
      podTrouble(pod, surroundings)?.kind !== 'outside' &&
      statusesOf(pod).some((status) => own(restarts, keyOf(pod, status)) !== undefined),
  );
  if (fallen !== undefined) return fail('NotReady', `${podName(fallen)} is not ready any more`);
  if (pods.some(isReady)) return pass();
  const [first] = pods;
  const trouble = first === undefined ? null : podTrouble(first, surroundings);
  const why = trouble === null ? 'there is none of the current template' : trouble.message;
  return unmeasured(what, 'API server', 'not-ready', `no pod of ${target.name} can be asked: ${why}`);
}

function checkVerdict({ check, value }: CheckReading): Verdict {
  if (value.kind === 'unmeasured') return value;
  const { name, max, min } = check;
  if (Number.isNaN(value.value)) {
    return unmeasured(`check ${name}`, 'Prometheus', 'empty', `check ${name} has no value (NaN)`);
  }
  if (max !== undefined && value.value > max)
    return fail('CheckFailed', `check ${name} is ${value.value}, above ${max}`);
  if (min !== undefined && value.value < min)
    return fail('CheckFailed', `check ${name} is ${value.value}, below ${min}`);
  return pass(`check ${name} is ${value.value}`);
}

function counted(before: Streak = { failures: 0, unmeasured: 0 }, verdict: Verdict): Streak {
  switch (verdict.kind) {
    case 'pass':
      return { failures: 0, unmeasured: 0 };
    case 'fail':
      return { failures: before.failures + 1, unmeasured: 0 };
    case 'unmeasured':
      // Between two failures it proves nothing, so it neither counts as one nor ends their row.
      return { failures: before.failures, unmeasured: before.unmeasured + 1 };
  }
}

function inARow(verdict: Verdict): Verdict {
  return verdict.kind === 'fail'
    ? fail(verdict.reason, `${FAILURES_THAT_FAIL} times in a row: ${verdict.message}`)
    : verdict;
}
