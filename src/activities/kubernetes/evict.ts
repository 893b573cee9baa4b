import { outcomeOf, parseStatus } from './errors.ts';
import { pathSegment } from './kinds.ts';
import type { EvictOutcome, PodUid } from './port.ts';
import type { Connection } from './reads.ts';

/**
 * Asks for the eviction of just this pod; see KubernetesPort.evict. A budget that allows none answers 429 with the cause
 * `DisruptionBudget` (kubernetes, pkg/registry/core/pod/storage/eviction.go), and so is told from an API server that is busy.
 */
export async function evictPod(
  { transport, requestTimeoutMs }: Connection,
  { namespace, name, uid }: PodUid,
): Promise<EvictOutcome> {
  const what = `eviction of pod ${namespace}/${name}`;
  const [space, pod] = [pathSegment(namespace), pathSegment(name)];
  if (space === undefined || pod === undefined)
    return { kind: 'refused', message: `${what}: this is no name of a pod` };
  const answer = await transport.send({
    method: 'POST',
    path: `/api/v1/namespaces/${space}/pods/${pod}/eviction`,
    body: {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { namespace, name },
      deleteOptions: { preconditions: { uid } },
    },
    timeoutMs: requestTimeoutMs,
  });
  if (answer.kind === 'answer' && answer.status >= 200 && answer.status < 300) return { kind: 'evicted' };
  const judged = outcomeOf(what, answer);
  const status = answer.kind === 'answer' ? parseStatus(answer.body) : undefined;
  if (answer.kind === 'answer' && answer.status === 429) {
    const budget = status?.causes.find(({ reason }) => reason === 'DisruptionBudget');
    if (budget !== undefined) return { kind: 'blocked', message: budget.message ?? judged.message };
  }
  switch (judged.kind) {
    // Another pod of that name stands there by now: this one is gone.
    case 'conflict':
    case 'missing':
      return { kind: 'gone' };
    case 'denied':
    case 'invalid':
      return { kind: 'refused', message: judged.message };
    case 'unknown':
      return { kind: 'unknown', message: judged.message };
  }
}
