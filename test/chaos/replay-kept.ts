import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { workflowBundle } from './product-copy.ts';

interface Kept {
  readonly workflowId: string;
  readonly history: temporal.api.history.v1.IHistory;
}

const kept: Kept[] = [];

/** Keeps what workflows have recorded so far, for `replayKept`. */
export async function keepHistories(client: Client, workflowIds: readonly string[]): Promise<void> {
  for (const workflowId of workflowIds) {
    kept.push({ workflowId, history: await client.workflow.getHandle(workflowId).fetchHistory() });
  }
}

/** Replays the kept histories against the workflows as they are, and forgets them. @throws Error naming each that differs */
export async function replayKept(): Promise<void> {
  const histories = kept.splice(0);
  const failures: string[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories(
    { workflowBundle: await workflowBundle() },
    histories,
  )) {
    if (error) failures.push(`${workflowId} does not replay: ${error.message}`);
  }
  if (failures.length > 0) throw new Error(failures.join('\n'));
}
