import { unpack } from '../../domain/core/packed.ts';
import type { CampaignPlan } from '../../domain/node-reboot/plan.ts';
import type { NodeRebootSpec } from '../../domain/node-reboot/spec.ts';
import {
  NODE_REBOOT_PLAN_WORKFLOW,
  NODE_REBOOT_QUEUE,
  nodeRebootId,
  type CampaignPlanInput,
  type CampaignPlanOutput,
} from '../../workflows/node-reboot/messages.ts';
import { askOnce, type OneLook, type PlanPatience } from '../temporal/ask-once.ts';
import type { Temporal } from '../temporal/connect.ts';

/**
 * What Enforce would do now for a spec, through the worker; nothing is written.
 *
 * @param say hears that no worker works, where that is so
 * @throws CliError, undetermined, where no worker took it up, or came to an end with it, in time
 */
export async function askCampaignPlan(
  temporal: Temporal,
  name: string,
  spec: NodeRebootSpec,
  say: (line: string) => void,
  patience: PlanPatience,
): Promise<CampaignPlan> {
  const input: CampaignPlanInput = { name, spec };
  const look: OneLook = {
    type: NODE_REBOOT_PLAN_WORKFLOW,
    object: nodeRebootId(name),
    taskQueue: NODE_REBOOT_QUEUE,
    input,
    summary: `Plan of NodeReboot ${name}`,
  };
  const { plan } = await askOnce<CampaignPlanOutput>(temporal, look, say, patience);
  return unpack(plan);
}
