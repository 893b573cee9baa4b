import { cordonMark, lastVisitMark } from '../../domain/node-reboot/by-hand.ts';
import type { LockRecord } from '../../domain/node-reboot/lock.ts';
import { cordonManager, formatMark, type NodeReading } from '../../domain/node-reboot/node.ts';
import { judgeCordon, judgeUncordon } from '../../domain/node-reboot/node-writes.ts';
import type { ResultOf } from '../../domain/node-reboot/result.ts';
import type { KubernetesPort } from '../kubernetes/port.ts';
import { sleep } from '../wait-context.ts';
import { answered } from './lock.ts';
import { readNode } from './nodes.ts';

type Patch = Readonly<Record<string, unknown>>;

/** What is to be done about a node as it was just read. */
type Intent =
  | { readonly do: 'patch'; readonly body: Patch }
  | { readonly do: 'nothing'; readonly message: string }
  | { readonly do: 'refuse'; readonly why: 'stale' | 'refused'; readonly message: string };

type Written =
  | { readonly kind: 'written' | 'nothing'; readonly message: string }
  | { readonly kind: 'stale' | 'refused' | 'missing'; readonly message: string };

/** See NodeRebootActivities.cordon. */
export async function cordon(
  port: KubernetesPort,
  record: LockRecord,
  deadline: number,
  clock: () => number,
  signal: AbortSignal,
): Promise<ResultOf<'cordon'>> {
  const { node } = record.visit;
  const written = await writeNode(port, node, signal, (seen) => {
    const judged = judgeCordon(seen, record, deadline, clock());
    if (judged.kind === 'done') return { do: 'nothing', message: judged.message };
    if (judged.kind !== 'write') return { do: 'refuse', why: judged.kind, message: judged.message };
    const mark = formatMark({ campaign: record.campaign, run: record.run });
    return { do: 'patch', body: { metadata: { annotations: { [cordonMark]: mark } }, spec: { unschedulable: true } } };
  });
  if (written.kind === 'stale') return { of: 'cordon', outcome: 'stale', message: written.message };
  if (written.kind === 'refused' || written.kind === 'missing') {
    return { of: 'cordon', outcome: 'refused', message: written.message };
  }
  return { of: 'cordon', outcome: 'cordoned', message: `node ${node} is cordoned` };
}

/** See NodeRebootActivities.uncordon and restoreNode. A node that the cluster has no more is none to give back. */
export async function uncordon<K extends 'uncordon' | 'restore'>(
  port: KubernetesPort,
  of: K,
  record: LockRecord,
  signal: AbortSignal,
): Promise<{ readonly of: K; readonly outcome: 'done' | 'refused'; readonly message: string }> {
  const { node, startedAt } = record.visit;
  const at = new Date(startedAt).toISOString();
  let left = false;
  const written = await writeNode(port, node, signal, (seen) => {
    // The answer to an earlier try was lost.
    if (seen.cordonedBy === null && seen.lastVisitAt === startedAt)
      return { do: 'nothing', message: 'it is given back' };
    const judged = judgeUncordon(seen, record);
    if (judged.kind === 'refused') return { do: 'refuse', why: 'refused', message: judged.message };
    left = seen.unschedulable && !judged.uncordon;
    const spec = judged.uncordon ? { spec: { unschedulable: null } } : {};
    return { do: 'patch', body: { metadata: { annotations: { [cordonMark]: null, [lastVisitMark]: at } }, ...spec } };
  });
  if (written.kind === 'missing')
    return { of, outcome: of === 'restore' ? 'done' : 'refused', message: written.message };
  if (written.kind === 'stale' || written.kind === 'refused') {
    return { of, outcome: 'refused', message: written.message };
  }
  const how = left ? 'stays cordoned, as somebody else had it' : 'is uncordoned';
  return { of, outcome: 'done', message: `node ${node} ${how}` };
}

const pauseMs = 500;

/**
 * Reads a node, decides, and writes once with the resource version that was read; where somebody wrote in between, or nobody
 * answered, all of it once more.
 */
async function writeNode(
  port: KubernetesPort,
  name: string,
  signal: AbortSignal,
  decide: (node: NodeReading) => Intent,
): Promise<Written> {
  for (;;) {
    const seen = await answered(() => readNode(port, name, signal), signal);
    if (seen.kind === 'unmeasured') {
      return { kind: seen.why === 'missing' ? 'missing' : 'refused', message: seen.message };
    }
    const { node, object } = seen.value;
    const intent = decide(node);
    if (intent.do === 'nothing') return { kind: 'nothing', message: intent.message };
    if (intent.do === 'refuse') return { kind: intent.why, message: intent.message };
    const { uid, resourceVersion } = object.metadata;
    const outcome = await port.patch({ apiVersion: 'v1', kind: 'Node', name }, intent.body, {
      type: 'merge',
      fieldManager: cordonManager,
      preconditions: {
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
    });
    if (outcome.kind === 'written') return { kind: 'written', message: '' };
    if (outcome.kind === 'missing') return { kind: 'missing', message: outcome.message };
    if (outcome.kind !== 'conflict' && outcome.kind !== 'unknown') return { kind: 'refused', message: outcome.message };
    await sleep(pauseMs, signal);
  }
}
