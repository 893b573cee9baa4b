import type { KeycloakFlowStatus } from '../../domain/keycloak-flow/status.ts';
import { KEYCLOAK_FLOW_WORKFLOW, keycloakFlowId } from '../../workflows/keycloak-flow/messages.ts';
import { listEntities, type Listed } from '../list-entities.ts';
import type { Temporal } from '../temporal/connect.ts';
import { askFlowStatus } from './flow-client.ts';

const ANSWER_TIMEOUT_MS = 10_000;

/** Every KeycloakFlow that runs, by name. */
export async function listFlows(temporal: Temporal): Promise<readonly Listed<KeycloakFlowStatus>[]> {
  return listEntities(temporal, KEYCLOAK_FLOW_WORKFLOW, keycloakFlowId(''), (name) =>
    askFlowStatus(temporal, name, ANSWER_TIMEOUT_MS),
  );
}
