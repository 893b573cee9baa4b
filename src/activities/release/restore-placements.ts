import { isUnmeasured, fail, pass, unmeasured, type Verdict } from '../../domain/core/verdict.ts';
import type { Placement } from '../../domain/release/observation.ts';
import { runsAs } from '../../domain/release/placements.ts';
import { putPlacement, readAgents, type AgentsQuestion } from './agents.ts';
import { clusterOf } from '../kubernetes/cluster-of.ts';
import type { ReleaseDependencies } from './dependencies.ts';
import type { RestorePlacementsInput, ResultOf } from './port.ts';
import { currentPods, readTarget } from './read-target.ts';
import { sleep } from '../wait-context.ts';
import { containerIn, workloadName } from './workload.ts';

/** How long an unanswered reading or write is tried again. */
const PATIENCE_MS = 30_000;
const RETRY_MS = 1_000;
const REQUEST_MS = 5_000;

type Restored = ResultOf<'restorePlacements'>;

/** Writes placements back and reads them again; see ReleaseActivities.restorePlacements. */
export async function restorePlacementsOf(
  dependencies: ReleaseDependencies,
  input: RestorePlacementsInput,
  signal: AbortSignal,
): Promise<Restored> {
  const clock = dependencies.clock ?? Date.now;
  const giveUpAt = clock() + PATIENCE_MS;
  const restored = new Set<string>();
  for (;;) {
    const verdict = await restoreOnce(dependencies, input, restored, signal);
    if (verdict.kind !== 'unmeasured' || clock() + RETRY_MS >= giveUpAt) {
      return { of: 'restorePlacements', verdict, restored: [...restored] };
    }
    await sleep(RETRY_MS, signal);
  }
}

async function restoreOnce(
  dependencies: ReleaseDependencies,
  input: RestorePlacementsInput,
  restored: Set<string>,
  signal: AbortSignal,
): Promise<Verdict> {
  const { target, agents, placements, image } = input;
  if (agents === 'none' || placements.length === 0) return pass('there is nothing to restore');
  const port = clusterOf(dependencies, target.cluster);
  if (isUnmeasured(port)) return port;
  const seen = await readTarget(port, target, signal);
  if (seen.kind === 'unmeasured') return seen;
  const now = containerIn(seen.value.workload, target.container)?.image;
  if (now !== image) {
    const message = `${workloadName(target)} has ${now ?? 'no such container'} now, not ${image}`;
    return unmeasured(`placements of ${target.name}`, 'API server', 'error', message);
  }
  const pods = currentPods(seen.value, target);
  if (pods.kind === 'unmeasured') return pods;

  for (const pod of pods.value) {
    const question: AgentsQuestion = { target, agents, pods: [pod], timeoutMs: REQUEST_MS, signal };
    const before = await readAgents(port, question);
    if (before.kind === 'unmeasured') return before;
    for (const wish of placements) {
      const agent = before.value.find((a) => a.name === wish.name);
      if (agent === undefined || runsAs(agent, wish)) continue;
      const put = await putPlacement(port, pod, wish, question);
      signal.throwIfAborted();
      if (put.kind !== 'pass') return put;
      restored.add(wish.name);
    }
    // A 2xx is not proof.
    const after = await readAgents(port, question);
    if (after.kind === 'unmeasured') return after;
    const wrong = placements.find((p) => after.value.some((a) => a.name === p.name && !runsAs(a, p)));
    if (wrong !== undefined) {
      return fail(
        'PlacementNotRestored',
        `agent ${inWords(wrong)} of pod ${pod.metadata.name} was written but reads back as something else`,
      );
    }
  }
  return pass(restored.size === 0 ? 'every placement is as it was' : `restored ${[...restored].join(', ')}`);
}

function inWords({ name, backend, model, effort }: Placement): string {
  return `${name} (${backend}, ${model}, ${effort})`;
}
