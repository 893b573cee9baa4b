import type { Client } from '@temporalio/client';

const QUERY_TIMEOUT_MS = 5_000;
const CONCURRENT_QUERIES = 20;

/** What all workflows of a type answered. */
export interface Asked<Status> {
  readonly statuses: readonly Status[];
  /** How many did not answer. */
  readonly failures: number;
}

/**
 * Asks every workflow of a type that runs for its status, a few at a time.
 *
 * @param ask queries one by its workflow id
 */
export async function askStatuses<Status>(
  client: Client,
  type: string,
  ask: (workflowId: string) => Promise<Status>,
): Promise<Asked<Status>> {
  const ids: string[] = [];
  const query = `WorkflowType = "${type}" AND ExecutionStatus = "Running"`;
  for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
  const statuses: Status[] = [];
  let failures = 0;
  const one = async (id: string): Promise<void> => {
    try {
      statuses.push(await client.withDeadline(Date.now() + QUERY_TIMEOUT_MS, () => ask(id)));
    } catch {
      failures += 1;
    }
  };
  for (let i = 0; i < ids.length; i += CONCURRENT_QUERIES)
    await Promise.all(ids.slice(i, i + CONCURRENT_QUERIES).map(one));
  return { statuses, failures };
}
