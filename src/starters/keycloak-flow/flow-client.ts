import type { KeycloakFlowHistory } from '../../domain/keycloak-flow/history.ts';
import type { KeycloakFlowSpec } from '../../domain/keycloak-flow/spec.ts';
import type { KeycloakFlowStatus } from '../../domain/keycloak-flow/status.ts';
import {
  KEYCLOAK_FLOW_QUEUE,
  KEYCLOAK_FLOW_WORKFLOW,
  keycloakFlowHistoryQuery,
  keycloakFlowId,
  keycloakFlowStatusQuery,
  keycloakFlowUpdate,
  type KEYCLOAK_FLOW_ACTIONS,
  type KeycloakFlowInput,
} from '../../workflows/keycloak-flow/messages.ts';
import { askWorker, tellWorker } from '../temporal/answer.ts';
import { applyEntity, type Applied, type Entity } from '../temporal/apply-entity.ts';
import type { Temporal } from '../temporal/connect.ts';
import type { Decider } from '../who.ts';
import type { ActionAnswer } from '../../workflows/hear-action.ts';

/** The calls that commands make to the workflows of KeycloakFlows. Errors of Temporal are explained by `withTemporal`. */

const ANSWER_TIMEOUT_MS = 10_000;
/** A decision is waited for longer: once it was given up, nobody knows whether it takes effect. */
const DECISION_TIMEOUT_MS = 30_000;

export type FlowActionName = (typeof KEYCLOAK_FLOW_ACTIONS)[number];

/** How a KeycloakFlow is now. */
export async function askFlowStatus(
  temporal: Temporal,
  name: string,
  timeoutMs = ANSWER_TIMEOUT_MS,
): Promise<KeycloakFlowStatus> {
  const id = keycloakFlowId(name);
  const ask = () => temporal.client.workflow.getHandle(id).query(keycloakFlowStatusQuery);
  const status = await askWorker(temporal, id, ask, { taskQueue: KEYCLOAK_FLOW_QUEUE, timeoutMs });
  // An idle workflow's clock stands still since its last task: what was asked now is how it is now.
  return { ...status, asOf: new Date(Math.max(Date.now(), Date.parse(status.asOf))).toISOString() };
}

/** What a KeycloakFlow has done and what people decided about it. */
export async function askFlowHistory(temporal: Temporal, name: string): Promise<KeycloakFlowHistory> {
  const id = keycloakFlowId(name);
  const ask = () => temporal.client.workflow.getHandle(id).query(keycloakFlowHistoryQuery);
  return askWorker(temporal, id, ask, { taskQueue: KEYCLOAK_FLOW_QUEUE, timeoutMs: ANSWER_TIMEOUT_MS });
}

/**
 * Asks a KeycloakFlow to do something, and waits until it was accepted.
 *
 * @param payload the action's own fields, beside who and why
 */
export async function sendFlowAction(
  temporal: Temporal,
  name: string,
  action: FlowActionName,
  payload: Decider & Readonly<Record<string, unknown>>,
): Promise<ActionAnswer> {
  const id = keycloakFlowId(name);
  const tell = () =>
    temporal.client.workflow.getHandle(id).executeUpdate(keycloakFlowUpdate(action), { args: [payload] });
  return tellWorker(temporal, id, tell, DECISION_TIMEOUT_MS);
}

/**
 * Starts a KeycloakFlow, or gives the one that runs its new spec. Doing it twice is doing it once.
 *
 * @param noBind the run that follows binds nothing
 */
export async function applyFlow(
  temporal: Temporal,
  name: string,
  spec: KeycloakFlowSpec,
  decider: Decider,
  noBind = false,
): Promise<Applied> {
  const input: KeycloakFlowInput = { name, spec, ...(noBind ? { noBind } : {}) };
  const entity: Entity = {
    type: KEYCLOAK_FLOW_WORKFLOW,
    id: keycloakFlowId(name),
    taskQueue: KEYCLOAK_FLOW_QUEUE,
    input,
    summary: `KeycloakFlow ${name}: ${spec.desired.browserFlow} in realm ${spec.desired.realm}`,
  };
  return applyEntity(temporal, entity, async () => {
    const before = await askFlowStatus(temporal, name);
    const { message, generation } = await sendFlowAction(temporal, name, 'applySpec', { ...decider, spec, noBind });
    return { changed: generation !== before.generation, message };
  });
}
