import { pass, type Verdict } from '../../domain/core/verdict.ts';
import { askChecks } from './ask-checks.ts';
import { clusterOf, isUnmeasured, type ReleaseDependencies } from './dependencies.ts';
import { following, type LiveTarget } from './follow-target.ts';
import { askGate } from './gate.ts';
import type { ResultOf, WatchSoakInput } from './port.ts';
import { createPulse, type Pulse } from './pulse.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import {
  counted,
  endsSoak,
  lostAgents,
  maySoakPass,
  noSoakYet,
  podsToSoak,
  sampleVerdict,
  soakBreach,
  type SoakProgress,
} from './soak-sample.ts';
import type { WaitContext } from './wait-context.ts';

/** Longest that one question of a sample may take. */
const REQUEST_MS = 5_000;
/** After a sample that decides nothing beyond the soak's end, the next comes no later than this. */
const AT_THE_END_MS = 5_000;

type Soaked = ResultOf<'watchSoak'>;

/**
 * Watches a target through its soak; see ReleaseActivities.watchSoak. What the watches tell is judged on every event;
 * health, agents and checks are sampled every `probeIntervalMs`, at the start and at the end.
 */
export async function watchSoakOf(
  dependencies: ReleaseDependencies,
  input: WatchSoakInput,
  { signal, resumed, progress }: WaitContext<SoakProgress>,
): Promise<Soaked> {
  const { target, image, restarts, until } = input;
  const port = clusterOf(dependencies, target.cluster);
  let soak = resumed ?? noSoakYet;
  const answer = (verdict: Verdict, block = false): Soaked => ({
    of: 'watchSoak',
    verdict,
    samples: soak.samples,
    block,
  });
  if (isUnmeasured(port)) return answer(port);
  const clock = dependencies.clock ?? Date.now;
  const pulse = createPulse();
  progress(soak);

  return following(port, target, pulse, signal, async (live) => {
    const sampler = createSampler(dependencies, port, input, pulse, signal);
    try {
      for (;;) {
        const breach = soakBreach(target, image, live(), restarts);
        if (breach !== null) return answer(breach.verdict, breach.block);
        const sample = sampler.take();
        if (sample !== null) {
          soak = counted(soak, sample.verdict, sample.begun);
          progress(soak);
          if (sample.atOnce || endsSoak(soak, sample.verdict))
            return answer(sample.verdict, sample.verdict.kind === 'fail');
          if (maySoakPass(soak, input.minimumSamples, until)) {
            return answer(pass(`soaked until ${new Date(until).toISOString()} with ${soak.samples} samples`));
          }
        }
        const now = clock();
        const due = nextSample(soak, input, now);
        if (now >= due && live().complete) sampler.begin(live(), now);
        await pulse.next(sampler.busy() ? REQUEST_MS : Math.max(1, due - now), signal);
      }
    } finally {
      sampler.stop();
    }
  });
}

/** When the next sample is due: an interval after the last, but not beyond the end of the soak. */
function nextSample({ lastProbe }: SoakProgress, { probeIntervalMs, until }: WatchSoakInput, now: number): number {
  if (lastProbe === 0) return now;
  const next = lastProbe + probeIntervalMs;
  if (lastProbe >= until) return Math.min(next, lastProbe + AT_THE_END_MS);
  return Math.min(next, until);
}

interface Sample {
  readonly verdict: Verdict;
  /** Fails without waiting for a second one. */
  readonly atOnce: boolean;
  readonly begun: number;
}

/** Takes one sample at a time beside the watching. */
interface Sampler {
  begin(live: LiveTarget, now: number): void;
  /** The sample that is done, once. */
  take(): Sample | null;
  busy(): boolean;
  stop(): void;
}

function createSampler(
  dependencies: ReleaseDependencies,
  port: KubernetesPort,
  input: WatchSoakInput,
  pulse: Pulse,
  outer: AbortSignal,
): Sampler {
  const end = new AbortController();
  const signal = AbortSignal.any([outer, end.signal]);
  let running = false;
  let done: Sample | null = null;
  let fault: Error | null = null;

  async function sample(live: LiveTarget, begun: number): Promise<Sample> {
    const { target } = input;
    const pods = podsToSoak(live);
    const [answers, checks] = await Promise.all([
      askGate(port, { ...input, pods, timeoutMs: REQUEST_MS, signal }),
      askChecks(dependencies, input.checks, target, REQUEST_MS, signal),
    ]);
    const lost = lostAgents(target, input.placements, answers);
    if (lost !== null) return { verdict: lost, atOnce: true, begun };
    return { verdict: sampleVerdict(target, pods, answers, checks), atOnce: false, begun };
  }

  return {
    busy: () => running,
    stop: () => end.abort(),
    take() {
      if (fault !== null) throw fault;
      const taken = done;
      done = null;
      return taken;
    },
    begin(live, now) {
      if (running) return;
      running = true;
      sample(live, now)
        .then(
          (found) => {
            done = found;
          },
          (error: unknown) => {
            if (!signal.aborted) fault = error instanceof Error ? error : new Error(String(error));
          },
        )
        .finally(() => {
          running = false;
          pulse.happened();
        });
    },
  };
}
