import {
  pass,
  read,
  unmeasured,
  fail,
  type Reading,
  type UnmeasuredCause,
  type Verdict,
} from '../../domain/core/verdict.ts';
import type { Pod } from '../../domain/core/workload.ts';
import type { TargetAddress } from '../../domain/release/address.ts';
import type { Placement } from '../../domain/release/observation.ts';
import { overlayJournal, parseJournal, parseStatus, type Overrides } from '../../domain/release/placements.ts';
import type { Agents } from '../../domain/release/spec.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { containerToAsk } from './health.ts';

/** The agents of a target that has some. */
export type AgentsOfSpoke = Exclude<Agents, 'none'>;

export interface AgentsQuestion {
  readonly target: TargetAddress;
  readonly agents: AgentsOfSpoke;
  readonly pods: readonly Pod[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * The agents of a spoke as its pods report them in their status; of an agent in several pods, the first pod's word.
 * A spoke that still initialises does not know its agents yet: unmeasured, never an empty list.
 */
export async function readAgents(
  port: KubernetesPort,
  question: AgentsQuestion,
): Promise<Reading<readonly Placement[]>> {
  const found = await Promise.all(question.pods.map((pod) => readStatus(port, pod, question)));
  question.signal.throwIfAborted();
  return merged(found, question);
}

/** The agents as reported, overlaid with the override journal: what people set outlasts what runs right now. */
export async function readPlacements(
  port: KubernetesPort,
  question: AgentsQuestion,
): Promise<Reading<readonly Placement[]>> {
  const found = await Promise.all(
    question.pods.map(async (pod) => {
      const [reported, overrides] = await Promise.all([
        readStatus(port, pod, question),
        readJournal(port, pod, question),
      ]);
      if (reported.kind === 'unmeasured') return reported;
      if (overrides.kind === 'unmeasured') return overrides;
      return read(overlayJournal(reported.value, overrides.value));
    }),
  );
  question.signal.throwIfAborted();
  return merged(found, question);
}

/**
 * Sets one agent's backend, model and effort in a pod, atomically. `paused` is not touched: on-demand agents come back
 * paused by design.
 */
export async function putPlacement(
  port: KubernetesPort,
  pod: Pod,
  placement: Placement,
  { target, agents, timeoutMs, signal }: AgentsQuestion,
): Promise<Verdict> {
  const { name } = pod.metadata;
  const path = agents.modelsPath.replace('{name}', encodeURIComponent(placement.name));
  const { backend, model, effort } = placement;
  const answer = await port.podRequest(
    { namespace: target.namespace, name, port: agents.port },
    { method: 'PUT', path, body: { backend, model, effort }, timeoutMs, signal },
  );
  if (answer.kind === 'unmeasured') return answer;
  const what = `PUT ${path} of pod ${target.namespace}/${name}`;
  if (answer.value.status >= 200 && answer.value.status < 300) return pass(`${what} answered ${answer.value.status}`);
  return fail('PlacementRefused', `${what} answered ${answer.value.status}`);
}

async function readStatus(
  port: KubernetesPort,
  pod: Pod,
  question: AgentsQuestion,
): Promise<Reading<readonly Placement[]>> {
  const { target, agents, timeoutMs, signal } = question;
  const { name } = pod.metadata;
  const what = `GET ${agents.statusPath} of pod ${target.namespace}/${name}`;
  const not = (why: UnmeasuredCause, message: string) =>
    unmeasured(what, 'API server pod proxy', why, `${what}: ${message}`);
  const answer = await port.podRequest(
    { namespace: target.namespace, name, port: agents.port },
    { method: 'GET', path: agents.statusPath, timeoutMs, signal },
  );
  if (answer.kind === 'unmeasured') return answer;
  if (answer.value.status !== 200) return not('error', `answered ${answer.value.status}`);
  return parseStatus(answer.value.body, what);
}

/** A spoke where nobody has overridden anything has no journal yet. */
async function readJournal(port: KubernetesPort, pod: Pod, question: AgentsQuestion): Promise<Reading<Overrides>> {
  const { target, agents, timeoutMs, signal } = question;
  if (agents.journal === undefined) return read({});
  const { path, command } = agents.journal;
  const { name } = pod.metadata;
  const container = containerToAsk(pod, target);
  const what = `${path} in pod ${target.namespace}/${name}`;
  const not = (why: UnmeasuredCause, message: string) => unmeasured(what, 'exec', why, `${what}: ${message}`);
  const outcome = await port.exec({ namespace: target.namespace, name, container }, [...command, path], {
    timeoutMs,
    signal,
  });
  if (outcome.kind === 'unmeasured') return outcome;
  if (outcome.code !== 0) {
    // What a command prints is all that tells a file that is not there from one that may not be read.
    if (/no such file or directory/i.test(outcome.stderr)) return read({});
    return not('error', `${command[0] ?? 'the command'} ended with ${outcome.code}`);
  }
  return parseJournal(outcome.stdout, what);
}

function merged(
  found: readonly Reading<readonly Placement[]>[],
  { target }: AgentsQuestion,
): Reading<readonly Placement[]> {
  const missing = found.find((r) => r.kind === 'unmeasured');
  if (missing?.kind === 'unmeasured') return missing;
  if (found.length === 0)
    return unmeasured(`agents of ${target.name}`, 'API server pod proxy', 'empty', 'there is no pod to ask');
  const byName = new Map<string, Placement>();
  for (const reading of found) {
    if (reading.kind !== 'read') continue;
    for (const agent of reading.value) if (!byName.has(agent.name)) byName.set(agent.name, agent);
  }
  return read([...byName.values()]);
}
