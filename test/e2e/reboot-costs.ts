import type { WorkflowHandle } from '@temporalio/client';
import { markAudit, readAudit, type AuditMark } from '../lab/access.ts';
import type { LabEnv } from '../lab/lab.ts';

/** One request of the worker to the API server. A watch is one, however long it lasts. */
export interface CountedRequest {
  /** Such as `get nodes` or `create pods/eviction`. */
  readonly what: string;
  /** The activity during which it was made, by its name. */
  readonly step: string;
}

/** What a campaign has cost since it was begun to be counted. */
export interface RebootCosts {
  readonly requests: readonly CountedRequest[];
  /** Of the workflow's history, each by the activity that was scheduled last. */
  readonly events: readonly string[];
}

/** Where counting begins. */
export interface CostMark {
  readonly audit: AuditMark;
  /** Events of the history until then. */
  readonly events: number;
}

/** As the worker of the stage calls itself; the lab and the player of hosts are other callers. */
const WORKER = 'holdfast';

/** @param handle of the campaign; null before it is begun */
export async function beginCosts(env: LabEnv, handle: WorkflowHandle | null): Promise<CostMark> {
  const events = handle === null ? 0 : (await handle.describe()).historyLength;
  return { audit: await markAudit({ env }), events };
}

/** Counts the requests in the API server's audit log and the events of the workflow's history since then. */
export async function costsSince(env: LabEnv, handle: WorkflowHandle, since: CostMark): Promise<RebootCosts> {
  const { events = [] } = await handle.fetchHistory();
  const steps: { readonly at: number; readonly name: string }[] = [];
  const counted: string[] = [];
  for (const { eventTime, activityTaskScheduledEventAttributes: scheduled } of events ?? []) {
    const name = scheduled?.activityType?.name;
    if (typeof name === 'string') {
      steps.push({ at: Number(eventTime?.seconds) * 1_000 + (eventTime?.nanos ?? 0) / 1_000_000, name });
    }
    counted.push(steps.at(-1)?.name ?? 'start');
  }
  const byId = new Map<string, CountedRequest>();
  for (const { auditID, userAgent, verb, objectRef, requestReceivedTimestamp } of await readAudit(
    { env },
    since.audit,
  )) {
    if (userAgent !== WORKER) continue;
    const at = Date.parse(requestReceivedTimestamp);
    const { resource = '', subresource } = objectRef ?? {};
    const what = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
    byId.set(auditID, { what, step: steps.findLast((step) => step.at <= at)?.name ?? 'start' });
  }
  return { requests: [...byId.values()], events: counted.slice(since.events) };
}

/** How many there are of each, the most first. */
export function countEach(names: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}
