import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Packed } from '../../domain/core/packed.ts';
import { actionNames, type KeycloakFlowAction } from '../../domain/keycloak-flow/actions.ts';
import type { KeycloakFlowHistory } from '../../domain/keycloak-flow/history.ts';
import type { FlowPlan } from '../../domain/keycloak-flow/plan.ts';
import type { KeycloakFlowSpec } from '../../domain/keycloak-flow/spec.ts';
import type { KeycloakFlowState } from '../../domain/keycloak-flow/state.ts';
import type { KeycloakFlowStatus } from '../../domain/keycloak-flow/status.ts';
import type { ActionAnswer } from '../hear-action.ts';

/** Everything that a KeycloakFlow's workflow, the CLI and the worker say to each other. Names on the wire stay as they are. */

/** Of its own, so that the worker that talks to Keycloak can have an account of its own. */
export const KEYCLOAK_FLOW_QUEUE = 'holdfast-keycloak-flow';

export const KEYCLOAK_FLOW_WORKFLOW = 'keycloakFlowWorkflow';
export const KEYCLOAK_FLOW_PLAN_WORKFLOW = 'planKeycloakFlow';

/** Workflow id of a KeycloakFlow. */
export function keycloakFlowId(name: string): string {
  return `keycloakflow/${name}`;
}

export interface KeycloakFlowInput {
  readonly name: string;
  readonly spec: KeycloakFlowSpec;
  /** The first run binds nothing. [false] */
  readonly noBind?: boolean;
  /** Carried through continue-as-new; absent on the first run and after a terminate. */
  readonly carried?: Packed<KeycloakFlowState>;
}

export interface FlowPlanInput {
  readonly name: string;
  readonly spec: KeycloakFlowSpec;
}

export interface FlowPlanOutput {
  readonly plan: Packed<FlowPlan>;
}

type Kind = KeycloakFlowAction['action'];
/** What a person sends for an action: the action without its name, which is the name of the message. */
export type KeycloakFlowPayload = Omit<KeycloakFlowAction, 'action'> & Record<string, unknown>;

/** The actions people may take; each is an Update and, for the Temporal UI and CLI, a Signal of the same name. */
export const KEYCLOAK_FLOW_ACTIONS: readonly Kind[] = actionNames;

export const keycloakFlowHistoryQuery = defineQuery<KeycloakFlowHistory>('history');
export const keycloakFlowStatusQuery = defineQuery<KeycloakFlowStatus>('status');

export function keycloakFlowUpdate(name: Kind) {
  return defineUpdate<ActionAnswer, [KeycloakFlowPayload]>(name);
}

export function keycloakFlowSignal(name: Kind) {
  return defineSignal<[KeycloakFlowPayload]>(name);
}
