import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Packed } from '../../domain/core/packed.ts';
import { actionNames, type NodeRebootAction } from '../../domain/node-reboot/actions.ts';
import type { NodeRebootHistory } from '../../domain/node-reboot/history.ts';
import type { CampaignPlan } from '../../domain/node-reboot/plan.ts';
import type { NodeRebootSpec } from '../../domain/node-reboot/spec.ts';
import type { CampaignState } from '../../domain/node-reboot/state.ts';
import type { NodeRebootStatus } from '../../domain/node-reboot/status.ts';
import type { ActionAnswer } from '../hear-action.ts';

/** Everything that a NodeReboot's workflow, the CLI and the worker say to each other. Names on the wire stay as they are. */

/** Of its own, so that the worker that reboots nodes can have an account of its own. */
export const NODE_REBOOT_QUEUE = 'holdfast-node-reboot';
/** Watches have slots of their own, so that waiting never holds up a write. */
export const NODE_REBOOT_WAIT_QUEUE = 'holdfast-node-reboot-wait';

export const NODE_REBOOT_WORKFLOW = 'nodeRebootWorkflow';
export const NODE_REBOOT_PLAN_WORKFLOW = 'planNodeReboot';

/** Workflow id of a NodeReboot. */
export function nodeRebootId(name: string): string {
  return `nodereboot/${name}`;
}

export interface NodeRebootInput {
  readonly name: string;
  readonly spec: NodeRebootSpec;
  /** Carried through continue-as-new; absent on the first run and after a terminate. */
  readonly carried?: Packed<CampaignState>;
}

export interface CampaignPlanInput {
  readonly name: string;
  readonly spec: NodeRebootSpec;
}

export interface CampaignPlanOutput {
  readonly plan: Packed<CampaignPlan>;
}

type Kind = NodeRebootAction['action'];
/** What a person sends for an action: the action without its name, which is the name of the message. */
export type NodeRebootPayload = Omit<NodeRebootAction, 'action'> & Record<string, unknown>;

/** The actions people may take; each is an Update and, for the Temporal UI and CLI, a Signal of the same name. */
export const NODE_REBOOT_ACTIONS: readonly Kind[] = actionNames;

export const nodeRebootHistoryQuery = defineQuery<NodeRebootHistory>('history');
export const nodeRebootStatusQuery = defineQuery<NodeRebootStatus>('status');

export function nodeRebootUpdate(name: Kind) {
  return defineUpdate<ActionAnswer, [NodeRebootPayload]>(name);
}

export function nodeRebootSignal(name: Kind) {
  return defineSignal<[NodeRebootPayload]>(name);
}
