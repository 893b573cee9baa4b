import { isUnmeasured, fail, pass, type Reading, type Verdict } from '../../domain/core/verdict.ts';
import { imageParts } from '../../domain/release/deployed-image.ts';
import { judgePreflight } from '../../domain/release/judge-preflight.ts';
import { judgeRollout } from '../../domain/release/judge-rollout.ts';
import type { Placement } from '../../domain/release/observation.ts';
import { readPlacements } from './agents.ts';
import { clusterOf } from '../kubernetes/cluster-of.ts';
import type { ReleaseDependencies } from './dependencies.ts';
import { askHealth } from './health.ts';
import type { ImageCache } from './image-cache.ts';
import { factsOf } from './image-facts.ts';
import { readIncumbents, standsInTheWay } from './incumbents.ts';
import type { PreflightInput, ResultOf } from './port.ts';
import { currentPods, readTarget, type TargetReading } from './read-target.ts';
import { runningDigest } from './running-digests.ts';
import { snapshotOf } from './snapshot.ts';
import { workloadName } from './workload.ts';

const REQUEST_MS = 5_000;

type Preflight = ResultOf<'preflight'>;

/** Reads what must hold before a target is touched; see ReleaseActivities.preflight. */
export async function preflightOf(
  dependencies: ReleaseDependencies,
  images: ImageCache,
  input: PreflightInput,
  signal: AbortSignal,
): Promise<Preflight> {
  const { target, from } = input;
  const stop = (verdict: Verdict): Preflight => ({ of: 'preflight', verdict, found: null });
  const port = clusterOf(dependencies, target.cluster);
  if (isUnmeasured(port)) return stop(port);
  const [seen, incumbents] = await Promise.all([
    readTarget(port, target, signal),
    readIncumbents(dependencies, input.incumbents, signal),
  ]);
  if (seen.kind === 'unmeasured') return stop(seen);
  const fit = judgePreflight(target, from, seen.value.workload);
  if (fit.kind !== 'pass') return stop(fit);
  const obstacle = standsInTheWay(incumbents);
  if (obstacle !== null) return stop(fail('Incumbent', obstacle));

  const running = runningDigest(seen.value.workload, target.container, seen.value.pods);
  const snapshot = snapshotOf(seen.value.workload, target, running);
  if (snapshot.kind === 'unmeasured') return stop(snapshot);
  const labelled = factsOf(images, from, running);
  const placements = await placementsOf(dependencies, input, seen.value, signal);
  const gate = input.skipGate
    ? pass('the gate was skipped by a person')
    : await gateOf(dependencies, input, seen.value, signal);
  const runningImage = imageParts(from).digest === null && running !== null ? `${from}@${running}` : from;
  const facts = await labelled;
  const found = {
    runningImage,
    // Known from the evaluation before, as a rule. A registry that does not answer now keeps nothing from being rolled.
    runningLabel: facts.kind === 'read' ? facts.value.label : null,
    placements: placements?.kind === 'read' ? placements.value : null,
    marks: snapshot.value.marks,
  };
  if (gate.kind !== 'pass') return { of: 'preflight', verdict: gate, found };
  if (placements?.kind === 'unmeasured' && !input.skipGate) return { of: 'preflight', verdict: placements, found };
  return { of: 'preflight', verdict: gate, found };
}

/** The image that runs must be fit to go back to. */
async function gateOf(
  dependencies: ReleaseDependencies,
  { target, health, from }: PreflightInput,
  seen: TargetReading,
  signal: AbortSignal,
): Promise<Verdict> {
  const port = clusterOf(dependencies, target.cluster);
  if (isUnmeasured(port)) return port;
  const live = { ...seen, complete: true, interrupted: null };
  const step = judgeRollout({ target, image: from, live, presence: null, now: 0, deadline: 1 });
  switch (step.kind) {
    case 'failed':
    case 'unmeasured':
      return step.verdict;
    case 'stuck':
      return fail('NotReady', `pod ${step.pod.name} of ${workloadName(target)} is broken`);
    case 'rolling':
      return fail('NotReady', `${workloadName(target)} is not ready with the image it has: ${step.why}`);
    case 'ready':
      return askHealth(port, { target, health, pods: step.pods, timeoutMs: REQUEST_MS, signal });
  }
}

async function placementsOf(
  dependencies: ReleaseDependencies,
  { target, agents }: PreflightInput,
  seen: TargetReading,
  signal: AbortSignal,
): Promise<Reading<readonly Placement[]> | null> {
  if (agents === 'none') return null;
  const port = clusterOf(dependencies, target.cluster);
  if (isUnmeasured(port)) return port;
  const pods = currentPods(seen, target);
  if (pods.kind === 'unmeasured') return pods;
  return readPlacements(port, { target, agents, pods: pods.value, timeoutMs: REQUEST_MS, signal });
}
