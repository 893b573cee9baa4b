import { unpack } from '../../domain/core/packed.ts';
import type { FlowPlan } from '../../domain/keycloak-flow/plan.ts';
import type { KeycloakFlowSpec } from '../../domain/keycloak-flow/spec.ts';
import {
  KEYCLOAK_FLOW_PLAN_WORKFLOW,
  KEYCLOAK_FLOW_QUEUE,
  keycloakFlowId,
  type FlowPlanInput,
  type FlowPlanOutput,
} from '../../workflows/keycloak-flow/messages.ts';
import { askOnce, type OneLook, type PlanPatience } from '../temporal/ask-once.ts';
import type { Temporal } from '../temporal/connect.ts';

/**
 * What Enforce would do now for a spec, through the worker; nothing is written.
 *
 * @param say hears that no worker works, where that is so
 * @throws CliError, undetermined, where no worker took it up, or came to an end with it, in time
 */
export async function askFlowPlan(
  temporal: Temporal,
  name: string,
  spec: KeycloakFlowSpec,
  say: (line: string) => void,
  patience: PlanPatience,
): Promise<FlowPlan> {
  const input: FlowPlanInput = { name, spec };
  const look: OneLook = {
    type: KEYCLOAK_FLOW_PLAN_WORKFLOW,
    object: keycloakFlowId(name),
    taskQueue: KEYCLOAK_FLOW_QUEUE,
    input,
    summary: `Plan of KeycloakFlow ${name}`,
  };
  const { plan } = await askOnce<FlowPlanOutput>(temporal, look, say, patience);
  return unpack(plan);
}
