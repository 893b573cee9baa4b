import { fail, pass, unmeasured, type Fail, type Verdict } from '../../domain/core/verdict.ts';
import { isActive, podsOfCurrentTemplate, type Pod } from '../../domain/core/workload.ts';
import type { Placement } from '../../domain/release/observation.ts';
import { IMAGE_CHANGED } from '../../domain/release/stop-reasons.ts';
import type { TargetAddress } from '../../domain/release/address.ts';
import type { CheckReading } from './ask-checks.ts';
import { comparePlacements } from './compare-placements.ts';
import type { LiveTarget } from './follow-target.ts';
import type { GateAnswers } from './gate.ts';
import { isReady, podName, statusesOf } from './rollout-step.ts';
import { containerIn, workloadName } from './workload.ts';

/** How far a soak is; what a worker that takes over goes on from. */
export interface SoakProgress {
  /** Measured samples, good or bad. */
  readonly samples: number;
  /** Measured failures in a row. */
  readonly failures: number;
  /** Unmeasured samples in a row. */
  readonly unmeasured: number;
  /** When it was last sampled, epoch milliseconds; 0 before the first. */
  readonly lastProbe: number;
}

export const noSoakYet: SoakProgress = { samples: 0, failures: 0, unmeasured: 0, lastProbe: 0 };

/** Measured failures in a row that fail a soak, and unmeasured samples in a row that end it. */
const FAILURES = 2;
const UNMEASURED = 5;

/** A failure that fails a soak at once, from what the watches tell; null where there is none. */
export function soakBreach(
  target: TargetAddress,
  image: string,
  live: LiveTarget,
  restarts: Readonly<Record<string, number>>,
): { readonly verdict: Verdict; readonly block: boolean } | null {
  if (!live.complete) return null;
  const name = workloadName(target);
  if (live.workload === null) {
    return { verdict: unmeasured(name, 'API server', 'missing', `${name} does not exist any more`), block: false };
  }
  const found = containerIn(live.workload, target.container)?.image ?? 'no such container';
  if (found !== image) {
    return {
      verdict: fail(IMAGE_CHANGED, `${name} has ${found} now, not ${image}: somebody else changed it`),
      block: false,
    };
  }
  for (const pod of podsToSoak(live)) {
    const broken = brokenPod(pod, restarts);
    if (broken !== null) return { verdict: broken, block: true };
  }
  return null;
}

/** The live pods of the image that soaks. */
export function podsToSoak({ workload, revisions, pods }: LiveTarget): readonly Pod[] {
  if (workload === null) return [];
  return (podsOfCurrentTemplate(workload, revisions, pods) ?? []).filter(isActive);
}

function brokenPod(pod: Pod, restarts: Readonly<Record<string, number>>): Fail | null {
  for (const status of statusesOf(pod)) {
    const what = `container ${status.name} of ${podName(pod)}`;
    if (status.state?.waiting?.reason === 'CrashLoopBackOff')
      return fail('CrashLoopBackOff', `${what} crashes again and again`);
    const before = restarts[`${pod.metadata.uid ?? ''}/${status.name}`] ?? 0;
    if (status.restartCount > before) {
      const ended = status.lastState?.terminated;
      const how = ended === undefined ? '' : `, it ended with ${ended.exitCode}`;
      return fail('Restarted', `${what} has restarted${how}`);
    }
  }
  const ended = pod.status?.containerStatuses?.find((s) => s.state?.terminated !== undefined);
  if (ended === undefined) return null;
  return fail(
    'Restarted',
    `container ${ended.name} of ${podName(pod)} ended with ${ended.state?.terminated?.exitCode ?? ''}`,
  );
}

/** Agents that were there before the change and are not now: fails a soak at once. */
export function lostAgents(
  target: TargetAddress,
  before: readonly Placement[] | null,
  answers: GateAnswers,
): Fail | null {
  if (before === null || answers.agents?.kind !== 'read') return null;
  const { lost } = comparePlacements(before, answers.agents.value);
  return lost.length === 0
    ? null
    : fail('AgentLost', `${target.name} has lost ${lost.join(', ')}, which ran there before`);
}

/** One sample as a verdict: what was measured to be wrong outweighs what could not be measured. */
export function sampleVerdict(
  target: TargetAddress,
  pods: readonly Pod[],
  answers: GateAnswers,
  checks: readonly CheckReading[],
): Verdict {
  if (pods.length === 0) {
    return unmeasured(
      `pods of ${target.name}`,
      'API server',
      'empty',
      `${target.name} has no pod of its current template`,
    );
  }
  const verdicts: Verdict[] = [readiness(pods), answers.health, ...checks.map(checkVerdict)];
  const wrong = verdicts.find((v) => v.kind === 'fail');
  if (wrong !== undefined) return wrong;
  const unknown = verdicts.find((v) => v.kind === 'unmeasured');
  if (unknown !== undefined) return unknown;
  return answers.agents?.kind === 'unmeasured' ? answers.agents : pass();
}

function readiness(pods: readonly Pod[]): Verdict {
  const not = pods.find((pod) => !isReady(pod));
  if (not === undefined) return pass();
  const runs = statusesOf(not).some((s) => s.state?.running !== undefined);
  if (runs) return fail('NotReady', `${podName(not)} is not ready any more`);
  return unmeasured(podName(not), 'API server', 'not-ready', `${podName(not)} does not run yet`);
}

function checkVerdict({ check, value }: CheckReading): Verdict {
  if (value.kind === 'unmeasured') return value;
  if (check.max !== undefined && value.value > check.max) {
    return fail('CheckFailed', `check ${check.name} is ${value.value}, above ${check.max}`);
  }
  if (check.min !== undefined && value.value < check.min) {
    return fail('CheckFailed', `check ${check.name} is ${value.value}, below ${check.min}`);
  }
  return pass(`check ${check.name} is ${value.value}`);
}

/** Counts a sample in. */
export function counted(before: SoakProgress, verdict: Verdict, now: number): SoakProgress {
  if (verdict.kind === 'unmeasured') return { ...before, unmeasured: before.unmeasured + 1, lastProbe: now };
  const failures = verdict.kind === 'fail' ? before.failures + 1 : 0;
  return { samples: before.samples + 1, failures, unmeasured: 0, lastProbe: now };
}

/** Whether the samples so far end the soak, given the last one. */
export function endsSoak(progress: SoakProgress, last: Verdict): boolean {
  if (last.kind === 'fail') return progress.failures >= FAILURES;
  return last.kind === 'unmeasured' && progress.unmeasured >= UNMEASURED;
}

/** Whether the soak may pass: long enough, enough samples, and the last one good. */
export function maySoakPass(progress: SoakProgress, minimumSamples: number, until: number): boolean {
  return (
    progress.lastProbe >= until &&
    progress.samples >= minimumSamples &&
    progress.failures === 0 &&
    progress.unmeasured === 0
  );
}
