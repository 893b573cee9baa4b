import proto from '@temporalio/proto';
import { NODE_REBOOT_QUEUE } from '../../workflows/node-reboot/messages.ts';
import type { Temporal } from './connect.ts';

/** Temporal forgets a poller five minutes after its last poll; one that polls was seen within its long poll of a minute. */
const FRESH_MS = 90_000;

/**
 * How many workers poll a task queue for workflow tasks. Advisory: Temporal lists a worker for a while after it died.
 */
export async function countPollers(temporal: Temporal, taskQueue: string): Promise<number> {
  const { pollers } = await temporal.client.workflowService.describeTaskQueue({
    namespace: temporal.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
  });
  return (pollers ?? []).filter((p) => Date.now() - Number(p.lastAccessTime?.seconds ?? 0) * 1000 < FRESH_MS).length;
}

/** Says on standard error that nobody works, where that is so: the one thing that a person waiting must know. */
export async function hintAtMissingWorker(
  temporal: Temporal,
  taskQueue: string,
  say: (line: string) => void,
): Promise<void> {
  if ((await countPollers(temporal, taskQueue)) > 0) return;
  say(missingWorker(temporal, taskQueue));
}

/** That nobody works, with the way out. */
export function missingWorker({ namespace, address }: Temporal, taskQueue: string): string {
  return `no worker polls ${taskQueue} in namespace ${namespace} of ${address}; ${startWorker(taskQueue)}`;
}

/** How a worker is started that polls a queue: nodes are rebooted only by one that was told with which image. */
export function startWorker(taskQueue: string): string {
  const told = taskQueue === NODE_REBOOT_QUEUE ? ', with nodeReboot: { hostImage: IMAGE } in its configuration' : '';
  return `start one: holdfast worker (or holdfast dev)${told}`;
}
