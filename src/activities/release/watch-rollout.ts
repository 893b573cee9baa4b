import { counted } from '../../domain/core/counted.ts';
import { isUnmeasured, fail, unmeasured, type Verdict } from '../../domain/core/verdict.ts';
import { isObserved, type Pod, type Workload } from '../../domain/core/workload.ts';
import { judgeRollout } from '../../domain/release/judge-rollout.ts';
import { comparePlacements } from '../../domain/release/placements.ts';
import { statusesOf } from '../../domain/release/pod-trouble.ts';
import type { StuckPod } from '../../domain/release/rollout.ts';
import { clusterOf } from '../kubernetes/cluster-of.ts';
import type { ReleaseDependencies } from './dependencies.ts';
import { following } from './follow-target.ts';
import { createGateKeeper } from './gate-keeper.ts';
import type { GateAnswers } from './gate.ts';
import type { ImageCache } from './image-cache.ts';
import { createIndexKeeper } from './index-keeper.ts';
import { createNodeKeeper } from './node-keeper.ts';
import { createPresenceKeeper } from './presence-keeper.ts';
import type { WatchRolloutInput, WatchRolloutResult } from './port.ts';
import { createPulse } from '../pulse.ts';
import type { WaitContext } from '../wait-context.ts';

/** What a worker that takes over goes on from. */
export interface RolloutProgress {
  /** When the wait began, epoch milliseconds. */
  readonly since: number;
  /** The generation that the controller has seen, and when that was first noticed. */
  readonly observed: { readonly generation: number; readonly at: number } | null;
  /** When the pods were first ready, epoch milliseconds: the gate's time-out counts from here. */
  readonly readySince: number | null;
}

/** Longest that one question to a pod may take. */
const REQUEST_MS = 5_000;
/** Judged again this often without an event, for what only time changes. */
const TICK_MS = 5_000;

/**
 * Watches a rollout until it is proven or has failed; see ReleaseActivities.watchRollout. Judged on every event of its
 * watches: the first verdict returns at once.
 */
export async function watchRolloutOf(
  dependencies: ReleaseDependencies,
  images: ImageCache,
  input: WatchRolloutInput,
  { signal, resumed, progress }: WaitContext<RolloutProgress>,
): Promise<WatchRolloutResult> {
  const { target, image, deadline } = input;
  const port = clusterOf(dependencies, target.cluster);
  if (isUnmeasured(port)) return answer(port);
  const clock = dependencies.clock ?? Date.now;
  const pulse = createPulse();
  const presence = createPresenceKeeper(dependencies.registry, image, pulse);
  const nodes = createNodeKeeper(port, clock, pulse, signal);
  const index = createIndexKeeper(images, image, pulse);
  const gate = createGateKeeper(port, { ...input, timeoutMs: REQUEST_MS, signal }, pulse);
  let known: RolloutProgress = resumed ?? { since: clock(), observed: null, readySince: null };
  progress(known);
  function note(change: Partial<RolloutProgress>): void {
    known = { ...known, ...change };
    progress(known);
  }

  try {
    return await following(port, target, pulse, signal, async (now) => {
      for (;;) {
        const live = now();
        const at = clock();
        const seen = observedGeneration(live.workload);
        if (seen !== null && seen !== known.observed?.generation) note({ observed: { generation: seen, at } });
        nodes.look(live.pods);
        const step = judgeRollout({
          target,
          image,
          live,
          presence: presence.known(),
          now: at,
          deadline: gateAware(deadline, known.readySince, input),
          since: known.since,
          observedSince: known.observed?.at ?? null,
          recovering: input.recovering,
          nodes: nodes.known(),
          index: index.known(),
        });
        let wake = deadline;
        switch (step.kind) {
          case 'failed':
            return answer(step.verdict, { block: step.block });
          case 'unmeasured':
            return answer(step.verdict);
          case 'stuck':
            return answer(stuckSoFar(step.pod), { stuck: step.pod });
          case 'rolling':
            gate.rest();
            if (step.askRegistry) presence.ask();
            break;
          case 'ready': {
            const readySince = known.readySince ?? at;
            if (known.readySince === null) note({ readySince });
            const judged = judgeGate(input, gate.ask(step.pods), step.pods);
            if (judged.verdict.kind === 'pass') {
              return { ...answer(judged.verdict), restarts: restartsOf(step.pods), moved: judged.moved };
            }
            wake = readySince + input.gateTimeoutMs;
            if (at >= wake) return answer(judged.verdict, { block: judged.verdict.kind === 'fail' });
            break;
          }
        }
        await pulse.next(Math.max(1, Math.min(TICK_MS, wake - at)), signal);
      }
    });
  } finally {
    gate.rest();
  }
}

/** The generation that the workload's controller has looked at; null where that is an older one. */
function observedGeneration(workload: Workload | null): number | null {
  return workload !== null && isObserved(workload) ? (workload.metadata.generation ?? null) : null;
}

/** Once pods were ready, falling back from it is judged at the end of the gate, not before. */
function gateAware(deadline: number, readySince: number | null, { gateTimeoutMs }: WatchRolloutInput): number {
  return readySince === null ? deadline : Math.max(deadline, readySince + gateTimeoutMs);
}

interface JudgedGate {
  readonly verdict: Verdict;
  readonly moved: WatchRolloutResult['moved'];
}

function judgeGate(input: WatchRolloutInput, answers: GateAnswers | null, pods: readonly Pod[]): JudgedGate {
  const { target } = input;
  if (answers === null) {
    const message = `${counted(pods.length, 'pod')} of ${target.name} did not answer in time`;
    return { verdict: unmeasured(`gate of ${target.name}`, 'API server pod proxy', 'timeout', message), moved: [] };
  }
  const { health, agents } = answers;
  if (agents?.kind === 'read' && input.placements !== null) {
    const { lost, moved } = comparePlacements(input.placements, agents.value);
    if (lost.length > 0) {
      return {
        verdict: fail('AgentLost', `${target.name} has lost ${lost.join(', ')}, which ran there before`),
        moved,
      };
    }
    return { verdict: health, moved };
  }
  if (health.kind !== 'pass') return { verdict: health, moved: [] };
  return { verdict: agents?.kind === 'unmeasured' ? agents : health, moved: [] };
}

/** Restart counts per `podUid/container`, above which a restart during the soak is one. */
function restartsOf(pods: readonly Pod[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const pod of pods) {
    for (const status of statusesOf(pod)) counts[`${pod.metadata.uid ?? ''}/${status.name}`] = status.restartCount;
  }
  return counts;
}

function stuckSoFar({ name }: StuckPod): Verdict {
  const message = `pod ${name} of the template before keeps the StatefulSet waiting`;
  return unmeasured(`rollout`, 'API server', 'not-ready', message);
}

function answer(
  verdict: Verdict,
  { block = false, stuck = null }: { block?: boolean; stuck?: StuckPod | null } = {},
): WatchRolloutResult {
  return { of: 'watchRollout', verdict, restarts: {}, moved: [], block, stuck };
}
