import { isUnmeasured } from '../../domain/core/verdict.ts';
import type { KubeObject } from '../kubernetes/port.ts';
import { clusterOf } from '../kubernetes/cluster-of.ts';
import type { ReleaseDependencies } from './dependencies.ts';
import type { TargetEvent } from '../../domain/release/events.ts';
import type { EmitEventsInput, EmitEventsResult } from './port.ts';
import { workloadRef } from './workload.ts';

/** What the event's `action` says was being done; the reason says how it went. */
const ACTION = 'Release';

/** Records events about targets' workloads; see ReleaseActivities.emitEvents. */
export async function emitEvents(
  dependencies: ReleaseDependencies,
  input: EmitEventsInput,
  signal: AbortSignal,
): Promise<EmitEventsResult> {
  const uids = new Map<string, Promise<string | undefined>>();
  const refused: EmitEventsResult['refused'][number][] = [];
  // One after the other: they are shown in the order of their times.
  for (const event of input.events) {
    signal.throwIfAborted();
    const message = await emit(dependencies, event, uids);
    if (message !== null) refused.push({ key: event.key, message });
  }
  return { refused };
}

async function emit(
  dependencies: ReleaseDependencies,
  event: TargetEvent,
  uids: Map<string, Promise<string | undefined>>,
): Promise<string | null> {
  const { target } = event;
  const port = clusterOf(dependencies, target.cluster);
  if (isUnmeasured(port)) return port.message;
  const ref = workloadRef(target);
  // `kubectl describe` finds events by the object's uid.
  const key = `${target.cluster}/${target.kind}/${target.namespace}/${target.workload}`;
  const known =
    uids.get(key) ?? port.get<KubeObject>(ref).then((r) => (r.kind === 'read' ? r.value.metadata.uid : undefined));
  uids.set(key, known);
  const uid = await known;
  const outcome = await port.event(
    { ...ref, ...(uid === undefined ? {} : { uid }) },
    { type: event.type, reason: event.reason, message: event.message, action: ACTION, runId: event.key },
  );
  return outcome.kind === 'written' ? null : outcome.message;
}
