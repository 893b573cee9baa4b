import type { NodeRebootHistory } from '../../domain/node-reboot/history.ts';
import type { NodeRebootSpec } from '../../domain/node-reboot/spec.ts';
import type { NodeRebootStatus } from '../../domain/node-reboot/status.ts';
import {
  NODE_REBOOT_QUEUE,
  NODE_REBOOT_WORKFLOW,
  nodeRebootHistoryQuery,
  nodeRebootId,
  nodeRebootStatusQuery,
  nodeRebootUpdate,
  type NODE_REBOOT_ACTIONS,
  type NodeRebootInput,
} from '../../workflows/node-reboot/messages.ts';
import { askWorker, tellWorker } from '../temporal/answer.ts';
import { applyEntity, type Applied, type Entity } from '../temporal/apply-entity.ts';
import type { Temporal } from '../temporal/connect.ts';
import type { Decider } from '../who.ts';
import type { ActionAnswer } from '../../workflows/hear-action.ts';

/** The calls that commands make to the workflows of NodeReboots. Errors of Temporal are explained by `withTemporal`. */

const ANSWER_TIMEOUT_MS = 10_000;
/** A decision is waited for longer: once it was given up, nobody knows whether it takes effect. */
const DECISION_TIMEOUT_MS = 30_000;

export type RebootActionName = (typeof NODE_REBOOT_ACTIONS)[number];

/** How a NodeReboot is now. */
export async function askRebootStatus(
  temporal: Temporal,
  name: string,
  timeoutMs = ANSWER_TIMEOUT_MS,
): Promise<NodeRebootStatus> {
  const id = nodeRebootId(name);
  const ask = () => temporal.client.workflow.getHandle(id).query(nodeRebootStatusQuery);
  const status = await askWorker(temporal, id, ask, { taskQueue: NODE_REBOOT_QUEUE, timeoutMs });
  // An idle workflow's clock stands still since its last task: what was asked now is how it is now.
  return { ...status, asOf: new Date(Math.max(Date.now(), Date.parse(status.asOf))).toISOString() };
}

/** What a NodeReboot has done and what people decided about it. */
export async function askRebootHistory(temporal: Temporal, name: string): Promise<NodeRebootHistory> {
  const id = nodeRebootId(name);
  const ask = () => temporal.client.workflow.getHandle(id).query(nodeRebootHistoryQuery);
  return askWorker(temporal, id, ask, { taskQueue: NODE_REBOOT_QUEUE, timeoutMs: ANSWER_TIMEOUT_MS });
}

/**
 * Asks a NodeReboot to do something, and waits until it was accepted.
 *
 * @param payload the action's own fields, beside who and why
 */
export async function sendRebootAction(
  temporal: Temporal,
  name: string,
  action: RebootActionName,
  payload: Decider & Readonly<Record<string, unknown>>,
): Promise<ActionAnswer> {
  const id = nodeRebootId(name);
  const tell = () =>
    temporal.client.workflow.getHandle(id).executeUpdate(nodeRebootUpdate(action), { args: [payload] });
  return tellWorker(temporal, id, tell, DECISION_TIMEOUT_MS);
}

/** Starts a NodeReboot, or gives the one that runs its new spec. Doing it twice is doing it once. */
export async function applyReboot(
  temporal: Temporal,
  name: string,
  spec: NodeRebootSpec,
  decider: Decider,
): Promise<Applied> {
  const input: NodeRebootInput = { name, spec };
  const entity: Entity = {
    type: NODE_REBOOT_WORKFLOW,
    id: nodeRebootId(name),
    taskQueue: NODE_REBOOT_QUEUE,
    input,
    summary: `NodeReboot ${name} in cluster ${spec.cluster}`,
  };
  return applyEntity(temporal, entity, async () => {
    const before = await askRebootStatus(temporal, name);
    const { message, generation } = await sendRebootAction(temporal, name, 'applySpec', { ...decider, spec });
    return { changed: generation !== before.generation, message };
  });
}
