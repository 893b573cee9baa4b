import { isUnmeasured } from '../../domain/core/verdict.ts';
import {
  sampleDueAt,
  sampleStep,
  startSoak,
  watchStep,
  type SoakParams,
  type SoakProgress,
  type SoakStep,
} from '../../domain/release/judge-soak.ts';
import { clusterOf } from '../kubernetes/cluster-of.ts';
import type { ReleaseDependencies } from './dependencies.ts';
import { following } from './follow-target.ts';
import { createNodeKeeper } from './node-keeper.ts';
import type { ResultOf, WatchSoakInput } from './port.ts';
import { createPulse } from '../pulse.ts';
import { createSampler } from './soak-sampler.ts';
import type { WaitContext } from '../wait-context.ts';

/** Judged again this often without an event, for what was read beside it. */
const TICK_MS = 5_000;

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
  const { target } = input;
  const params: SoakParams = input;
  const port = clusterOf(dependencies, target.cluster);
  if (isUnmeasured(port)) return { of: 'watchSoak', verdict: port, samples: 0, block: false };
  const clock = dependencies.clock ?? Date.now;
  const pulse = createPulse();
  const nodes = createNodeKeeper(port, clock, pulse, signal);
  let soak = resumed ?? startSoak(input.restarts);
  progress(soak);

  /** Takes a step in; what it came to, where that ends the soak. */
  function take(step: SoakStep): Soaked | null {
    if (JSON.stringify(step.progress) !== JSON.stringify(soak)) progress(step.progress);
    soak = step.progress;
    if (step.verdict === null) return null;
    return { of: 'watchSoak', verdict: step.verdict, samples: soak.samples, block: step.block };
  }

  return following(port, target, pulse, signal, async (now) => {
    const sampler = createSampler(dependencies, port, input, pulse, signal);
    try {
      for (;;) {
        const live = now();
        nodes.look(live.pods);
        const surroundings = { nodes: nodes.known(), events: [] };
        const breached = take(watchStep(soak, live, params, surroundings));
        if (breached !== null) return breached;
        const taken = sampler.take();
        if (taken !== null) {
          const ended = take(sampleStep(soak, live, taken.sample, params, taken.begun, surroundings));
          if (ended !== null) return ended;
        }
        const at = clock();
        const due = sampleDueAt(soak, params, at);
        // A watch that cannot even list has something to say, too: that the sample is unmeasured.
        if (at >= due && (live.complete || live.interrupted !== null)) sampler.begin(live, at);
        const wait = sampler.busy() || at >= due ? TICK_MS : Math.min(TICK_MS, due - at);
        await pulse.next(Math.max(1, wait), signal);
      }
    } finally {
      sampler.stop();
    }
  });
}
